package checker

import (
	"locktorture/checker/internal/opinion"
)

// A Verdict is the answer to a whole run.
type Verdict string

// The verdicts, from best to worst in Worse's order.
const (
	Pass         Verdict = "PASS"
	SLOBreach    Verdict = "SLO BREACH"
	Inconclusive Verdict = "INCONCLUSIVE"
	HarnessError Verdict = "HARNESS ERROR"
	Fail         Verdict = "FAIL"
)

var exits = map[Verdict]int{Pass: 0, Fail: 1, Inconclusive: 3, SLOBreach: 4, HarnessError: 70}

var severity = map[Verdict]int{Pass: 0, SLOBreach: 1, Inconclusive: 2, HarnessError: 3, Fail: 4}

// Exit returns the process exit code that v stands for.
func (v Verdict) Exit() int { return exits[v] }

// Worse returns the verdict that prevails when both apply.
func Worse(a, b Verdict) Verdict {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// A Finding is one anomaly, proved or suspected, or one piece of missing
// evidence. IDs are those of the anomaly catalogue (S1, L2, V5, …).
type Finding struct {
	ID       string   `json:"id"`
	Name     string   `json:"name,omitempty"`
	Key      string   `json:"key,omitempty"`
	Owners   []string `json:"owners,omitempty"`
	Witness  []int    `json:"witness,omitempty"`  // event indices, ascending: at least those that prove it
	Blame    string   `json:"blame,omitempty"`    // who broke its word
	Breakers []string `json:"breakers,omitempty"` // assumption breakers in force
	Expected bool     `json:"expected,omitempty"` // the scenario means to see it
	Accepted bool     `json:"accepted,omitempty"` // the scenario accepts it
	Text     string   `json:"text"`               // one paragraph in plain words: What, Remedy, and the faults meanwhile
	What     string   `json:"-"`                  // what happened; empty where Text is all there is
	Remedy   string   `json:"-"`                  // what helps against it
}

// Evidence is what a verdict rests on.
type Evidence struct {
	Grants           int `json:"grants"`
	Contended        int `json:"contended"` // attempts that met a holder
	Handovers        int `json:"handovers"`
	FaultedHandovers int `json:"faulted_handovers"`     // with a fault in force between the two grants
	Takeovers        int `json:"takeovers"`             // hand-overs after an expiry
	FenceSaves       int `json:"fence_saves"`           // stale writes offered and rejected
	Unknown          int `json:"unknown"`               // operations of unknown outcome
	Resolved         int `json:"resolved"`              // of those, settled by the store's log or a link's receipt
	ByReceipts       int `json:"by_receipts,omitempty"` // of those, settled by a link's receipt
	Cells            int `json:"cells,omitempty"`       // of phase × class of faults, where a floor demands some
}

// Checked says how much was judged.
type Checked struct {
	Events  int     `json:"events"`
	Seconds float64 `json:"seconds"`
}

// A Report is what judging one history gives. Its JSON form is the contract of
// `torture check --json`; two runs over one history differ in Checked.Seconds
// alone.
type Report struct {
	Schema          int       `json:"schema"` // 1
	Verdict         Verdict   `json:"verdict"`
	Exit            int       `json:"exit"`
	Violations      []Finding `json:"violations"` // ordered by first witness
	Suspicious      []Finding `json:"suspicious"`
	ExpectedMissing []string  `json:"expected_missing"`
	Inconclusive    []Finding `json:"inconclusive"`
	Evidence        Evidence  `json:"evidence"`
	Checked         Checked   `json:"checked"`

	Breaches       []Finding       `json:"breaches,omitempty"` // L4, L6: bounds of service that were missed
	Totals         map[string]int  `json:"totals,omitempty"`   // violations by id, where not all are listed
	Harness        []Finding       `json:"harness,omitempty"`  // the judges disagree: a harness error
	Counterfactual *Counterfactual `json:"counterfactual,omitempty"`
	SecondOpinion  *SecondOpinion  `json:"second_opinion,omitempty"`
	Void           []Void          `json:"void,omitempty"`             // what this history does not decide, because of the harness
	Nothing        []string        `json:"nothing_to_judge,omitempty"` // properties that this history says nothing of; only without a violation
	Notes          []string        `json:"notes,omitempty"`            // what a reader of the verdict must know
	Views          []View          `json:"-"`
}

// What the second view of a history found.
type (
	Counterfactual = opinion.Counterfactual // what other stores would have made of the same writes
	Policy         = opinion.Policy         // a way in which a store may check a write
	SecondOpinion  = opinion.SecondOpinion  // what Porcupine made of windows of the history
	View           = opinion.View           // Porcupine's own picture of one
)

// MaxWindow is the most grants that a window of the second opinion holds.
const MaxWindow = opinion.MaxWindow
