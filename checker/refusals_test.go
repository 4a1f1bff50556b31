package checker

import (
	"fmt"
	"strings"
	"testing"
)

// lost is a lease of a's from then on, for 100 ms, whose extension or release is refused ten
// milliseconds behind its grant, with an error.
func lost(from int, how, err string) string {
	return fmt.Sprintf(`
		%[1]dms a invoke acquire k
		%[2]dms a ok acquire k until %[3]dms
		%[4]dms a invoke %[6]s k
		%[5]dms a fail %[6]s k err %[7]q`, from, from+1, from+100, from+10, from+11, how, err)
}

// lostOften are so many of them, one behind the other from then on.
func lostOften(from, n int, how, err string) (all string) {
	for i := range n {
		all += lost(from+200*i, how, err)
	}
	return all
}

// TestRefusals holds that a lease which is refused to its owner before it could run out, with
// nothing in the way, is lost without cause, if that happens time and again.
func TestRefusals(t *testing.T) {
	const (
		main     = "\n0ms nemesis ok phase main"
		several  = "nodes 3 quorum 2"
		oneStall = "\n900ms nemesis ok stall began 1ms ended %dms"
	)
	three := lostOften(0, 3, "extend", "not the owner")
	var cases []boundCase
	for _, c := range []verdictCase{
		{name: "three extensions", want: Fail, violations: []string{"L5 [2 4 6 8 10 12]"}, history: main + three},
		{name: "three releases", want: Fail, violations: []string{"L5 [2 4 6 8 10 12]"}, history: main + lostOften(0, 3, "release", "not the owner")},
		{name: "more", want: Fail, violations: []string{"L5 [2 4 6 8 10 12]"}, history: main + lostOften(0, 5, "release", "")},
		{name: "two", want: Pass, history: main + lostOften(0, 2, "extend", "not the owner")},
		{name: "three times two leases", want: Pass, history: main + lost(0, "extend", "") + "\n12ms a invoke extend k\n13ms a fail extend k\n14ms a invoke release k\n15ms a fail release k" +
			lost(200, "extend", "") + "\n212ms a invoke release k\n213ms a fail release k"},
		{name: "by turns", want: Pass, history: main + lost(0, "extend", "") + strings.ReplaceAll(lost(30, "extend", ""), " k", " other") +
			"\n50ms a invoke release k\n51ms a fail release k\n52ms a invoke release other\n53ms a fail release other"},
		{name: "in a history without phases", want: Pass, history: three},
		{name: "granted", want: Pass, history: main + strings.ReplaceAll(three, "fail", "ok")},
		{name: "of unknown outcome", want: Pass, history: main + `
			0ms a invoke acquire k
			1ms a ok acquire k until 100ms
			10ms a1 invoke extend k owner a
			11ms a1 info extend k owner a
			12ms a2 invoke extend k owner a
			13ms a2 info extend k owner a
			14ms a3 invoke release k owner a
			15ms a3 info release k owner a`},
		{name: "by a link", want: Pass, history: main + lostOften(0, 3, "extend", "i/o timeout")},
		{name: "by a node that is not there", want: Pass, history: main + lostOften(0, 3, "release", "dial tcp: connection refused")},
		{name: "at the end of the lease", want: Pass, history: main + strings.NewReplacer("until 100ms", "until 11ms", "until 300ms", "until 211ms", "until 500ms", "until 411ms").Replace(three)},
		{name: "just before", want: Fail, violations: []string{"L5 [2 4 6 8 10 12]"}, history: main + strings.NewReplacer("until 100ms", "until 12ms", "until 300ms", "until 212ms", "until 500ms", "until 412ms").Replace(three)},
		{name: "just before, as far as clocks tell", header: "epsilon 1ms", want: Pass, history: main + strings.NewReplacer("until 100ms", "until 12ms", "until 300ms", "until 212ms", "until 500ms", "until 412ms").Replace(three)},
		{name: "of a lease that begins nobody knows when", want: Pass, history: main + strings.NewReplacer("until 100ms", "", "until 300ms", "", "until 500ms", "", "invoke acquire k", "invoke acquire k note wait").Replace(three)},
		{name: "after its loss was told, which is another finding", want: Fail, violations: []string{"L5 [2 3]"}, history: main + `
			  0ms a invoke acquire k
			  1ms a ok acquire k until 100ms
			  8ms a ok lost k
			 10ms a invoke release k
			 11ms a fail release k` + lostOften(200, 2, "extend", "")},
		{name: "beside its release", want: Pass, history: main + lostOften(0, 2, "extend", "") + `
			400ms a invoke acquire k
			401ms a ok acquire k until 500ms
			402ms a2 invoke extend k owner a
			403ms a invoke release k
			404ms a2 fail extend k owner a
			405ms a ok release k`},
		{name: "by a second release, beside the first", want: Pass, history: main + lostOften(0, 2, "extend", "") + `
			400ms a invoke acquire k
			401ms a ok acquire k fence 3 until 500ms
			403ms a invoke release k fence 3
			404ms a2 invoke release k owner a fence 3
			405ms a2 fail release k owner a fence 3
			406ms a ok release k fence 3`},
		{name: "when another had been granted it", want: Fail, violations: []string{"S1 [10 12]"}, history: main + lostOften(0, 2, "extend", "") + `
			400ms a invoke acquire k
			401ms a ok acquire k until 500ms
			402ms b invoke acquire k
			403ms b ok acquire k until 500ms
			404ms a invoke extend k
			405ms a fail extend k`},
		{name: "once behind another's release that comes late", want: Pass, history: main + lostOften(0, 2, "extend", "") + `
			400ms b invoke acquire k
			401ms b ok acquire k until 410ms
			405ms b invoke release k` + lost(420, "extend", "") + `
			450ms b ok release k`},
		{name: "once behind another's release that came late", want: Pass, history: main + lostOften(0, 2, "extend", "") + `
			400ms b invoke acquire k
			401ms b ok acquire k until 410ms
			405ms b invoke release k
			420ms a invoke acquire k
			420ms b ok release k
			421ms a ok acquire k until 520ms
			430ms a invoke extend k
			431ms a fail extend k`},
		{name: "once behind another's release of unknown outcome", want: Pass, history: main + lostOften(0, 2, "extend", "") + `
			400ms b invoke acquire k
			401ms b ok acquire k until 430ms
			405ms b invoke release k
			406ms b info release k` + lost(410, "extend", "")},
		{name: "behind another's release in time", want: Fail, violations: []string{"L5 [2 4 6 8 14 16]"}, history: main + lostOften(0, 2, "extend", "") + `
			400ms b invoke acquire k
			401ms b ok acquire k until 410ms
			405ms b invoke release k
			419ms b ok release k` + lost(420, "extend", "")},
		{name: "under a fault of its client", want: Pass, history: main + fault(0, 299, "latency target a") + lostOften(300, 3, "extend", "")},
		{name: "under a fault of a node", want: Pass, history: main + fault(0, 299, `latency target {"nodes":["n1"]}`) + lostOften(300, 3, "extend", "")},
		{name: "under a fault of another client", want: Fail, violations: []string{"L5 [6 8 10 12 14 16]"}, history: main + fault(0, 299, "latency target b") + lostOften(300, 3, "extend", "")},
		{name: "under a fault of the store", want: Fail, violations: []string{"L5 [6 8 10 12 14 16]"}, history: main + fault(0, 299, `latency target {"nodes":["store"]}`) + lostOften(300, 3, "extend", "")},
		{name: "two leases' length behind a fault", want: Pass, history: main + fault(0, 250, "latency target a") + lostOften(450, 3, "extend", "")},
		{name: "long behind a fault", want: Fail, violations: []string{"L5 [6 8 10 12 14 16]"}, history: main + fault(0, 250, "latency target a") + lostOften(451, 3, "extend", "")},
		{name: "once while the harness stood still", header: several, want: Pass, history: main + three + fmt.Sprintf(oneStall, 11)},
		{name: "once while the harness stood still for less", header: several, want: Fail, violations: []string{"L5 [2 4 6 8 10 12]"}, history: main + three + fmt.Sprintf(oneStall, 10)},
		{name: "once while the harness stood still, and then three times", header: several, want: Fail, violations: []string{"L5 [6 8 10 12 14 16]"}, history: main + lostOften(0, 4, "extend", "") + fmt.Sprintf(oneStall, 11)},
		{name: "more often than is remembered", want: Fail, violations: []string{"L5 [6 8 10 12 14 16]"}, history: main + lostOften(0, 65, "extend", "")},
		{name: "of one node, while the harness stood still", want: Fail, violations: []string{"L5 [2 4 6 8 10 12]"}, history: main + three + fmt.Sprintf(oneStall, 500)},
	} {
		c.header = "ttl 100ms " + c.header
		cases = append(cases, boundCase{verdictCase: c})
	}
	runBounds(t, cases)
}
