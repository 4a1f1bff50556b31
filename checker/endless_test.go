package checker

import (
	"testing"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
)

// TestUncertainty takes the two clocks that may be furthest apart.
func TestUncertainty(t *testing.T) {
	for _, test := range []struct {
		header string
		want   time.Duration
	}{
		{"epsilon 3ms", 3 * time.Millisecond},
		{"epsilon 3ms hosts h1=2ms", 3 * time.Millisecond},
		{"hosts h1=2ms", 2 * time.Millisecond},
		{"hosts h1=2ms,h2=2ms,h3=1ms", 4 * time.Millisecond},
		{"hosts h1=1ms,h2=5ms,h3=2ms", 7 * time.Millisecond},
	} {
		if got := ledger.Uncertainty(parse(t, test.header, "").Header); got != test.want {
			t.Errorf("%s: %v, want %v", test.header, got, test.want)
		}
	}
}

// TestEndless judges leases without end: no sum of theirs overflows.
func TestEndless(t *testing.T) {
	const forever = "2562047h47m16.854775807s"
	runCases(t, []verdictCase{
		{
			name: "TTL without end", header: "ttl " + forever + " epsilon 1ms", want: Pass,
			history: `
				1ms a invoke acquire k
				2ms a ok acquire k
				3ms a invoke write k value a1
				4ms a ok write k value a1 seq 1
				5ms a invoke release k
				6ms a ok release k`,
		},
		{
			name: "promised without end", header: "ttl 1s epsilon 1ms", want: Pass,
			history: `
				1ms a invoke acquire k
				2ms a ok acquire k until ` + forever + `
				9s a invoke extend k
				10s a ok extend k until ` + forever + `
				3600s a invoke write k value a1
				3601s a ok write k value a1 seq 1
				3602s a invoke release k
				3603s a ok release k`,
		},
		{
			name: "two holders of leases without end", header: "ttl " + forever + " epsilon 1ms", want: Fail, violations: []string{"S1 [1 3]"},
			history: `
				1ms a invoke acquire k
				2ms a ok acquire k
				3s b invoke acquire k
				4s b ok acquire k`,
		},
		{
			name: "a key that stays for ever", header: "ttl 1s", want: Fail, violations: []string{"L8 [2]"},
			history: `
				1ms a invoke acquire k
				2ms a ok acquire k
				witness ok key k node n1 pttl 9223372036854775807 holder a`,
		},
		{
			name: "ended before it began", header: "ttl 1s epsilon 1ms", want: Fail, violations: []string{"S7 [1]"},
			history: `
				1ms a invoke acquire k
				2ms a ok acquire k until -` + forever,
		},
	})
}

// TestStallIsNoFault shows that the harness's own stall is not taken for one.
func TestStallIsNoFault(t *testing.T) {
	h := parse(t, "ttl 1s", "nemesis ok stall began 0s ended 1ms\na invoke acquire k\na ok acquire k\na invoke release k\na ok release k")
	j := New(h.Header, Options{})
	j.Events(h.Events)
	if r := j.Finish(t.Context(), false); r.Verdict != Pass || len(j.env.Nemesis.Faults) > 0 || history.Validate(h.Events) != nil {
		t.Errorf("%s, %d faults, %v", r.Verdict, len(j.env.Nemesis.Faults), history.Validate(h.Events))
	}
}
