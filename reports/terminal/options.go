package terminal

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"locktorture/reports/unit"
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

// lay writes one line of text as lines that fit the terminal, broken between words and
// never within one; head, which stays as it is, begins the first of them. The others are
// indented to where the text begins. A word that is wider than the terminal, such as a
// path, keeps a line of its own. In a log, whose width nobody knows, the line stays whole.
func (o Options) lay(out io.Writer, head, text string) {
	width := o.Width
	if width <= 0 {
		fmt.Fprintln(out, strings.TrimRight(head+text, " "))
		return
	}
	indent := columns(head)
	if indent > width/2 {
		indent = min(4, width/2)
	}
	first := max(width-columns(head), 1)
	for i, part := range broken(text, first, max(width-indent, 1)) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		fmt.Fprintln(out, strings.TrimRight(head+part, " "))
	}
}

// Fold breaks the lines of a text that are wider than a terminal between words, and within
// no figure. What is
// broken off stands below where the text of its line begins: behind the label, where there
// is one with two blanks after it. A terminal of unknown width, such as a log, gets the text as it is.
func Fold(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.TrimSuffix(line, "\n"), ""
		if len(line) < len(text) || strings.HasSuffix(text, "\n") {
			end = "\n"
		}
		if columns(line) <= width {
			out.WriteString(line + end)
			continue
		}
		head := label.FindString(line)
		Options{Width: width}.lay(&out, head, string(unit.Together([]byte(line[len(head):]))))
	}
	return strings.ReplaceAll(out.String(), "\u00a0", " ")
}

// label is what a line has before its text: blanks, and a word or some with two blanks after.
var label = regexp.MustCompile(`^ *(?:\S+(?: \S+)*  +)?`)

// broken breaks text into a line of at most first columns and others of at most rest,
// at blanks, of which those within a line stay as they are.
func broken(text string, first, rest int) (lines []string) {
	for width := first; ; width = rest {
		runes := []rune(text)
		if len(runes) <= width {
			return append(lines, text)
		}
		at := -1
		for i, r := range runes {
			if r == ' ' && i > 0 && runes[i-1] != ' ' && (i <= width || at < 0) {
				at = i
			}
			if i > width && at >= 0 {
				break
			}
		}
		if at < 0 {
			return append(lines, text)
		}
		lines = append(lines, string(runes[:at]))
		if text = strings.TrimLeft(string(runes[at:]), " "); text == "" {
			return lines
		}
	}
}

// columns is how wide s is on a terminal, without its colours.
func columns(s string) (n int) {
	colour := false
	for _, r := range s {
		switch {
		case r == '\x1b':
			colour = true
		case colour:
			colour = r != 'm'
		default:
			n++
		}
	}
	return n
}

// wrap breaks s into lines of at most width columns, between words.
func wrap(s string, width int) []string {
	return broken(strings.Join(strings.Fields(s), " "), width, width)
}
