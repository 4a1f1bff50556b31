package main

import (
	"errors"
	"os"
	"testing"
	"time"
)

// endless is code that a mutant keeps from ending, in either way.
const endless = `package tiny

func Count(n int) (steps int) {
	for n > 0 {
		n--
		steps++
	}
	return steps
}

func Answer(answer bool) int {
	c := make(chan int, 1)
	if answer {
		c <- 1
	}
	return <-c
}
`

// What is named by its file here happens to every run of its test, mutant or not,
// as on a machine that somebody else keeps busy.
const disturbed = `package tiny

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestCount(t *testing.T) { Count(3) }

func TestAnswer(t *testing.T) {
	defer time.AfterFunc(time.Hour, func() {}).Stop() // no deadlock, as the runtime sees it
	if _, err := os.Stat("busy"); err == nil {
		time.Sleep(time.Hour)
	}
	if _, err := os.Stat("ended"); err == nil {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	Answer(true)
}
`

// TestNoEnd tells a mutant that never ends from a machine that keeps it from it: time
// on the clock alone kills nothing.
func TestNoEnd(t *testing.T) {
	module(t, endless, disturbed)
	w, table := built(t)
	const long, brief = 10 * time.Minute, 2 * time.Second
	spins, waits := byName(t, table, "rules.go Count: n-- => (nothing)"), byName(t, table, "rules.go Answer: answer => !answer")
	ends := func(m *mutant, test string, l limits) ending {
		t.Helper()
		end, cost, err := w.start(t.Context(), call{binary: w.all, alive: m.id, tests: []string{test}}, l)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: ending %d, %v", test, end, cost)
		return end
	}
	if got := ends(spins, "TestCount", limits{time.Second, long}); got != spun {
		t.Errorf("without an end: ending %d, want %d", got, spun)
	}
	if got := ends(waits, "TestAnswer", limits{long, brief}); got != hung {
		t.Errorf("waiting for ever: ending %d, want %d", got, hung)
	}
	again := call{tests: []string{"TestAnswer"}}
	if got := w.hangs(t.Context(), again, limits{long, long}); got != killed {
		t.Errorf("while its tests end without it: outcome %d, want killed", got)
	}
	if err := os.WriteFile("busy", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.hangs(t.Context(), again, limits{long, 10 * brief}); got != undecided {
		t.Errorf("while its tests do not end without it either: outcome %d, want undecided", got)
	}
	if err := errors.Join(os.WriteFile("ended", nil, 0o600), os.Remove("busy")); err != nil {
		t.Fatal(err)
	}
	if got, err := w.try(t.Context(), waits); got != undecided || err != nil {
		t.Errorf("ended from outside: outcome %d, %v, want undecided", got, err)
	}
}
