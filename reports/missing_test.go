package reports

import (
	"testing"

	"locktorture/checker"
)

// TestAdvice: more of the same is no advice for a run that came to harm.
func TestAdvice(t *testing.T) {
	missing := checker.Finding{ID: "V1"}
	if (&Run{}).Advice(missing) == "" {
		t.Error("no advice for a run with too little evidence")
	}
	if got := (&Run{Harness: []string{"the child is gone"}}).Advice(missing); got != "" {
		t.Errorf("%q is the advice for a run that came to harm", got)
	}
}
