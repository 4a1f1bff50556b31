package unit

import (
	"bytes"
	"regexp"
)

// asIs is what of a page is not prose: what is copied, drawn or run. Everything else is
// cut into tags and the text between them.
var asIs = regexp.MustCompile(`(?is)<(?:script\b.*?</script|style\b.*?</style|pre\b.*?</pre|code\b.*?</code|title\b.*?</title|textarea\b.*?</textarea|svg\b.*?</svg)\s*>|<!--.*?-->|<[^>]*>`)

// broken are the spaces at which a figure would be torn apart: between groups of
// thousands, before its unit, and after the sign that belongs to it.
var broken = regexp.MustCompile(`([0-9]) ([0-9]{3}(?:[^0-9]|$))|([0-9]) (%|(?:ns|µs|ms|s|min|h|B|kB|MB|GB|kHz|M)(?:[^\pL\pN]|$))|(≈|×|≥|≤|\bn\x{a0}=|[0-9]\x{a0}(?:min|h)) ([0-9])|(\bn) (=)`)

// Unbroken keeps the figures of a page together: where a space is part of one, no line
// ends.
func Unbroken(page []byte) []byte {
	var out bytes.Buffer
	last := 0
	for _, at := range asIs.FindAllIndex(page, -1) {
		out.Write(Together(page[last:at[0]]))
		out.Write(page[at[0]:at[1]])
		last = at[1]
	}
	out.Write(Together(page[last:]))
	return out.Bytes()
}

// Together keeps the figures of a plain text together, with a space that breaks no line in
// place of each that is part of one. It looks until nothing more is to be joined: what ends
// one figure may begin the next.
func Together(text []byte) []byte {
	for {
		joined := broken.ReplaceAll(text, []byte("$1$3$5$7\u00a0$2$4$6$8"))
		if bytes.Equal(joined, text) {
			return text
		}
		text = joined
	}
}
