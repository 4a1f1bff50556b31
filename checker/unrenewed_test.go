package checker

import (
	"fmt"
	"strings"
	"testing"
)

// renewedFor is a lease of a's from then on, for 100 ms, that is renewed n times, each third of that,
// and given back so long behind its end; or so long before, where that is negative.
func renewedFor(from, n, behind int) string {
	text := fmt.Sprintf(`
		%[1]dms a invoke acquire k
		%[2]dms a ok acquire k until %[3]dms`, from, from+1, from+101)
	end := from + 101
	for i := range n {
		at := from + 1 + 33*(i+1)
		end = at + 100
		text += fmt.Sprintf("\n%dms a9 ok extend k owner a until %dms began %dms ended %dms", at, end, at, at)
	}
	answer := "ok"
	if behind > 0 {
		answer = "fail"
	}
	return text + fmt.Sprintf("\n%dms a invoke release k\n%dms a %s release k", end+behind, end+behind+1, answer)
}

// during is a lease that is renewed once, under a fault that is healed with that, and given back long
// behind its end.
func during(from int, what string) string {
	under := fault(from, from+34, what)
	began, healed := under[:strings.Index(under, "heal")], under[strings.Index(under, "heal"):]
	cut := strings.LastIndex(began, "\n")
	began, healed = began[:cut], began[cut:]+healed
	before, after, _ := strings.Cut(renewedFor(from, 1, 60), "\n"+fmt.Sprint(from+34))
	return began + before + healed + "\n" + fmt.Sprint(from+34) + after
}

// oftenUnrenewed are so many leases, each renewed once and given back long behind its end.
func oftenUnrenewed(n int) (all string) {
	for i := range n {
		all += renewedFor(1000*(i+1), 1, 60)
	}
	return all
}

// TestUnrenewed holds that an automatic renewal which stops in silence, with nothing in the way, is
// a loss without cause, if that happens time and again to leases that others outlive.
func TestUnrenewed(t *testing.T) {
	const main = "\n0ms nemesis ok phase main"
	long := renewedFor(0, 6, -60) // until 300 ms
	stops := func(from, behind int) string { return renewedFor(from, 1, behind) }
	three := stops(1000, 60) + stops(2000, 60) + stops(3000, 60)
	found := []string{"L5 [13 14 18 19 23 24]"}
	var cases []boundCase
	for _, c := range []verdictCase{
		{name: "three", want: Fail, violations: found, history: main + long + three},
		{name: "more", want: Fail, violations: found, history: main + long + three + stops(4000, 60)},
		{name: "and others live longer later", want: Fail, violations: []string{"L5 [3 4 8 9 13 14]"}, history: main + three + renewedFor(4000, 6, -60)},
		{name: "two", want: Pass, history: main + long + stops(1000, 60) + stops(2000, 60)},
		{name: "two, of which one is given back twice", want: Pass, history: main + long + stops(1000, 60) + stops(2000, 60) + "\n2197ms a invoke release k\n2198ms a fail release k"},
		{name: "and none lives longer", want: Pass, history: main + three + stops(4000, -20)},
		{name: "and one lives a little longer", want: Pass, history: main + three + renewedFor(4000, 2, -60)},
		{name: "in a history without phases", want: Pass, history: long + three},
		{name: "a quarter of a TTL late at most", want: Pass, history: main + long + stops(1000, 25) + stops(2000, 25) + stops(3000, 25)},
		{name: "a little later", want: Fail, violations: found, history: main + long + stops(1000, 26) + stops(2000, 26) + stops(3000, 26)},
		{name: "a little later, as far as clocks tell", header: "epsilon 1ms", want: Pass, history: main + long + stops(1000, 26) + stops(2000, 26) + stops(3000, 26)},
		{name: "never renewed", want: Pass, history: main + long + renewedFor(1000, 0, 60) + renewedFor(2000, 0, 60) + renewedFor(3000, 0, 60)},
		{name: "told", want: Pass, history: main + long + stops(1000, 60) + stops(2000, 60) + `
			3000ms a invoke acquire k
			3001ms a ok acquire k until 3101ms
			3034ms a9 ok extend k owner a until 3134ms began 3034ms ended 3034ms
			3140ms a9 invoke extend k owner a
			3141ms a9 fail extend k owner a err lost
			3194ms a invoke release k
			3195ms a fail release k`},
		{name: "once, and the loss was told", want: Pass, suspicious: []string{"S11 [22 25 26]"}, history: main + long + stops(1000, 60) + stops(2000, 60) + `
			3000ms a invoke acquire k
			3001ms a ok acquire k until 3101ms
			3034ms a9 ok extend k owner a until 3134ms began 3034ms ended 3034ms
			3040ms b invoke acquire k
			3139ms b ok acquire k until 3239ms
			3140ms a ok lost k
			3194ms a invoke release k
			3195ms a fail release k`},
		{name: "and the release is granted", want: Fail, violations: found, suspicious: []string{"S5 [22 25]"}, history: main + long + stops(1000, 60) + stops(2000, 60) + `
			3000ms a invoke acquire k
			3001ms a ok acquire k until 3101ms
			3034ms a9 ok extend k owner a until 3134ms began 3034ms ended 3034ms
			3194ms a invoke release k
			3195ms a ok release k`},
		{name: "once under a fault of its client", want: Pass, history: main + long + stops(1000, 60) + stops(2000, 60) + during(3000, "latency target a")},
		{name: "once under a fault of a node", want: Pass, history: main + long + stops(1000, 60) + stops(2000, 60) + during(3000, `latency target {"nodes":["n1"]}`)},
		{name: "once under a fault of another client", want: Fail, violations: []string{"L5 [13 14 18 19 27 28]"}, history: main + long + stops(1000, 60) + stops(2000, 60) + during(3000, "latency target b")},
		{name: "once under a fault of the store", want: Fail, violations: []string{"L5 [13 14 18 19 27 28]"}, history: main + long + stops(1000, 60) + stops(2000, 60) + during(3000, `latency target {"nodes":["store"]}`)},
		{name: "behind a fault", want: Fail, violations: []string{"L5 [17 18 22 23 27 28]"}, history: main + long + fault(500, 999, "latency target a") + three},
		{name: "more often than is remembered", want: Fail, violations: []string{"L5 [18 19 23 24 28 29]"}, history: main + long + oftenUnrenewed(65)},
		{name: "while the harness stood still", want: Pass, history: main + long + three + "\n4000ms nemesis ok stall began 3080ms ended 3140ms"},
		{name: "while the harness stood still for less than that", want: Fail, violations: found, history: main + long + three + "\n4000ms nemesis ok stall began 3080ms ended 3139ms"},
		{name: "while the harness stood still elsewhere", want: Fail, violations: found, history: main + long + three + "\n4000ms nemesis ok stall began 3200ms ended 3500ms"},
	} {
		c.header = "ttl 100ms " + c.header
		cases = append(cases, boundCase{verdictCase: c})
	}
	runBounds(t, cases)
}
