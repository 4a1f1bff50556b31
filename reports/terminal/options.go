package terminal

import (
	"strings"
	"unicode/utf8"
)

// Options say what the output can show.
type Options struct {
	Live  bool // lines can be redrawn
	Color bool
	Quiet bool // nothing but the verdict
	Width int  // columns; 0 when unknown
	Exit  int  // code with which the process ends; 0: the verdict's
}

// Detect decides by the environment. NO_COLOR turns colour off, TERM=dumb all
// control sequences, and under CI nothing is redrawn, since that is a log.
func Detect(tty, quiet bool, width int, env func(string) string) Options {
	able := tty && env("TERM") != "dumb"
	return Options{
		Live: able && env("CI") == "" && !quiet, Color: able && env("NO_COLOR") == "",
		Quiet: quiet, Width: width,
	}
}

const (
	redBold   = "\x1b[1;31m"
	greenBold = "\x1b[1;32m"
	amberBold = "\x1b[1;33m"
	plain     = "\x1b[0m"
)

func (o Options) paint(color, s string) string {
	if !o.Color {
		return s
	}
	return color + s + plain
}

// fit cuts s to the width of the terminal.
func (o Options) fit(s string) string {
	if o.Width <= 0 || utf8.RuneCountInString(s) <= o.Width {
		return s
	}
	return string([]rune(s)[:max(o.Width-1, 0)]) + "…"
}

// wrap breaks s into lines of at most width columns, between words.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
