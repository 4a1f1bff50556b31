package app

import (
	"bytes"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/reports/story"
	"locktorture/workload/history"
)

// TestRawShowsTheProof lists the events around a proof whose parts lie far
// apart: every part is there, with its neighbours, and gaps are marked.
func TestRawShowsTheProof(t *testing.T) {
	s := story.Story{Finding: checker.Finding{Witness: []int{100, 500, 501, 899}}}
	for i := range 1000 {
		s.Events = append(s.Events, history.Event{Index: i, Kind: history.Invoke, Op: history.Read, Key: "k", Owner: "a"})
	}
	var out bytes.Buffer
	raw(&out, s)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	shown, proofs, gaps := 0, 0, 0
	for _, line := range lines[1:] {
		switch {
		case strings.TrimSpace(line) == "…":
			gaps++
		case strings.HasPrefix(line, "   *"):
			proofs++
			fallthrough
		default:
			shown++
		}
	}
	if proofs != 4 || gaps != 2 || shown > rawLines || shown < rawLines/2 {
		t.Errorf("%d events, %d of them proofs, %d gaps:\n%s", shown, proofs, gaps, out.String())
	}
	if !strings.Contains(lines[0], "of 1000)") || !strings.Contains(out.String(), "   *      899") || !strings.Contains(out.String(), "         900") {
		t.Error(out.String())
	}
}

// TestRawOfAProofThatIsNotThere lists the first events, and no more than fit.
func TestRawOfAProofThatIsNotThere(t *testing.T) {
	var s story.Story
	for i := range 2 * rawLines {
		s.Events = append(s.Events, history.Event{Index: i, Kind: history.Invoke, Op: history.Read})
	}
	var out bytes.Buffer
	raw(&out, s)
	if n := strings.Count(out.String(), "\n"); n != rawLines+1 {
		t.Errorf("%d lines", n)
	}
}
