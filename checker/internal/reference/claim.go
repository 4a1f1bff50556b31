package reference

import (
	"slices"

	"locktorture/workload/history"
)

// An Answer says whether a history shows an anomaly.
type Answer uint8

// The answers, from harmless to proved.
const (
	No        Answer = iota // it must not be reported
	Open                    // the definitions leave room: both are right
	Violation               // it must be reported
)

// A Claim is one place at which an anomaly is proved, or may be seen.
type Claim struct {
	ID     string
	Keys   []string // it must be reported under one of them
	Answer Answer
	Proof  [][]int // event indices; a witness has one of each
}

// Judges lists the anomalies that Judge decides.
func Judges() []string {
	return []string{"S1", "S2", "S3", "S3z", "S4", "S4b", "S5", "S6", "S7", "S8", "S10", "L9", "R1", "R2", "R3", "R4", "R5"}
}

// Judge returns every place at which a history shows an anomaly of Judges. Where hosts
// have clock bounds of their own, what is proved must be so by the widest of them too:
// which stamps decide what became of a lease, nobody need tell apart. Where the store's own
// log says something else than clients were told, which of the two it was is open.
func Judge(h history.History) []Claim {
	claims := judgeBy(h)
	if told, differs := undisputed(h); differs {
		claims = append(claims, perhaps(judgeBy(told))...)
	}
	if len(h.Header.Hosts) == 0 {
		return claims
	}
	careful := h
	careful.Header.Epsilon, careful.Header.Hosts = read(h).history.Header.Epsilon, nil
	sure := judgeBy(careful)
	for i, c := range claims {
		if c.Answer == Violation && !slices.ContainsFunc(sure, func(s Claim) bool {
			return s.Answer == Violation && s.ID == c.ID && slices.Equal(s.Keys, c.Keys)
		}) {
			claims[i].Answer = Open
		}
	}
	return append(claims, perhaps(sure)...)
}

// perhaps are claims that are proved by one reading, and need not be by another.
func perhaps(claims []Claim) []Claim {
	for i := range claims {
		claims[i].Answer = min(claims[i].Answer, Open)
	}
	return claims
}

func judgeBy(h history.History) []Claim {
	j := read(h)
	j.sweep()
	j.exclusion()
	j.extensions()
	j.releases()
	j.tokens()
	j.effects()
	j.sections()
	j.store()
	j.effectless()
	j.leaveOpen()
	return j.claims
}

// stamped are the anomalies that a harness which stood still may have made by its stamps.
var stamped = []string{"S1", "S3z", "S6", "S7", "S8", "S10"}

// leaveOpen leaves open what standstills of the harness may have done, and what looks at
// nodes may show besides.
func (j *judge) leaveOpen() {
	stood, looked := false, map[string]bool{}
	for i := range j.history.Events {
		e := &j.history.Events[i]
		stood = stood || e.Op == history.Stall
		if e.Op == history.Key {
			looked[e.Key] = true
		}
	}
	for i := range j.claims {
		c := &j.claims[i]
		if stood && slices.Contains(stamped, c.ID) || c.ID == "L9" && (stood || looked[c.Keys[0]]) {
			c.Answer = min(c.Answer, Open)
		}
	}
	for key := range looked {
		for _, id := range []string{"S5", "S10", "L9"} {
			j.claim(id, Open, key)
		}
	}
}

// Proves reports whether a witness holds what the claim rests on.
func (c Claim) Proves(witness []int) bool {
	for _, one := range c.Proof {
		if !slices.ContainsFunc(one, func(i int) bool { return slices.Contains(witness, i) }) {
			return false
		}
	}
	return true
}

func (j *judge) claim(id string, a Answer, key string, proof ...[]int) {
	if a != No {
		j.claims = append(j.claims, Claim{ID: id, Keys: []string{key}, Answer: a, Proof: proof})
	}
}

// answer is Violation when it is proved, and Open when it is merely possible.
func answer(proved, possible bool) Answer {
	switch {
	case proved:
		return Violation
	case possible:
		return Open
	}
	return No
}
