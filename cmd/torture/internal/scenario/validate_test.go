package scenario

import "testing"

func TestEveryTrialIsValid(t *testing.T) {
	for id, trial := range Trials {
		for _, lock := range []string{id, Locks[id].CorrectedBy} {
			c, err := trial.Config(lock, 1)
			if err != nil {
				t.Errorf("%s: %v", lock, err)
				continue
			}
			if err := c.Reconcile(); err != nil {
				t.Errorf("trial of %s with %s: %v", id, lock, err)
			}
			if err := Validate(c); err != nil {
				t.Errorf("trial of %s with %s: %v", id, lock, err)
			}
		}
	}
}
