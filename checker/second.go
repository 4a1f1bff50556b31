package checker

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/workload/history"
)

// A SecondOpinion says what Porcupine, a general linearizability checker, made
// of windows of the history: around anomalies and at random. It models
// ownership as the rules S1 and S6 see it. What it cannot decide within its
// budget lowers its coverage and nothing else.
type SecondOpinion struct {
	Windows   int `json:"windows"`   // asked about
	Anomalies int `json:"anomalies"` // of those, around a violation
	Agreed    int `json:"agreed"`
	Undecided int `json:"undecided"` // budget spent
}

const (
	windowGrants  = 16   // of one key, that a window holds unless asked for otherwise
	windowAfter   = 4    // of them after the anomaly
	windowExtends = 1024 // of one grant, that a window shows
	randomWindows = 64
	anomalyLimit  = 64
	keptHits      = 1024 // that there may be before any is forgotten
)

// second keeps the windows until judging ends.
type second struct {
	j       *Judge
	rng     *rand.Rand // draws random windows; its seed is the history's
	size    int        // grants in a window
	keys    map[*key]*recent
	random  []window // a uniform sample of all windows
	offered int
	around  []window
	hits    map[seen]*hit // violations, of one kind and pair the latest
	shown   int           // how many of them a window showed when they were looked at
}

// seen is what a violation is to the second opinion, which sees pairs.
type seen struct {
	id   string
	pair [2]*grant
}

// recent is one key's latest grants.
type recent struct {
	grants []*windowGrant
	since  int // grants since a window was offered
	due    int // grants until a window around an anomaly closes; 0 is none
	hit    bool
}

// A windowGrant is a grant and the extensions of it that succeeded.
type windowGrant struct {
	*grant
	extends [][2]time.Duration
}

// A window is a few grants of one key. Any subset of a history's grants must
// be linearizable if the whole is.
type window []*windowGrant

func newSecond(j *Judge) *second {
	size := windowGrants
	if j.o.Window > 0 {
		size = min(j.o.Window, MaxWindow)
	}
	return &second{j: j, size: size, rng: rand.New(rand.NewPCG(j.h.Seed, 2)), keys: make(map[*key]*recent), hits: make(map[seen]*hit)}
}

func (*second) ids() []string { return []string{"the second opinion"} }
func (*second) wants() []what { return []what{granted, extended, answered, left} }

func (s *second) see(f *fact) {
	r := s.keys[f.key]
	if r == nil {
		r = new(recent)
		s.keys[f.key] = r
	}
	switch f.what {
	case extended:
		r.extended(f)
		return
	case left: // it shows that its owner held
		if checkedRelease(s.j.h) {
			r.extended(f)
		}
		return
	case answered:
		if f.op.outcome == history.OK && (f.op.invIdx != f.grant.relIdx || f.grant != f.grant.holder.grant) {
			f.grant.unshown = true
		}
		return
	}
	if len(r.grants) == s.size {
		s.j.untie(tieRecent, r.grants[0].grant)
		r.grants = slices.Delete(r.grants, 0, 1)
	}
	s.j.tie(tieRecent, f.grant)
	r.grants = append(r.grants, &windowGrant{grant: f.grant})
	s.close(r)
}

// extended adds an extension, or an inner release, to its grant. The model has no words for one after
// the grant's release.
func (r *recent) extended(f *fact) {
	i := slices.IndexFunc(r.grants, func(g *windowGrant) bool { return g.grant == f.grant })
	if i < 0 || f.op.inv >= f.grant.rel || len(r.grants[i].extends) == windowExtends {
		f.grant.unshown = true
		return
	}
	r.grants[i].extends = append(r.grants[i].extends, [2]time.Duration{f.op.inv, f.op.ok})
}

// close takes windows that are full.
func (s *second) close(r *recent) {
	r.since++
	if r.hit {
		if r.due--; r.due <= 0 {
			r.hit = false
			s.around = append(s.around, s.window(r))
		}
	}
	if r.since < s.size {
		return
	}
	r.since = 0
	s.offered++
	if len(s.random) < randomWindows {
		s.random = append(s.random, s.window(r))
	} else if i := s.rng.IntN(s.offered); i < randomWindows {
		s.random[i] = s.window(r)
	}
}

// window keeps the grants that are now among r's.
func (s *second) window(r *recent) window {
	for _, g := range r.grants {
		s.j.tie(tieWindow, g.grant)
	}
	return slices.Clone(r.grants)
}

// hit notes a violation that Porcupine must see as well.
func (s *second) hit(h *hit) {
	if h.pair[0] == nil {
		return
	}
	if s.hits[seen{h.id, h.pair}] = h; len(s.hits) >= 2*s.shown+keptHits {
		s.forget()
	}
	if r := s.keys[h.key]; r != nil && !r.hit && len(s.around) < anomalyLimit {
		r.hit, r.due = true, min(windowAfter, s.size-1)
	}
}

// forget forgets the violations that no window shows, nor ever can.
func (s *second) forget() {
	shown := make(map[*grant]bool)
	add := func(w window) {
		for _, g := range w {
			shown[g.grant] = true
		}
	}
	for _, w := range slices.Concat(s.around, s.random) {
		add(w)
	}
	for _, r := range s.keys {
		add(r.grants)
	}
	maps.DeleteFunc(s.hits, func(v seen, _ *hit) bool { return !shown[v.pair[0]] || !shown[v.pair[1]] })
	s.shown = len(s.hits)
}

func (s *second) finish() {
	for _, k := range s.j.sortedKeys() {
		switch r := s.keys[k]; {
		case r == nil:
		case r.hit:
			s.around = append(s.around, s.window(r))
		case len(s.random) < randomWindows && r.since > 0:
			s.random = append(s.random, s.window(r))
		}
	}
}

// ask puts the windows to Porcupine, those around anomalies first, until ctx
// ends.
func (s *second) ask(ctx context.Context, r *Report) {
	o := &SecondOpinion{Anomalies: len(s.around)}
	r.SecondOpinion = o
	for i, w := range slices.Concat(s.around, s.random) {
		o.Windows++
		if slices.ContainsFunc(w, func(g *windowGrant) bool { return g.unshown }) {
			o.Undecided++
			continue
		}
		w = w.held(s.j.clock.narrowest)
		want := s.violated(w)
		agreed, decided := s.agrees(ctx, w, want)
		switch {
		case !decided:
			o.Undecided++
		case agreed:
			o.Agreed++
			if i < len(s.around) && len(r.Views) < s.j.o.Views {
				s.view(w, r)
			}
		default:
			r.Harness = append(r.Harness, s.disagreement(w, want))
		}
	}
}

// agrees says whether Porcupine sees in w what the sweep did. It knows one clock
// uncertainty for all: where pairs of hosts differ, what an order refutes under the
// narrowest is no violation, and what none explains under the widest is one.
func (s *second) agrees(ctx context.Context, w window, violated bool) (agrees, decided bool) {
	eps := s.j.clock.narrowest
	if !violated {
		eps = s.j.clock.widest
		w = w.held(eps)
	}
	orders, decided := s.j.linearizable(ctx, w, eps)
	return orders == !violated, decided
}

// held leaves out the grants whose definite hold is within the clock
// uncertainty: the model cannot say that they never held.
func (w window) held(eps time.Duration) window {
	var out window
	for _, g := range w {
		if g.end()-g.ok > eps {
			out = append(out, g)
		}
	}
	return out
}

// violated says whether the sweep found a violation within w.
func (s *second) violated(w window) bool {
	in := func(g *grant) bool {
		return slices.ContainsFunc(w, func(x *windowGrant) bool { return x.grant == g })
	}
	for v, h := range s.hits {
		if in(v.pair[0]) && in(v.pair[1]) && s.j.proved(h) {
			return true
		}
	}
	return false
}

func (s *second) disagreement(w window, violated bool) Finding {
	sweep, other := "finds no two holds that overlap and no extension across another's hold", "finds no order in which one owner at a time holds the key"
	if violated {
		sweep, other = "finds an overlap or an extension across another's hold", "finds an order in which one owner at a time holds the key"
	}
	f := Finding{ID: "H1", Name: anomaly.Name("H1"), Key: w[0].holder.key.name}
	for _, g := range w {
		f.Witness = append(f.Witness, g.okIdx)
	}
	slices.Sort(f.Witness)
	f.Text = fmt.Sprintf("On the grants of %s at events %v the judges disagree: the sweep %s, and Porcupine %s. One of the two is wrong, so neither is to be trusted here.", f.Key, f.Witness, sweep, other)
	return f
}

// checked says whether a successful release proves that its owner still held.
func checkedRelease(h history.Header) bool {
	return h.OwnerCheckedRelease == nil || *h.OwnerCheckedRelease
}
