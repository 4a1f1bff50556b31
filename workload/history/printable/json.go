package printable

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a JSON document, fit to be shown as it is: what cannot be printed
// is escaped in it, and what GitHub would take for a command. It means what it
// meant, since both stand within its texts only; line breaks and tabs between
// them stay.
func JSON(document []byte) []byte {
	var b bytes.Buffer
	for i := 0; i < len(document); {
		r, size := utf8.DecodeRune(document[i:])
		switch {
		case bytes.HasPrefix(document[i:], command):
			b.WriteString(`\u0023`)
		case r == '\n' || r == '\t' || r == '\r' || printable(r):
			b.Write(document[i : i+size])
		case r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.Bytes()
}

// command begins a command for the runner of GitHub, wherever it stands in a line.
var command = []byte("##[")
