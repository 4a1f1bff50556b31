// Package files writes the forms of a report.
package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"locktorture/reports/unit"
)

// Write writes one file a form into dir, which it makes. A form that fails
// leaves no file behind.
func Write(dir string, forms map[string]func(io.Writer) error) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for name, write := range forms {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// Page lays out v as HTML, of which no line ends within a figure.
func Page(w io.Writer, t *template.Template, v any) error {
	var out bytes.Buffer
	if err := t.Execute(&out, v); err != nil {
		return err
	}
	_, err := w.Write(unit.Unbroken(out.Bytes()))
	return err
}

// JSON writes v, indented.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
