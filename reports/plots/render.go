package plots

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const dpi = 144

// A Figure is a drawing with its name (the file's, without extension), a title
// and a description for those who cannot see it.
type Figure struct {
	Name  string
	Title string
	Alt   string

	width, height vg.Length
	rows          []row
}

// A row is one of the panels of a figure, stacked; from and to are its share
// of the height, from the bottom.
type row struct {
	plot     *plot.Plot
	from, to float64
}

// PNG draws the figure as a PNG image.
func (f *Figure) PNG() ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	var out bytes.Buffer
	err := f.guard(func() error {
		f.draw(draw.New(c))
		return (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&out, shrink(c.Image()))
	})
	return out.Bytes(), err
}

// SVG draws the figure as an SVG document.
func (f *Figure) SVG() ([]byte, error) {
	c := vgsvg.New(f.width, f.height)
	var out bytes.Buffer
	err := f.guard(func() error {
		f.draw(draw.New(c))
		_, err := c.WriteTo(&out)
		return err
	})
	return f.dress(out.Bytes()), err
}

// guard turns a panic of the plotting library into an error: a figure that
// cannot be drawn must not cost the run its report.
func (f *Figure) guard(draw func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("draw %s: %v", f.Name, p)
		}
	}()
	if err := draw(); err != nil {
		return fmt.Errorf("draw %s: %w", f.Name, err)
	}
	return nil
}

var (
	letters    = regexp.MustCompile(`(?s)<text ([^>]*)style="([^"]*)">([^<]*)</text>`)
	fontSize   = regexp.MustCompile(`font-size:([0-9.]+)px`)
	fontFamily = regexp.MustCompile(`font-family:[^;"]*`)
	opening    = regexp.MustCompile(`(?s)^.*?<svg width="[^"]*" height="[^"]*"`)
)

// dress makes the SVG independent of the fonts that the reader has, lets it
// shrink with the page, and tells its content to those who cannot see it.
func (f *Figure) dress(svg []byte) []byte {
	s := opening.ReplaceAllString(string(svg), `<svg role="img" width="100%"`)
	s = letters.ReplaceAllStringFunc(s, fitted)
	s = fontFamily.ReplaceAllString(s, "font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif")
	if end := strings.Index(s, ">"); end > 0 {
		s = s[:end+1] + "\n<title>" + escape(f.Title) + "</title><desc>" + escape(f.Alt) + "</desc>" + s[end+1:]
	}
	return []byte(s)
}

// fitted gives a text the width for which it was laid out: whatever font the reader has
// for it, it runs over nothing that stands beside it.
func fitted(text string) string {
	part := letters.FindStringSubmatch(text)
	size := fontSize.FindStringSubmatch(part[2])
	if size == nil {
		return text
	}
	points, err := strconv.ParseFloat(size[1], 64)
	if err != nil {
		return text
	}
	style := words(points, ink)
	if strings.Contains(part[2], "font-weight:bold") {
		style = bold(style)
	}
	said := html.UnescapeString(part[3])
	width := style.Width(said).Points()
	if strings.TrimSpace(said) == "" || width <= 0 {
		return text
	}
	return fmt.Sprintf(`<text %stextLength="%.4g" lengthAdjust="spacingAndGlyphs" style="%s">%s</text>`, part[1], width, part[2], part[3])
}

func escape(s string) string {
	var b bytes.Buffer
	if xml.EscapeText(&b, []byte(s)) != nil {
		return ""
	}
	return b.String()
}

// draw stacks the panels with their data areas flush left and right.
func (f *Figure) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, vg.Points(6), -vg.Points(14), vg.Points(4), -vg.Points(4))
	areas := make([]draw.Canvas, len(f.rows))
	var left, right vg.Length
	h := c.Max.Y - c.Min.Y
	for i, r := range f.rows {
		areas[i] = draw.Crop(c, 0, 0, vg.Length(r.from)*h, -vg.Length(1-r.to)*h)
		d := r.plot.DataCanvas(areas[i])
		left = max(left, d.Min.X-areas[i].Min.X)
		right = max(right, areas[i].Max.X-d.Max.X)
	}
	for i, r := range f.rows {
		d := r.plot.DataCanvas(areas[i])
		r.plot.Draw(draw.Crop(areas[i], left-(d.Min.X-areas[i].Min.X), -(right - (areas[i].Max.X - d.Max.X)), 0, 0))
	}
}
