package history

import "testing"

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"connection refused":                 "connection refused",
		"yaml:\n  line 3: no\tnumber\n":      "yaml: line 3: no number",
		"dial\r\n\r\nclose":                  "dial close",
		"panic: no\n\ngoroutine 7 [running]": "panic: no",
		"a goroutine of ours hangs":          "a goroutine of ours hangs",
	} {
		if got := OneLine(text); got != want {
			t.Errorf("OneLine(%q) is %q, want %q", text, got, want)
		}
	}
}
