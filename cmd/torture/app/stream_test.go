package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/checker"
)

// A stalled reader gives what it has, and then nothing until it is released.
type stalled struct {
	io.Reader
	release chan struct{}
}

func (s *stalled) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		<-s.release
	}
	return n, err
}

// TestStalledInput shows that --check-timeout holds on a standard input that
// neither gives more nor ends.
func TestStalledInput(t *testing.T) {
	text, err := os.ReadFile("../../../checker/testdata/example.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for name, given := range map[string][]byte{"nothing": nil, "a few events": bytes.Join(lines[:6], nil)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := &stalled{bytes.NewReader(given), make(chan struct{})}
				defer close(in.release)
				s := &stored{path: streamed, where: "standard input", stream: in}
				began := time.Now()
				report, err := s.judge(t.Context(), &checkCommand{timeout: time.Minute})
				if took := time.Since(began); took != time.Minute {
					t.Errorf("judged for %v", took)
				}
				if given == nil {
					if err == nil || !strings.Contains(err.Error(), "no header came within 1m0s") {
						t.Errorf("error %v", err)
					}
					return
				}
				if err != nil || report.Verdict != checker.Inconclusive || report.Checked.Events != 5 {
					t.Fatalf("%s after %d events, %v", report.Verdict, report.Checked.Events, err)
				}
				if !slices.ContainsFunc(report.Inconclusive, func(f checker.Finding) bool {
					return f.ID == "V5" && strings.Contains(f.Text, "ran out of time after 5 events")
				}) {
					t.Errorf("inconclusive %+v", report.Inconclusive)
				}
			})
		})
	}
}

// TestStalledInputToExplain copies what came in time.
func TestStalledInputToExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &stalled{strings.NewReader("what came"), make(chan struct{})}
		defer close(in.release)
		s := &stored{path: streamed, stream: in}
		remove, err := s.spool(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer remove()
		if got, err := os.ReadFile(s.path); err != nil || string(got) != "what came" {
			t.Errorf("kept %q, %v", got, err)
		}
	})
}

// TestStalledInputInterrupted ends the wait when the process is told to stop.
func TestStalledInputInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		in := &stalled{strings.NewReader(""), make(chan struct{})}
		defer close(in.release)
		s := &stored{path: streamed, where: "standard input", stream: in}
		if _, err := s.judge(ctx, &checkCommand{}); !errors.Is(err, exitCode(exitInterrupted)) {
			t.Errorf("error %v, want an interruption", err)
		}
	})
}
