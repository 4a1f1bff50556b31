package checker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"locktorture/workload/history"
)

// A verdictCase is one text history and what it must be judged to be.
// Findings are written as "S1 [1 3]": the id and its witness.
type verdictCase struct {
	name       string
	header     string // words of the header line
	history    string // without its end event
	want       Verdict
	violations []string
	suspicious []string
	evidence   *Evidence // when the case is about it
}

// judge parses the text of a history, ends it, and judges it.
func judge(t testing.TB, header, text string) Report {
	t.Helper()
	return Check(t.Context(), parse(t, header, text), Options{})
}

func parse(t testing.TB, header, text string) history.History {
	t.Helper()
	if header != "" {
		text = "header " + header + "\n" + text
	}
	h, err := history.Parse(text + "\n nemesis ok phase end")
	if err != nil {
		t.Fatalf("parse history: %v", err)
	}
	if err := history.Validate(h.Events); err != nil {
		t.Fatalf("history breaks the format: %v", err)
	}
	return h
}

func short(fs []Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprint(f.ID, " ", f.Witness))
	}
	return out
}

func runCases(t *testing.T, cases []verdictCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.header, c.history)
			if r.Verdict != c.want {
				t.Errorf("verdict %s, want %s (violations %v, inconclusive %v)", r.Verdict, c.want, short(r.Violations), r.Inconclusive)
			}
			if got := short(r.Violations); !slices.Equal(got, c.violations) {
				t.Errorf("violations %q, want %q", got, c.violations)
			}
			if got := short(r.Suspicious); !slices.Equal(got, c.suspicious) {
				t.Errorf("suspicious %q, want %q", got, c.suspicious)
			}
			if c.evidence != nil && r.Evidence != *c.evidence {
				t.Errorf("evidence %+v, want %+v", r.Evidence, *c.evidence)
			}
			checkTexts(t, r)
		})
	}
}

// checkTexts asks that every finding can be read by itself.
func checkTexts(t *testing.T, r Report) {
	t.Helper()
	for _, f := range slices.Concat(r.Violations, r.Suspicious, r.Inconclusive) {
		if f.Name == "" || len(f.Text) < 40 || strings.Contains(f.Text, "%!") || strings.Contains(f.Text, "\n") {
			t.Errorf("%s %v is not explained: name %q, text %q", f.ID, f.Witness, f.Name, f.Text)
		}
		for _, o := range f.Owners {
			if !strings.Contains(f.Text, o) {
				t.Errorf("%s %v does not name %s: %q", f.ID, f.Witness, o, f.Text)
			}
		}
	}
	for _, f := range r.Violations {
		if f.Blame == "" || len(f.Witness) == 0 || !slices.IsSorted(f.Witness) {
			t.Errorf("%s: blame %q, witness %v", f.ID, f.Blame, f.Witness)
		}
	}
}

// TestExample judges the example of the format's description: the JSON must
// be what that description prints, the free text and the time taken apart.
func TestExample(t *testing.T) {
	f, err := os.Open("testdata/example.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd, err := history.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	j := New(rd.Header(), Options{})
	var e history.Event
	for {
		err := rd.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		j.Event(&e)
	}
	r := j.Finish(context.Background(), rd.Truncated())
	text := r.Violations[0].Text
	for _, word := range []string{"a", "b", "k", "client-pause", "1.002000 s", "Remedy"} {
		if !strings.Contains(text, word) {
			t.Errorf("the text does not say %q: %s", word, text)
		}
	}
	r.Violations[0].Text = "…"
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":1,"verdict":"FAIL","exit":1,` +
		`"violations":[{"id":"S3z","name":"zombie effect","key":"k","owners":["a","b"],"witness":[1,5,11],"blame":"client outlived its lease","breakers":["client-pause"],"text":"…"}],` +
		`"suspicious":[],"expected_missing":[],"inconclusive":[],` +
		`"evidence":{"grants":2,"contended":1,"handovers":1,"faulted_handovers":1,"takeovers":1,"fence_saves":0,"unknown":0,"resolved":0},` +
		`"checked":{"events":13,"seconds":0}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	t.Log(text)
}
