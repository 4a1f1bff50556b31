package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/workload/history"
)

// judgingLimit bounds the second opinion of a run that was not interrupted.
const judgingLimit = 30 * time.Second

// ViewsDir is the folder of a run directory that holds Porcupine's pictures.
const ViewsDir = "second-opinion"

// judging is how every run and every stored history is judged.
var judging = checker.Options{SecondOpinion: true, Counterfactual: true, Views: 4}

// Judging returns how every run and every stored history is judged.
func Judging() checker.Options {
	o := judging
	o.Patience = judgingLimit
	return o
}

// Judge judges a stored history as a run judges its own, or as o says.
func Judge(ctx context.Context, source *history.Reader, o checker.Options) (checker.Report, error) {
	began := time.Now()
	report, err := checker.CheckReader(ctx, source, o)
	report.Checked.Seconds = time.Since(began).Seconds()
	return report, err
}

// WriteViews writes Porcupine's pictures into dir, in place of those of an
// earlier judgement.
func WriteViews(dir string, views []checker.View) error {
	old, err := filepath.Glob(filepath.Join(dir, "window-*.html"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	if len(views) == 0 || err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write second opinion: %w", err)
	}
	for i, v := range views {
		name := fmt.Sprintf("window-%d-%s.html", i+1, fileWord(v.Key))
		if err := os.WriteFile(filepath.Join(dir, name), v.HTML, 0o600); err != nil {
			return fmt.Errorf("write second opinion: %w", err)
		}
	}
	return nil
}

// fileWord makes a key's name fit for a file's.
func fileWord(key string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, key)
	return word[:min(len(word), 60)]
}
