package history

import "strings"

// OneLine returns text as an event's Err and Note hold it: its words on one line,
// without the stack of a panic, which begins at a line "goroutine …".
func OneLine(text string) string {
	text, _, _ = strings.Cut(text, "\ngoroutine ")
	return strings.Join(strings.Fields(text), " ")
}
