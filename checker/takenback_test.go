package checker

import "testing"

// TestRenewalTakenBack: a renewal that is told of again, to last less long, lasts no longer than
// it said last: servers may have kept it for longer, which is only suspicious.
func TestRenewalTakenBack(t *testing.T) {
	const renewed = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 100ms
		 70ms a0 ok extend k owner a until 166ms began 66ms ended 70ms`
	const granted = `
		125ms b invoke acquire k
		130ms b ok acquire k until 225ms`
	runCases(t, []verdictCase{
		{name: "to last", header: "ttl 100ms", want: Fail, violations: []string{"S1 [1 2 4]"}, history: renewed + granted},
		{name: "taken back", header: "ttl 100ms", want: Pass, suspicious: []string{"S1 [1 5]"}, history: renewed + `
			120ms a0 ok extend k owner a until 124ms began 66ms ended 120ms` + granted},
		{name: "taken back, behind the invocation of a release that was never sent", header: "ttl 100ms", want: Pass, history: renewed + `
			120ms a invoke release k
			120ms a0 ok extend k owner a until 124ms began 66ms ended 120ms` + granted + `
			140ms a info release k err timeout
			140ms link ok receipt never-forwarded of 3`},
	})
}
