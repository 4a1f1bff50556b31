package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"

	"locktorture/checker"
	"locktorture/reports/plots"
	"locktorture/reports/unit"
)

// Nights returns the nights of the trend file in a folder, oldest first; none where
// there is no such file. A line cut short by a crash is passed over.
func Nights(nights string) (all []*Night, err error) {
	raw, err := os.ReadFile(filepath.Join(nights, TrendFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", TrendFile, err)
	}
	for _, line := range splitLines(raw) {
		n := new(Night)
		if json.Unmarshal(line, n) == nil && n.Schema == Schema {
			all = append(all, n)
		}
	}
	return all, nil
}

// A trend is the figure of the nights.
type trend struct {
	SVG     template.HTML
	Caption string
}

// trendOf draws the nights below a folder; nil when there is none.
func trendOf(nights string) (*trend, error) {
	if nights == "" {
		return nil, nil
	}
	all, err := Nights(nights)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	f := trendFigure(all)
	svg, err := f.SVG()
	// The SVG is our own drawing; text in it was escaped when it was drawn.
	return &trend{template.HTML(svg), f.Alt}, err
}

// trendFigure counts the cells of every night by what they add to it.
func trendFigure(all []*Night) *plots.Figure {
	began := all[0].Began
	passed, failed, open := plots.Trace{Name: "as expected"}, plots.Trace{Name: "FAIL"}, plots.Trace{Name: "no verdict"}
	for _, n := range all {
		day := n.Began.Sub(began).Hours() / 24
		var counts [3]float64
		for _, c := range n.Cells {
			switch c.Counts {
			case checker.Pass:
				counts[0]++
			case checker.Fail, checker.SLOBreach:
				counts[1]++
			default:
				counts[2]++
			}
		}
		for i, t := range []*plots.Trace{&passed, &failed, &open} {
			t.X, t.Y = append(t.X, day), append(t.Y, counts[i])
		}
	}
	last := all[len(all)-1]
	return plots.XY{
		Name: "nights", Title: "Nights: cells of the matrix by verdict",
		Alt: fmt.Sprintf("%s since %s; the last, of %s, %s: %s as expected, %.0f failed, %.0f without a verdict.", unit.Counted(len(all), "night"),
			began.UTC().Format("2006-01-02"), last.Began.UTC().Format("2006-01-02"), last.Verdict, unit.Counted(int(passed.Y[len(all)-1]), "cell"), failed.Y[len(all)-1], open.Y[len(all)-1]),
		XLabel: "days since the first night", YLabel: "cells", Traces: []plots.Trace{passed, failed, open},
	}.Figure()
}
