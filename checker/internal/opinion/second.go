package opinion

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
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

// MaxWindow is the most grants that a window of the second opinion holds.
const MaxWindow = 64

const (
	WindowGrants  = 16   // of one key, that a window holds unless asked for otherwise
	windowAfter   = 4    // of them after the anomaly
	windowExtends = 1024 // of one grant, that a window shows
	RandomWindows = 64
	anomalyLimit  = 64
	KeptHits      = 1024 // that there may be before any is forgotten
)

// Second keeps the windows until judging ends.
type Second struct {
	j          *rule.Env
	rng        *rand.Rand // draws random windows; its seed is the history's
	size       int        // grants in a window
	views      int        // windows around anomalies to draw
	keys       map[*ledger.Key]*latestGrants
	random     []window // a uniform sample of all windows
	offered    int
	around     []window
	Violations map[violationKey]*rule.Candidate // violations, of one kind and pair the latest
	inWindows  int                              // how many of them a window showed when they were looked at
}

// A violationKey identifies a violation: to the second opinion, one is of a pair of grants.
type violationKey struct {
	id   string
	pair [2]*ledger.Grant
}

// latestGrants are the latest grants of one key.
type latestGrants struct {
	grants []*windowGrant
	since  int // grants since a window was offered
	due    int // grants until a window around an anomaly closes; 0 is none
	found  bool
}

// A windowGrant is a grant and the extensions of it that succeeded.
type windowGrant struct {
	*ledger.Grant
	extends [][2]time.Duration
	revived time.Duration // when an extension was answered that gave it a hold, of which nobody can say that it had one before; 0 is none
	taken   time.Duration // by when its hold began, where that may be later than its answer; 0 is not
}

// extendedBefore says whether all extensions of g were answered before at, by clocks that may be
// eps apart.
func (g *windowGrant) extendedBefore(at, eps time.Duration) bool {
	return !slices.ContainsFunc(g.extends, func(x [2]time.Duration) bool { return ledger.Later(eps, x[1]) >= at })
}

// A window is a few grants of one key. If a whole history is linearizable, any subset of its
// grants is.
type window []*windowGrant

func NewSecond(j *rule.Env, grants, views int) *Second {
	size := WindowGrants
	if grants > 0 {
		size = min(grants, MaxWindow)
	}
	return &Second{j: j, size: size, views: views, rng: rand.New(rand.NewPCG(j.Header.Seed, 2)), keys: make(map[*ledger.Key]*latestGrants), Violations: make(map[violationKey]*rule.Candidate)}
}

func (*Second) IDs() []string { return []string{"the second opinion"} }
func (*Second) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Granted, ledger.Extended, ledger.Answered, ledger.Left}
}

func (s *Second) Observe(f *ledger.Fact) {
	r := s.keys[f.Key]
	if r == nil {
		r = new(latestGrants)
		s.keys[f.Key] = r
	}
	switch f.Kind {
	case ledger.Extended:
		r.extended(f)
		r.revived(f, s.j.Header.Epsilon)
		return
	case ledger.Left: // it shows that its owner held
		if ledger.CheckedRelease(s.j.Header) {
			r.extended(f)
		}
		return
	case ledger.Answered:
		if f.Op.Outcome == history.OK && (f.Op.InvIdx != f.Grant.ReleaseIdx || f.Grant != f.Grant.Holder.Grant) {
			f.Grant.Ambiguous = true
		}
		return
	}
	if len(r.grants) == s.size {
		r.grants[0].Grant.Unpin()
		r.grants = slices.Delete(r.grants, 0, 1)
	}
	f.Grant.Pin()
	r.grants = append(r.grants, &windowGrant{Grant: f.Grant})
	s.close(r)
}

// extended adds an extension, or an inner release, to its grant. The model has no words for one after
// the grant's release.
func (r *latestGrants) extended(f *ledger.Fact) {
	i := slices.IndexFunc(r.grants, func(g *windowGrant) bool { return g.Grant == f.Grant })
	if i < 0 || f.Op.Inv >= f.Grant.ReleasedAt || len(r.grants[i].extends) == windowExtends {
		f.Grant.Ambiguous = true
		return
	}
	r.grants[i].extends = append(r.grants[i].extends, [2]time.Duration{f.Op.Inv, f.Op.OK})
}

// revived notes that an extension gave a grant a hold that before was over within the
// clock uncertainty of its beginning.
func (r *latestGrants) revived(f *ledger.Fact, eps time.Duration) {
	if f.Op.OK < f.Old || f.Old-f.Grant.OK > eps {
		return
	}
	for _, g := range r.grants {
		if g.Grant == f.Grant {
			g.revived = f.Op.OK
		}
	}
}

// close stores the windows that are complete.
func (s *Second) close(r *latestGrants) {
	r.since++
	if r.found {
		if r.due--; r.due <= 0 {
			r.found = false
			s.around = append(s.around, s.window(r))
		}
	}
	if r.since < s.size {
		return
	}
	r.since = 0
	s.offered++
	if len(s.random) < RandomWindows {
		s.random = append(s.random, s.window(r))
	} else if i := s.rng.IntN(s.offered); i < RandomWindows {
		s.random[i] = s.window(r)
	}
}

// window is a window of the grants that r has now.
func (s *Second) window(r *latestGrants) window {
	for _, g := range r.grants {
		g.Grant.Pin()
	}
	return slices.Clone(r.grants)
}

// AddViolation notes a violation that the sweep found, and that Porcupine must find as well.
func (s *Second) AddViolation(h *rule.Candidate) {
	if h.Pair[0] == nil || h.Length() == 0 { // only their order tells
		return
	}
	if s.Violations[violationKey{h.ID, h.Pair}] = h; len(s.Violations) >= 2*s.inWindows+KeptHits {
		s.forget()
	}
	if r := s.keys[h.Key]; r != nil && !r.found && len(s.around) < anomalyLimit {
		r.found, r.due = true, min(windowAfter, s.size-1)
	}
}

// forget drops the violations that no window contains, nor can contain later.
func (s *Second) forget() {
	shown := make(map[*ledger.Grant]bool)
	add := func(w window) {
		for _, g := range w {
			shown[g.Grant] = true
		}
	}
	for _, w := range slices.Concat(s.around, s.random) {
		add(w)
	}
	for _, r := range s.keys {
		add(r.grants)
	}
	maps.DeleteFunc(s.Violations, func(v violationKey, _ *rule.Candidate) bool { return !shown[v.pair[0]] || !shown[v.pair[1]] })
	s.inWindows = len(s.Violations)
}

func (s *Second) Finish() {
	for _, k := range s.j.SortedKeys() {
		switch r := s.keys[k]; {
		case r == nil:
		case r.found:
			s.around = append(s.around, s.window(r))
		case len(s.random) < RandomWindows && r.since > 0:
			s.random = append(s.random, s.window(r))
		}
	}
}

// Ask puts the windows to Porcupine, those around anomalies first, until ctx
// ends.
func (s *Second) Ask(ctx context.Context) (o SecondOpinion, disagreements []rule.Remark, views []View) {
	o.Anomalies = len(s.around)
	for i, w := range slices.Concat(s.around, s.random) {
		o.Windows++
		if slices.ContainsFunc(w, func(g *windowGrant) bool { return g.Ambiguous }) {
			o.Undecided++
			continue
		}
		w = s.lasting(w)
		w = w.held(s.nearest(w))
		want := s.violated(w)
		agreed, decided := s.agrees(ctx, w, want)
		switch {
		case !decided:
			o.Undecided++
		case agreed:
			o.Agreed++
			if i < len(s.around) && len(views) < s.views {
				views = append(views, s.view(w)...)
			}
		case !want && s.names(w):
			o.Undecided++
		default:
			disagreements = append(disagreements, disagreement(w, want))
		}
	}
	return o, disagreements, views
}

// agrees says whether Porcupine judges w as the sweep did. Porcupine's model has one clock
// uncertainty for all pairs. Where those differ, a window in which the sweep found a violation
// must have no order under the smallest uncertainty, and one in which it found none must have
// an order under the widest.
func (s *Second) agrees(ctx context.Context, w window, violated bool) (agrees, decided bool) {
	eps := s.nearest(w)
	if !violated {
		eps = s.j.Clocks.Widest
		w = w.lenient().held(eps)
	}
	orders, decided := w.linearizable(ctx, s.j.Header, eps)
	return orders == !violated, decided
}

// nearest is the smallest clock uncertainty of any two of w's grants.
func (s *Second) nearest(w window) time.Duration {
	for i, g := range w {
		if slices.ContainsFunc(w[i+1:], func(x *windowGrant) bool { return s.j.InOrder(g.Grant, x.Grant) }) {
			return 0
		}
	}
	return s.j.Clocks.Narrowest
}

// lasting leaves out the grants at which the history broke off: it does not say how long they
// held.
func (s *Second) lasting(w window) window {
	if !s.j.Truncated {
		return w
	}
	return slices.DeleteFunc(slices.Clone(w), func(g *windowGrant) bool { return s.j.Now <= ledger.Later(s.j.Clocks.Widest, g.OK) })
}

// held leaves out the grants whose definite hold is within the clock
// uncertainty: the model cannot say that they never held.
func (w window) held(eps time.Duration) window {
	var out window
	for _, g := range w {
		if g.End()-max(g.OK, g.taken) > eps {
			out = append(out, g)
		}
	}
	return out
}

// lenient lets a grant that got its hold by an extension begin only with that extension.
func (w window) lenient() window {
	out := slices.Clone(w)
	for i, g := range out {
		if g.revived != 0 {
			later := *g
			later.taken = g.revived
			out[i] = &later
		}
	}
	return out
}

// contains says whether g is in w.
func (w window) contains(g *ledger.Grant) bool {
	return slices.ContainsFunc(w, func(x *windowGrant) bool { return x.Grant == g })
}

// violated says whether the sweep found a violation within w.
func (s *Second) violated(w window) bool {
	for v, h := range s.Violations {
		if w.contains(v.pair[0]) && w.contains(v.pair[1]) && s.j.Proved(h) && h.Length() > 0 {
			return true
		}
	}
	return false
}

// names says whether the sweep found a violation between one of w's grants and one that is not
// in w: of an extension or a release across several holds it names only one.
func (s *Second) names(w window) bool {
	for v, h := range s.Violations {
		if w.contains(v.pair[0]) != w.contains(v.pair[1]) && s.j.Proved(h) && h.ID == "S6" {
			return true
		}
	}
	return false
}

func disagreement(w window, violated bool) rule.Remark {
	sweep, other := "finds no two holds that overlap and no extension across another's hold", "finds no order in which one owner at a time holds the key"
	if violated {
		sweep, other = "finds an overlap or an extension across another's hold", "finds an order in which one owner at a time holds the key"
	}
	f := rule.Remark{ID: "H1", Key: w[0].Holder.Key.Name}
	for _, g := range w {
		f.Witness = append(f.Witness, g.OKIdx)
	}
	slices.Sort(f.Witness)
	f.Text = fmt.Sprintf("On the grants of %s at events %v the judges disagree: the sweep %s, and Porcupine %s. One of the two is wrong, so neither is to be trusted here.", f.Key, f.Witness, sweep, other)
	return f
}
