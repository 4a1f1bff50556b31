package rule

import (
	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
)

// An Env is what every rule has access to: the ledger, the panel of rules, and the collector of
// findings.
type Env struct {
	*ledger.Ledger
	*panel
	*collector
}

func NewEnv(h history.Header, limit int) *Env {
	l := ledger.NewLedger(h)
	p := &panel{of: l}
	l.Observer = p
	c := &collector{of: l, Violations: List{limit: limit}, Suspicious: List{limit: suspicions}}
	c.waiting.c = c
	p.Enlist(&c.waiting)
	return &Env{l, p, c}
}
