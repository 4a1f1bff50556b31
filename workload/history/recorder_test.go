package history

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

func TestRecorderKeepsOrder(t *testing.T) {
	var kept Buffer
	rec := NewRecorder(&kept)
	var wg sync.WaitGroup
	for range 4 {
		process := rec.NewProcess()
		wg.Go(func() {
			for range 500 {
				rec.Append(Event{Process: process, Kind: Invoke, Op: Read})
				rec.Append(Event{Process: process, Kind: OK, Op: Read})
			}
		})
	}
	wg.Wait()
	if len(kept.Events) != 4000 {
		t.Fatalf("kept %d events, want 4000", len(kept.Events))
	}
	if err := Validate(kept.Events); err != nil {
		t.Error(err)
	}
	if err := rec.Err(); err != nil {
		t.Error(err)
	}
}

func TestRecorderOutlivesPanickingSink(t *testing.T) {
	var before, after Buffer
	bad := 0
	rec := NewRecorder(&before, SinkFunc(func(e *Event) {
		if bad++; e.Index == 1 {
			panic("out of order")
		}
	}), &after)
	for i := range 3 {
		if got := rec.Append(Event{Kind: OK, Op: Phase}); got != i {
			t.Errorf("Append returned %d, want %d", got, i)
		}
	}
	for name, b := range map[string]*Buffer{"before": &before, "after": &after} {
		if err := Validate(b.Events); err != nil || len(b.Events) != 3 {
			t.Errorf("the sink %s the bad one has %d events, want 3 (%v)", name, len(b.Events), err)
		}
	}
	if bad != 2 {
		t.Errorf("the bad sink was called %d times, want 2", bad)
	}
	if err := rec.Err(); err == nil || !strings.Contains(err.Error(), "event 1: ") || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("Err is %v, want one that names event 1 and the panic", err)
	}
}

// failingWriter accepts n bytes and then fails.
type failingWriter struct {
	n   int
	err error
	got bytes.Buffer
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.got.Len()+len(p) > w.n {
		return 0, w.err
	}
	return w.got.Write(p)
}

func TestWriterRemembersFirstError(t *testing.T) {
	full := errors.New("disk full")
	dst := &failingWriter{n: 1000, err: full}
	w, err := NewWriter(dst, Header{})
	if err != nil {
		t.Fatal(err)
	}
	rec := NewRecorder(w)
	for range 5000 {
		rec.Append(Event{Kind: OK, Op: Phase, Value: PhaseMain})
	}
	if !errors.Is(w.Err(), full) || !errors.Is(rec.Err(), full) {
		t.Fatalf("errors %v and %v, want %v", w.Err(), rec.Err(), full)
	}
	dst.n, dst.err = 1<<30, nil
	if err := w.Flush(); !errors.Is(err, full) {
		t.Errorf("Flush returned %v after the disk had room, want the first error", err)
	}
	h, err := ReadAll(&dst.got)
	if err != nil || !h.Truncated {
		t.Errorf("what was written reads as truncated=%v, %v; want a truncated prefix", h.Truncated, err)
	}
}

func TestWriterRefusesLongLine(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.Event(&Event{Index: 7, Value: strings.Repeat("v", MaxLine)})
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "event 7") {
		t.Errorf("Err is %v, want one that names event 7", err)
	}
}

func TestLongProseIsClipped(t *testing.T) {
	long := strings.Repeat("é", MaxLine)
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.Event(&Event{Kind: OK, Op: Phase, Value: PhaseEnd, Err: long, Note: long})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	h, err := ReadAll(&b)
	if err != nil {
		t.Fatal(err)
	}
	if e := h.Events[0].Err; !strings.HasPrefix(long, strings.TrimSuffix(e, "…")) || len(e) < maxProse {
		t.Errorf("err came back as %d bytes", len(e))
	}
}
