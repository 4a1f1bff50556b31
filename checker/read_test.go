package checker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
)

// written is h as a file holds it.
func written(t testing.TB, h history.History) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := history.NewWriter(&file, h.Header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Events {
		w.Event(&h.Events[i])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func reader(t testing.TB, r io.Reader) *history.Reader {
	t.Helper()
	rd, err := history.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	return rd
}

// TestReadAsHeld shows that a history is judged the same from a file and from
// memory.
func TestReadAsHeld(t *testing.T) {
	h := recorded(20_000, 0.05, 1000)
	o := Options{SecondOpinion: true, Counterfactual: true}
	want, err := json.Marshal(Check(t.Context(), h, o))
	if err != nil {
		t.Fatal(err)
	}
	r, err := CheckReader(t.Context(), reader(t, bytes.NewReader(written(t, h))), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(r); string(got) != string(want) {
		t.Errorf("read    %.300s\nin memory %.300s", got, want)
	}
}

func TestReadBreaksOff(t *testing.T) {
	file := written(t, recorded(2000, 0, 0))
	cut, err := CheckReader(t.Context(), reader(t, bytes.NewReader(file[:len(file)/2])), Options{})
	if err != nil || cut.Verdict != Inconclusive {
		t.Errorf("cut off: %s, %v", cut.Verdict, err)
	}
	garbled := bytes.Replace(file, []byte(`{"index":1000,`), []byte(`{"index":1001,`), 1)
	var format *history.FormatError
	if r, err := CheckReader(t.Context(), reader(t, bytes.NewReader(garbled)), Options{}); !errors.As(err, &format) || format.Line != 1002 {
		t.Errorf("garbled: %s, %v", r.Verdict, err)
	}
}

// TestReadOutOfTime shows that what ran out of time is never a pass.
func TestReadOutOfTime(t *testing.T) {
	file := written(t, recorded(5000, 0, 0))
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	r, err := CheckReader(ctx, reader(t, bytes.NewReader(file)), Options{SecondOpinion: true})
	if err != nil || r.Verdict != Inconclusive || r.Checked.Events >= 10_000 {
		t.Fatalf("%s after %d events, %v", r.Verdict, r.Checked.Events, err)
	}
	if text := r.Inconclusive[len(r.Inconclusive)-1].Text; !strings.Contains(text, "ran out of time") {
		t.Errorf("inconclusive %q", text)
	}
}

// TestReadCancelled ends the judging in the middle of a history.
func TestReadCancelled(t *testing.T) {
	file := written(t, recorded(20_000, 0, 0))
	ctx, cancel := context.WithCancel(t.Context())
	half := &trigger{Reader: bytes.NewReader(file), left: len(file) / 2, do: cancel}
	if r, err := CheckReader(ctx, reader(t, half), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v", r.Verdict, err)
	}
}

// A trigger does something once so many bytes were read.
type trigger struct {
	io.Reader
	left int
	do   func()
}

func (r *trigger) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.left -= n; r.left <= 0 {
		r.do()
	}
	return n, err
}

// TestViews asks for Porcupine's picture of what it agrees about.
func TestViews(t *testing.T) {
	h := parse(t, "ttl 100ms", overlapping)
	r := Check(t.Context(), h, Options{SecondOpinion: true, Views: 4})
	if len(r.Views) != 1 || r.Views[0].Key != "k" || len(r.Views[0].Witness) != 2 {
		t.Fatalf("views %d", len(r.Views))
	}
	page := string(r.Views[0].HTML)
	for _, want := range []string{"<html", "a is granted k", "b is granted k", "held by a"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if r := Check(t.Context(), parse(t, "ttl 100ms", oneGrant), Options{SecondOpinion: true, Views: 4}); len(r.Views) != 0 {
		t.Error("a view without an anomaly")
	}
}
