package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"locktorture/lockimpl"
)

func noLock([]lockimpl.Node) (lockimpl.Locker, error) { return nil, context.Canceled }

// A scenario of a test is played against the lock that the test gives, and against no other
// in its place; what no run can be set to is refused with what would be right.
func TestScenariosThatCannotBe(t *testing.T) {
	for what, c := range map[string]struct {
		scenario Scenario
		want     string
	}{
		"another lock":     {Standard().With("lock", "redlock"), "the lock under test is the one that Test is given"},
		"another scenario": {Standard().With("scenario", "calm"), `say Named("calm")`},
		"a slip":           {Standard().With("client", "4"), "did you mean"},
		"no value":         {Standard().With("ttl", ""), "needs a value"},
	} {
		if _, _, err := c.scenario.resolve(t, noLock); err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
