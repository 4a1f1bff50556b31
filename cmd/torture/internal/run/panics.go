package run

import (
	"errors"
	"os"
	"path/filepath"

	"locktorture/workload"
	"locktorture/workload/history"
)

// PanicFile, in a run directory, holds the stacks of what panicked.
const PanicFile = "panic.txt"

// panicsIn returns the panics that err consists of; none when it is anything
// else as well.
func panicsIn(err error) (all []*workload.PanicError) {
	var one *workload.PanicError
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, e := range joined.Unwrap() {
			some := panicsIn(e)
			if len(some) == 0 {
				return nil
			}
			all = append(all, some...)
		}
		return all
	}
	if errors.As(err, &one) {
		all = append(all, one)
	}
	return all
}

// panicked records panics: one of the lock's is a finding about the lock, one of ours is a
// harness error.
func (s *session) panicked(panics []*workload.PanicError) {
	var stacks []byte
	told := map[string]bool{} // where; one bug may strike many clients at once
	for _, p := range panics {
		stacks = append(append(stacks, p.Error()+"\n"...), append(p.Stack, '\n')...)
		if told[p.At] {
			continue
		}
		told[p.At] = true
		if !p.Lock {
			s.harness = append(s.harness, history.OneLine(p.Error()))
		}
		s.record(incident{err: p, lock: p.Lock})
	}
	if err := os.WriteFile(filepath.Join(s.dir, PanicFile), stacks, 0o644); err != nil {
		s.harness = append(s.harness, err.Error())
	}
}
