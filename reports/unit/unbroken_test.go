package unit

import (
	"strings"
	"testing"
)

// No line of a page ends within a figure; what is copied, drawn or run stays as it is.
func TestFiguresStayTogether(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"<td>1 084/s [999/s, 1 166/s] (n = 5)</td>", "<td>1~084/s [999/s, 1~166/s] (n~=~5)</td>"},
		{"<p>12 345 678 pairs</p>", "<p>12~345~678 pairs</p>"},
		{"<p>11.9 ms, 70 % of 3 h 05 min</p>", "<p>11.9~ms, 70~% of 3~h~05~min</p>"},
		{"<dd>≈ 2.4 s</dd>", "<dd>≈~2.4~s</dd>"},
		{"<dd>0.58 ms</dd>", "<dd>0.58~ms</dd>"},
		{"<p>of 5 masters, 2 senders and 3 bytes</p>", "<p>of 5 masters, 2 senders and 3 bytes</p>"},
		{"<p>each 5 times, in 3 runs with 4</p>", "<p>each 5 times, in 3 runs with 4</p>"},
		{"<p>in 2026 31 runs</p>", "<p>in 2026 31 runs</p>"},
		{`<a title="70 %">x</a><code>torture run --for 5 s</code>`, `<a title="70 %">x</a><code>torture run --for 5 s</code>`},
		{"<style>a { margin: 0 100 5 s }</style><svg><text>5 ms</text></svg>", "<style>a { margin: 0 100 5 s }</style><svg><text>5 ms</text></svg>"},
		{"<b>5</b> ms", "<b>5</b> ms"},
		{"<script>if (1 <2) { x = '5 ms'; }</script> 5 ms", "<script>if (1 <2) { x = '5 ms'; }</script> 5~ms"},
	} {
		if got := strings.ReplaceAll(string(Unbroken([]byte(c.page))), "\u00a0", "~"); got != c.want {
			t.Errorf("%s\nbecomes %s\nwant    %s", c.page, got, c.want)
		}
	}
}
