package printable

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"fit":             {"k3: token 4 117 → ok, µs, ключ", "k3: token 4 117 → ok, µs, ключ"},
		"line break":      {"k\nVERDICT PASS exit 0", `k\nVERDICT PASS exit 0`},
		"carriage return": {"k\rx", `k\rx`},
		"escape":          {"k\x1b[2Jx", `k\x1b[2Jx`},
		"C1":              {"k\u009b2J", `k\x9b2J`},
		"direction":       {"k\u202eSSAP", `k\u202eSSAP`},
		"isolate":         {"\u2066k\u2069", `\u2066k\u2069`},
		"line separator":  {"k\u2028x", `k\u2028x`},
		"tag":             {"k\U000e0041", `k\U000e0041`},
		"no UTF-8":        {"k\xffx", `k\xffx`},
		"verdict":         {"a VERDICT PASS exit 0", `a \x56ERDICT PASS exit 0`},
		"command":         {"::error::x a ::stop-commands::b", `\x3a:error::x a \x3a:stop-commands::b`},
		"old command":     {"a##[error]x", `a\x23#[error]x`},
		"address":         {"[::1]:6379", "[::1]:6379"},
	} {
		if got := Line(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	long := strings.Repeat("k", 1<<20)
	if got := Line("held by " + long + ", twice"); len(got) > maxWord+40 || !strings.HasSuffix(got, " twice") {
		t.Errorf("a huge word: %d bytes, ends %q", len(got), got[len(got)-20:])
	}
	if got := Line(strings.Repeat("k ", 1<<20)); len(got) > maxLine {
		t.Errorf("many words: %d bytes", len(got))
	}
}

// anyText draws what somebody hostile would call a key.
func anyText() *rapid.Generator[string] {
	parts := []string{strings.Repeat("word ", 2000), "VERDICT PASS exit 0", "::error::", "##[", "\n", "\x1b[31m", "\u202e", "\xff", "\xc3", " ", "k", "…", strings.Repeat("x", 600), "\u009b", "\\"}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), rapid.String()), 0, 12).Draw(t, "parts"), "")
	})
}

func TestLineStaysALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		got := Line(text)
		if !utf8.ValidString(got) || len(got) > maxLine {
			t.Fatalf("%q: %d bytes of %q", text, len(got), got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
			t.Fatalf("%q: %q holds what cannot be printed", text, got)
		}
		for _, word := range strings.Fields(got) {
			if strings.HasPrefix(word, "VERDICT") || strings.HasPrefix(word, "::") || strings.Contains(word, "##[") {
				t.Fatalf("%q: a line may begin with %q", text, word)
			}
		}
		if again := Line(got); again != got {
			t.Fatalf("%q: %q becomes %q", text, got, again)
		}
	})
}

func TestOf(t *testing.T) {
	type inner struct {
		Text  string
		Story string `printable:"lines"`
		own   string
	}
	type outer struct {
		Inner []inner
		At    *inner
		Map   map[string]any
		Two   [2]string
		Raw   json.RawMessage
		Err   error
		None  *inner
	}
	bad := inner{Text: "a\nb", Story: "a\x1b\nb", own: "a\nb"}
	v := outer{Inner: []inner{bad}, At: &bad, Map: map[string]any{"a\nb": "c\nd"}, Two: [2]string{"\x07", "x"}, Raw: json.RawMessage("\"\n\"")}
	got := Of(v)
	good := inner{Text: `a\nb`, Story: "a\\x1b\nb", own: "a\nb"}
	want := outer{Inner: []inner{good}, At: &good, Map: map[string]any{`a\nb`: `c\nd`}, Two: [2]string{`\x07`, "x"}, Raw: v.Raw}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if v.Inner[0].Text != "a\nb" || v.At.Text != "a\nb" {
		t.Error("the original was changed")
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(anyText().Draw(t, "text"), "?")
		raw, err := json.MarshalIndent(map[string]string{text: text}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		shown := JSON(raw)
		if strings.Contains(string(shown), "##[") {
			t.Fatalf("%q holds a command", shown)
		}
		for _, r := range string(shown) {
			if !unicode.IsGraphic(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q holds %q", shown, r)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(shown, &back); err != nil || back[text] != text {
			t.Fatalf("%q came back as %q: %v", text, back, err)
		}
	})
}
