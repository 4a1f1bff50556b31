package checker

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"

	"locktorture/checker/internal/ledger"
)

func TestSampledLeftovers(t *testing.T) { runBounds(t, sampledLeftovers()) }

// sampled is a history in which n1 stores x from 20 ms on, until it is looked at no
// more.
const sampled = `
		  0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2`

// A lock that does not declare how long its undo takes has half a TTL for it. Faults that may have
// lost its undo, or kept it from being asked for, excuse what is left, and no others: replies that
// are lost, what was over before, and what befell others.
func TestSampledLeftoversOfAnUndeclaredUndo(t *testing.T) {
	const b = `target {"clients":["b"],"nodes":["n1"]}`
	left := func(faults, then, answer string, seen int) string {
		return sampled + faults + `
			311ms witness ok key k node n1 value sample note lock:k began 311ms pttl -2
			312ms b invoke acquire k
			313ms witness ok key k node n1 value sample note lock:k began 313ms holder x pttl 99
			314ms b ` + answer + then + fmt.Sprintf(`
			%[1]dms witness ok key k node n1 value sample note lock:k began %[1]dms holder x pttl 46
			420ms c invoke acquire k
			421ms c ok acquire k until 510ms`, seen)
	}
	const refused = "fail acquire k err held"
	var cases []boundCase
	for _, c := range []struct {
		name, faults, then string
		answer             string // refused
		seen               int    // 366
		excused            bool
	}{
		{name: "no fault"},
		{name: "replies were lost", faults: fault(300, 310, "response-lost "+b)},
		{name: "replies were lost with their connections", faults: fault(300, 310, "fast-lost-reply "+b)},
		{name: "replies were lost until half a TTL ago", then: fault(315, 316, "response-lost "+b), excused: true},
		{name: "replies were lost until before that", then: fault(315, 315, "response-lost "+b)},
		{name: "replies are lost", then: fault(315, 366, "response-lost "+b), seen: 380, excused: true},
		{name: "replies to somebody else are lost", then: fault(315, 350, `response-lost target {"clients":["c"],"nodes":["n1"]}`)},
		{name: "replies of another node are lost", then: fault(315, 350, `response-lost target {"clients":["b"],"nodes":["store"]}`)},
		{name: "requests were lost", faults: fault(300, 310, "request-lost "+b), excused: true},
		{name: "no answer came", faults: fault(300, 310, "response-lost "+b), answer: "info acquire k err timeout", excused: true},
		{name: "for half a TTL", seen: 364, excused: true},
		{name: "a stall that was over half a TTL before nothing was stored", faults: fault(20, 260, "stall "+b)},
		{name: "a stall that was over just then", faults: fault(20, 261, "stall "+b), excused: true},
		{name: "a stall of everybody", faults: fault(20, 261, `stall target {"nodes":["n1"]}`), excused: true},
		{name: "a stall of somebody else", faults: fault(20, 305, `stall target {"clients":["c"],"nodes":["n1"]}`)},
		{name: "a stall at another node", faults: fault(20, 305, `stall target {"clients":["b"],"nodes":["store"]}`)},
		{name: "a stall that begins at the last look", then: fault(366, 366, "stall "+b), excused: true},
		{name: "a crash whose lease ran out before", faults: strings.ReplaceAll(fault(110, 120, "crash-client "+b), "110ms", "110.999999ms")},
		{name: "a crash that outlasts its lease", faults: fault(20, 261, "crash-client "+b), excused: true},
		{name: "as many of somebody else as are looked through", faults: strings.Repeat(fault(20, 20, `stall target {"clients":["c"]}`), ledger.MostFaults)},
		{name: "more than that", faults: strings.Repeat(fault(20, 20, `stall target {"clients":["c"]}`), ledger.MostFaults+1), excused: true},
		{name: "a crash whose lease ran out just then", faults: fault(111, 120, "crash-client "+b), excused: true},
	} {
		x := verdictCase{name: c.name, header: "ttl 100ms", want: Fail, history: left(c.faults, c.then, cmp.Or(c.answer, refused), cmp.Or(c.seen, 366))}
		if c.excused {
			x.want = Pass
		} else {
			n := strings.Count(c.faults, "nemesis")
			x.violations = []string{fmt.Sprintf("L8 [%d %d %d]", 3+n, 4+n, 5+n+strings.Count(c.then, "nemesis"))}
		}
		cases = append(cases, boundCase{verdictCase: x})
	}
	cases = append(cases, boundCase{verdictCase: verdictCase{
		name: "a stall that was over half a TTL before another value was stored", header: "ttl 100ms", want: Fail, violations: []string{"L8 [7 8 9]"},
		history: strings.ReplaceAll(left(fault(120, 160, "stall "+b), "", refused, 366), "pttl -2", "holder y pttl 100"),
	}})
	runBounds(t, cases)
}

// TestSampledLease: a lease that a node was seen to keep for far longer than it was
// asked for is a leftover while somebody holds it already: whoever dies with it
// leaves it behind.
func TestSampledLease(t *testing.T) {
	const held = sampled + `
		 15ms b invoke acquire k
		 16ms b ok acquire k
		 20ms b invoke extend k
		 21ms b ok extend k`
	const released = `
		 60ms b invoke release k
		 61ms b ok release k`
	runCases(t, []verdictCase{
		{name: "seconds where milliseconds were asked for", header: "ttl 100ms", want: Fail, violations: []string{"L8 [5]"}, history: held + `
			 30ms witness ok key k node n1 value sample note lock:k began 30ms holder x pttl 99991` + released},
		{name: "rounded up, or with a margin", header: "ttl 100ms", want: Pass, history: held + `
			 30ms witness ok key k node n1 value sample note lock:k began 30ms holder x pttl 1200` + released},
		{name: "promised for so long", header: "ttl 100ms", want: Pass, history: sampled + `
			 15ms b invoke acquire k
			 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 4980
			 21ms b ok acquire k until 5000ms` + released},
		{name: "without an expiry yet", header: "ttl 100ms", want: Pass, history: sampled + `
			 15ms b invoke acquire k
			 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl -1
			 21ms b ok acquire k until 110ms` + released},
	})
}

// TestSampledRenewal: somebody renews what was given back, or was refused, for ever. One
// renewal may have been under way; a text that comes back names no lease.
func TestSampledRenewal(t *testing.T) {
	looks := func(what string) func(at, pttl int) string {
		return func(at, pttl int) string {
			return fmt.Sprintf("\n%dms witness ok key k node n1 value sample note lock:k began %dms %s pttl %d", at, at, what, pttl)
		}
	}
	look, other, gone := looks("holder x"), looks("holder y"), func(at int) string { return looks("")(at, -2) }
	again := func(look func(at, pttl int) string, from, to int) (all string) {
		for at := from; at <= to; at += 40 {
			all += look(at, 90)
		}
		return all
	}
	const acquired = `
		 15ms b invoke acquire k
		 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
		 21ms b ok acquire k until 110ms`
	const held, unknown = sampled + acquired, sampled + acquired + `
		 25ms b invoke release k
		 26ms b info release k err timeout`
	others := func(at int) string {
		return fmt.Sprintf("\n%dms c invoke acquire k\n%dms c fail acquire k err held", at, at+1)
	}
	renewed, end := again(look, 60, 340), others(400)+gone(700)
	stalled := func(from, to int, who string) (string, string) {
		what := `stall target {"clients":["` + who + `"],"nodes":["n1"]}`
		return fmt.Sprintf("\n%dms nemesis invoke fault %[2]s\n%[1]dms nemesis ok fault %[2]s receipt r", from, what), fmt.Sprintf("\n%dms nemesis invoke heal %[2]s\n%[1]dms nemesis ok heal %[2]s receipt r", to, what)
	}
	cut, healed := stalled(30, 345, "b")
	soon, healedSoon := stalled(30, 70, "b")
	_, healedAt210 := stalled(30, 210, "b")
	cutOther, healedOther := stalled(30, 345, "d")
	comesBack := ""
	for at := 720; at <= 760; at += 40 {
		comesBack += look(at, 90) + gone(at+20)
	}
	runCases(t, []verdictCase{
		{name: "after a release of unknown outcome", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 11]"}, history: unknown + renewed + end},
		{name: "after one that was acknowledged, of a lease that had run out", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 11]"}, suspicious: []string{"S5 [3 8]"}, history: held + again(look, 60, 140) + `
			 150ms b invoke release k
			 151ms b ok release k` + again(look, 180, 500) + others(510) + gone(700)},
		{name: "after a release of unknown outcome, of a lease that had run out", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 11]"}, history: held + again(look, 60, 140) + `
			 150ms b invoke release k
			 151ms b info release k err timeout` + again(look, 180, 500) + others(510) + gone(700)},
		{name: "after its owner had taken the key once more", header: "ttl 100ms", want: Fail, violations: []string{"L8 [7 17]"}, history: held + again(look, 60, 60) + gone(130) + `
			 140ms b invoke acquire k` + look(145, 95) + `
			 146ms b ok acquire k until 240ms
			 150ms b invoke release k
			 151ms b info release k err timeout` + again(looks("holder x"), 180, 580) + others(590) + gone(700)},
		{name: "while it is held", header: "ttl 100ms", want: Pass, history: held + renewed + end},
		{name: "once, late", header: "ttl 100ms", want: Pass, history: unknown + look(60, 90) + look(100, 60) + look(190, 90) + look(220, 60) + gone(230) + others(400)},
		{name: "once, long after", header: "ttl 100ms", want: Pass, history: unknown + look(60, 90) + look(100, 90) + look(150, 95) + look(180, 65) + look(185, 90) + look(190, 85) + gone(195) + others(400)},
		{name: "by the next one, under the same text", header: "ttl 100ms", want: Pass, history: unknown + look(60, 90) + `
			 62ms c invoke acquire k
			 90ms c ok acquire k until 160ms` + look(100, 90) + look(190, 90) + look(230, 90) + look(270, 90) + look(310, 90) + end},
		{name: "of an expiry that is moved back again and again", header: "ttl 100ms", want: Pass, history: unknown + look(60, 900) + look(100, 800) + look(140, 700) + look(180, 600) + look(220, 500) + look(260, 400) + look(300, 300) + others(310) + gone(320)},
		{name: "by one of unknown outcome, under the same text", header: "ttl 100ms", want: Pass, history: unknown + look(60, 90) + `
			 62ms e invoke acquire k
			 90ms e info acquire k err timeout` + again(look, 100, 340) + end},
		{name: "of texts that come back", header: "ttl 100ms", want: Pass, history: unknown + renewed + end + comesBack},
		{name: "of texts that come back, though the node did not answer in between", header: "ttl 100ms", want: Pass, history: unknown + renewed + end + look(720, 90) + gone(740) + `
			 750ms witness fail key node n1 value sample err timeout` + gone(755) + look(760, 90)},
		{name: "of a text that comes back in the place of another", header: "ttl 100ms", want: Pass, history: unknown + renewed + end + other(720, 90) + look(725, 90) + gone(730) + other(735, 90) + look(740, 90)},
		{name: "of a text that came back once", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 11]"}, history: unknown + renewed + end + look(720, 90) + gone(740)},
		{name: "set by somebody whom nobody saw ask", header: "ttl 100ms", want: Pass, history: strings.Replace(sampled, "pttl -2", "holder x pttl 90", 1) + again(look, 40, 340) + end + "\n710ms b invoke acquire k\n711ms b ok acquire k until 800ms"},
		{name: "of a key that was asked for before anybody looked", header: "ttl 100ms", want: Pass, history: `
			 0ns b invoke acquire k
			 1ns b ok acquire k until 100ms
			 2ms b invoke release k
			 3ms b info release k err timeout` + gone(4) + others(5) + again(look, 20, 340) + end},
		{name: "by one who had asked before anybody looked, and is not answered", header: "ttl 100ms", want: Pass, history: `
			 0ms b invoke acquire k` + gone(20) + others(25) + again(look, 40, 340) + `
			345ms b ok acquire k until 445ms`},
		{name: "after a release that was acknowledged", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 5 9]"}, history: held + `
			 25ms b invoke release k
			 26ms b ok release k` + renewed + end},
		{name: "after a release that was acknowledged just when somebody else was refused", header: "ttl 100ms", want: Fail, violations: []string{"L8 [3 7 11]"}, history: sampled + `
			 12ms d invoke acquire k` + acquired + `
			 25ms b invoke release k
			 26ms b ok release k
			 26ms d fail acquire k err held` + renewed + end},
		{name: "while others are refused who had asked later", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 13]"}, history: unknown + again(look, 60, 180) + others(190) + again(look, 220, 340) + end},
		{name: "no later than clocks are apart", header: "ttl 100ms epsilon 60ms", want: Pass, history: unknown + renewed + end},
		{name: "no longer after than a release may take", header: "ttl 100ms", want: Pass, history: unknown + again(look, 56, 256) + others(285) + gone(290)},
		{name: "no longer after a fault than a release may take", header: "ttl 100ms", want: Pass, history: unknown + cut + again(look, 60, 180) + healedAt210 + again(look, 220, 340) + others(350) + gone(360)},
		{name: "while the harness stood still for as long", header: "ttl 100ms", want: Pass, suspicious: []string{"L8 [2 11]"}, history: unknown + renewed + end + "\n800ms nemesis ok stall began 130ms ended 254ms"},
		{name: "while the harness stood still for not as long", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 11]"}, history: unknown + renewed + end + "\n800ms nemesis ok stall began 130ms ended 253ms"},
		{name: "after a fault, while the harness stood still for as long", header: "ttl 100ms", want: Pass, suspicious: []string{"L8 [2 18]"}, history: unknown + cut + again(look, 60, 180) + healedAt210 + again(look, 220, 500) + others(510) + gone(700) + "\n800ms nemesis ok stall began 230ms ended 430ms"},
		{name: "after a fault, while the harness stood still for not as long", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 18]"}, history: unknown + cut + again(look, 60, 180) + healedAt210 + again(look, 220, 500) + others(510) + gone(700) + "\n800ms nemesis ok stall began 230ms ended 429ms"},
		{name: "while one who had asked before is still asking", header: "ttl 100ms", want: Pass, history: sampled + `
			  5ms d invoke acquire k` + acquired + `
			 25ms b invoke release k
			 26ms b info release k err timeout` + renewed + end + "\n710ms d fail acquire k err held"},
		{name: "of a client that is cut off", header: "ttl 100ms", want: Pass, history: unknown + cut + renewed + healed + end},
		{name: "of a client that was cut off until a while ago", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 15]"}, history: unknown + soon + look(60, 90) + healedSoon + again(look, 100, 380) + end},
		{name: "beside somebody who had nothing to do with it and is cut off", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 13]"}, history: unknown + cutOther + renewed + healedOther + end},
		{name: "of a node that did not answer in between", header: "ttl 100ms", want: Pass, history: unknown + again(look, 60, 180) + `
			 190ms witness fail key node n1 value sample err timeout
			 191ms c invoke acquire k` + again(look, 200, 480) + "\n490ms c fail acquire k err held" + gone(700)},
	})
}

func sampledLeftovers() []boundCase {
	undo := map[string]int64{"undo_ns": 30 * ms}
	const refused = sampled + `
		 15ms b invoke acquire k
		 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
		 21ms b fail acquire k err held`
	later := func(at, what string) string { // somebody else asks, and is granted the key
		return "\n40ms c invoke acquire k" + on(at, "n1", what) + "\n53ms c ok acquire k until 139ms"
	}
	faulted := func(first, seen string) string { // until 1 ns at n1
		return sampled + `
			  0ns nemesis invoke fault stall target {"nodes":["n1"]}
			  0ns nemesis ok fault stall target {"nodes":["n1"]} receipt r
			  0ns nemesis invoke heal stall target {"nodes":["n1"]}
			  1ns nemesis ok heal stall target {"nodes":["n1"]} receipt r
			190ms b invoke acquire k` + on(first, "n1", "holder x pttl 99") + `
			210ms b fail acquire k err held` + on(seen, "n1", "holder x pttl 38") + `
			320ms b invoke acquire k
			321ms b ok acquire k until 410ms`
	}
	return []boundCase{
		{bounds: undo, verdictCase: verdictCase{
			name: "of a refused attempt, longer than undo may take", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 4]"},
			history: refused + `
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a refused attempt, gone in time", header: "ttl 100ms", want: Pass,
			history: refused + `
				 51ms witness ok key k node n1 value sample note lock:k began 51ms holder x pttl 64
				 52ms witness ok key k node n1 value sample note lock:k began 52ms pttl -2
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a refused attempt, looked at for so long that it may have gone in time", header: "ttl 100ms", want: Pass,
			history: refused + `
				 52ms witness ok key k node n1 value sample note lock:k began 51ms holder x pttl 63
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a refused attempt, without an expiry", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 4]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl -1
				 21ms b fail acquire k err held
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl -1
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a refused attempt, with a look in between that says nothing", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 5]"},
			history: refused + `
				 40ms witness ok key k node n1 value sample note lock:k began 40ms
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a refused attempt, last seen by a look in vain", header: "ttl 100ms", want: Pass,
			history: refused + `
				 22ms witness fail key k node n1 value sample note lock:k began 22ms holder x pttl 93 err timeout
				 53ms witness ok key k node n1 value sample note lock:k began 53ms holder x pttl 62
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who still asks", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 80ms witness ok key k node n1 value sample note lock:k began 80ms holder x pttl 35
				 81ms b ok acquire k until 110ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who holds", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b ok acquire k until 110ms
				 80ms witness ok key k node n1 value sample note lock:k began 80ms holder x pttl 35`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who holds, and has extended it", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b ok acquire k until 110ms
				 80ms b invoke extend k
				 81ms b ok extend k until 180ms
				 90ms witness ok key k node n1 value sample note lock:k began 90ms holder x pttl 90
				155ms witness ok key k node n1 value sample note lock:k began 155ms holder x pttl 25
				160ms b invoke release k
				161ms b ok release k`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who holds it twice, and may have given back once", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 200
				 21ms b ok acquire k until 110ms
				 80ms b invoke acquire k
				 81ms b ok acquire k until 170ms
				 82ms b invoke release k
				 83ms b info release k err timeout
				155ms witness ok key k node n1 value sample note lock:k began 155ms holder x pttl 65
				156ms b0 invoke release k owner b
				157ms b0 ok release k owner b`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who holds, and was refused to give back an older lease", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 21ms b ok acquire k until 50ms fence 1
				 60ms b invoke acquire k
				 61ms b ok acquire k until 160ms fence 2
				 62ms witness ok key k node n1 value sample note lock:k began 62ms holder x pttl 98
				 63ms b invoke release k fence 1
				 64ms b fail release k fence 1 err lost
				155ms witness ok key k node n1 value sample note lock:k began 155ms holder x pttl 5
				156ms b invoke release k fence 2
				157ms b ok release k fence 2`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who holds, and may have given back an older lease", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 21ms b ok acquire k until 50ms fence 1
				 60ms b invoke acquire k
				 61ms b ok acquire k until 160ms fence 2
				 62ms witness ok key k node n1 value sample note lock:k began 62ms holder x pttl 98
				 63ms b invoke release k fence 1
				 64ms b info release k fence 1 err timeout
				155ms witness ok key k node n1 value sample note lock:k began 155ms holder x pttl 5
				156ms b0 invoke release k fence 2 owner b
				157ms b0 ok release k fence 2 owner b`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a released lease, longer than the release may take", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 5 6]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b ok acquire k until 110ms
				 25ms b invoke release k
				 26ms b ok release k
				 57ms witness ok key k node n1 value sample note lock:k began 57ms holder x pttl 58`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of attempts refused at the same time, which one node was seen to store before that and another one after", header: "ttl 100ms", want: Fail, violations: []string{"L8 [3 5 7]", "L8 [5 6 8]"},
			history: sampled + `
				 15ms b invoke acquire k
				 16ms c invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b fail acquire k err held
				 21ms c fail acquire k err held
				 25ms witness ok key k node n2 value sample note lock:k began 25ms holder x pttl 90
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 56ms witness ok key k node n2 value sample note lock:k began 56ms holder x pttl 59
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a refused attempt, while others are refused who had asked later", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 6]"},
			history: refused + `
				 30ms c invoke acquire k
				 40ms c fail acquire k err held
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a lease that had run out when its owner took the key anew elsewhere", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"L8 [2 9]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 200
				 21ms b ok acquire k until 50ms fence 1
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms fence 2
				 75ms witness ok key k node n1 value sample note lock:k began 75ms holder x pttl 145
				140ms b invoke release k fence 2
				141ms b ok release k fence 2
				160ms witness ok key k node n1 value sample note lock:k began 160ms holder x pttl 60`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who was promised it for longer than the TTL", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 290
				 21ms b ok acquire k until 300ms
				170ms witness ok key k node n1 value sample note lock:k began 170ms holder x pttl 140
				180ms b invoke release k
				181ms b ok release k`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of somebody who holds, and may have extended what he did not know yet", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 16ms b0 invoke extend k owner b
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 200
				 21ms b ok acquire k until 110ms
				 80ms b0 info extend k owner b err timeout
				155ms witness ok key k node n1 value sample note lock:k began 155ms holder x pttl 65`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a lease that had run out just when a node was looked at, and was given back in vain later", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 7]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 200
				 21ms b ok acquire k until 110ms
				121ms witness ok key k node n1 value sample note lock:k began 121ms holder x pttl 99
				122ms b invoke release k
				123ms b fail release k err lost
				152ms witness ok key k node n1 value sample note lock:k began 152ms holder x pttl 68`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a lease whose release is of unknown outcome, where the lock declares its undo", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 5 6]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b ok acquire k until 110ms
				 25ms b invoke release k
				 26ms b info release k err timeout
				 57ms witness ok key k node n1 value sample note lock:k began 57ms holder x pttl 58`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "set anew by somebody who asked later, under the same text", header: "ttl 100ms", want: Pass,
			history: refused + `
				 40ms c invoke acquire k
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 90
				 53ms c ok acquire k until 139ms
				 90ms witness ok key k node n1 value sample note lock:k began 90ms holder x pttl 52`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "in the place of another's by somebody who asked later, to end at the same time", header: "ttl 100ms", want: Pass,
			history: refused + later("52ms", "holder y pttl 63"),
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "to end a little later, as far as servers tell times apart", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 5]"},
			history: refused + later("52ms", "holder x pttl 67"),
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "set anew, to end a little later than that", header: "ttl 100ms", want: Pass,
			history: refused + later("52.000001ms", "holder x pttl 67"),
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "to end a little earlier, as far as servers tell times apart", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 5]"},
			history: refused + later("52ms", "holder x pttl 59"),
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "set anew, to end a little earlier than that", header: "ttl 100ms", want: Pass,
			history: refused + later("51.999999ms", "holder x pttl 59"),
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "set while the node did not answer", header: "ttl 100ms", want: Pass,
			history: refused + `
				 25ms witness fail key node n1 value sample err timeout
				 40ms c invoke acquire k
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 53ms c ok acquire k until 139ms
				 90ms witness ok key k node n1 value sample note lock:k began 90ms holder x pttl 25`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault at that node that is healed just now", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 10ms nemesis invoke fault stall target {"clients":["b"],"nodes":["n1"]}
				 10ms nemesis ok fault stall target {"clients":["b"],"nodes":["n1"]} receipt r` + refused[len(sampled):] + `
				 50ms nemesis invoke heal stall target {"clients":["b"],"nodes":["n1"]}
				 50ms nemesis ok heal stall target {"clients":["b"],"nodes":["n1"]} receipt r
				 75ms witness ok key k node n1 value sample note lock:k began 75ms holder x pttl 40
				 90ms b invoke acquire k
				 91ms b ok acquire k until 180ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "beside a fault at another node", header: "ttl 100ms nodes 3 quorum 2", want: Fail, violations: []string{"L8 [4 5 6]"},
			history: sampled + `
				 10ms nemesis invoke fault stall target {"clients":["b"],"nodes":["n2"]}
				 10ms nemesis ok fault stall target {"clients":["b"],"nodes":["n2"]} receipt r` + refused[len(sampled):] + `
				 75ms witness ok key k node n1 value sample note lock:k began 75ms holder x pttl 40
				 80ms nemesis invoke heal stall target {"clients":["b"],"nodes":["n2"]}
				 80ms nemesis ok heal stall target {"clients":["b"],"nodes":["n2"]} receipt r
				 90ms b invoke acquire k
				 91ms b ok acquire k until 180ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "beside a fault of somebody who had done with the key before", header: "ttl 200ms", want: Fail, violations: []string{"L8 [7 8 9]"},
			history: sampled + `
				  1ms c invoke acquire k
				  2ms c fail acquire k err held
				 12ms witness ok key k node n1 value sample note lock:k began 12ms pttl -2
				 14ms nemesis invoke fault stall target {"clients":["c"]}
				 14ms nemesis ok fault stall target {"clients":["c"]} receipt r` + refused[len(sampled):] + `
				 75ms witness ok key k node n1 value sample note lock:k began 75ms holder x pttl 40
				 80ms nemesis invoke heal stall target {"clients":["c"]}
				 80ms nemesis ok heal stall target {"clients":["c"]} receipt r
				 90ms b invoke acquire k
				 91ms b ok acquire k until 180ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault that begins just when it is looked at", header: "ttl 100ms", want: Pass,
			history: refused + `
				 52ms nemesis invoke fault stall target {"nodes":["n1"]}
				52ms nemesis ok fault stall target {"nodes":["n1"]} receipt r
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 53ms nemesis invoke heal stall target {"nodes":["n1"]}
				53ms nemesis ok heal stall target {"nodes":["n1"]} receipt r
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault of its client at whatever node that is healed just now", header: "ttl 100ms", want: Pass,
			history: refused + `
				 22ms nemesis invoke fault stall target {"clients":["b"]}
				22ms nemesis ok fault stall target {"clients":["b"]} receipt r
				 50ms nemesis invoke heal stall target {"clients":["b"]}
				50ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 75ms witness ok key k node n1 value sample note lock:k began 75ms holder x pttl 40
				 90ms b invoke acquire k
				 91ms b ok acquire k until 180ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "set long after anybody had asked, behind a fault at that node", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 16ms b fail acquire k err held
				100ms witness ok key k node n1 value sample note lock:k began 100ms pttl -2
				110ms nemesis invoke fault stall target {"nodes":["n1"]}
				110ms nemesis ok fault stall target {"nodes":["n1"]} receipt r
				120ms witness ok key k node n1 value sample note lock:k began 120ms holder x pttl 100
				150ms nemesis invoke heal stall target {"nodes":["n1"]}
				150ms nemesis ok heal stall target {"nodes":["n1"]} receipt r
				155ms witness ok key k node n1 value sample note lock:k began 155ms holder x pttl 65
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault of somebody who had asked for it long before it was set", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 90
				 61ms b fail acquire k err held
				 62ms nemesis invoke fault stall target {"clients":["b"]}
				62ms nemesis ok fault stall target {"clients":["b"]} receipt r
				 95ms nemesis invoke heal stall target {"clients":["b"]}
				95ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 97ms witness ok key k node n1 value sample note lock:k began 97ms holder x pttl 53
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault of somebody who held it long before it was set", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 16ms b ok acquire k until 110ms
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 90
				 61ms b invoke release k
				 62ms b ok release k
				 63ms nemesis invoke fault stall target {"clients":["b"]}
				63ms nemesis ok fault stall target {"clients":["b"]} receipt r
				 95ms nemesis invoke heal stall target {"clients":["b"]}
				95ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 97ms witness ok key k node n1 value sample note lock:k began 97ms holder x pttl 53
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{verdictCase: verdictCase{
			name: "behind a fault of somebody who may have held it long before it was set, where it declares nothing", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 16ms b info acquire k err timeout
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 190
				100ms nemesis invoke fault stall target {"clients":["b"]}
				100ms nemesis ok fault stall target {"clients":["b"]} receipt r
				101ms nemesis invoke heal stall target {"clients":["b"]}
				101ms nemesis ok heal stall target {"clients":["b"]} receipt r
				168ms witness ok key k node n1 value sample note lock:k began 168ms holder x pttl 82
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault of somebody who was refused a moment before it was not there yet", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				42.5ms b fail acquire k err held
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 90
				 62ms nemesis invoke fault stall target {"clients":["b"]}
				62ms nemesis ok fault stall target {"clients":["b"]} receipt r
				 92ms nemesis invoke heal stall target {"clients":["b"]}
				92ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 95ms witness ok key k node n1 value sample note lock:k began 95ms holder x pttl 55
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault of somebody who was refused more than a moment before it was not there yet", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 4 9]"},
			history: sampled + `
				 15ms b invoke acquire k
				42.499999ms b fail acquire k err held
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 90
				 62ms nemesis invoke fault stall target {"clients":["b"]}
				62ms nemesis ok fault stall target {"clients":["b"]} receipt r
				 92ms nemesis invoke heal stall target {"clients":["b"]}
				92ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 95ms witness ok key k node n1 value sample note lock:k began 95ms holder x pttl 55
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault of somebody whose request another one may have held back", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 16ms b fail acquire k err held
				23.5ms nemesis invoke fault stall target {"clients":["b"]}
				23.5ms nemesis ok fault stall target {"clients":["b"]} receipt r
				42.5ms nemesis invoke heal stall target {"clients":["b"]}
				42.5ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 90
				 62ms nemesis invoke fault stall target {"clients":["b"]}
				62ms nemesis ok fault stall target {"clients":["b"]} receipt r
				 92ms nemesis invoke heal stall target {"clients":["b"]}
				92ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 95ms witness ok key k node n1 value sample note lock:k began 95ms holder x pttl 55
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "behind a fault of somebody whose request another one at a node cannot have held back", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 8 13]"},
			history: sampled + `
				 15ms b invoke acquire k
				 16ms b fail acquire k err held
				23.5ms nemesis invoke fault stall target {"nodes":["n2"]}
				23.5ms nemesis ok fault stall target {"nodes":["n2"]} receipt r
				42.5ms nemesis invoke heal stall target {"nodes":["n2"]}
				42.5ms nemesis ok heal stall target {"nodes":["n2"]} receipt r
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 90
				 62ms nemesis invoke fault stall target {"clients":["b"]}
				62ms nemesis ok fault stall target {"clients":["b"]} receipt r
				 92ms nemesis invoke heal stall target {"clients":["b"]}
				92ms nemesis ok heal stall target {"clients":["b"]} receipt r
				 95ms witness ok key k node n1 value sample note lock:k began 95ms holder x pttl 55
				170ms c invoke acquire k
				171ms c ok acquire k until 260ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of a client that crashed: it ends with its TTL", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b ok acquire k until 110ms
				 22ms b invoke release k
				 23ms nemesis invoke fault crash-client target {"clients":["b"]}
				 23ms nemesis ok fault crash-client target {"clients":["b"]} receipt r
				 24ms b info release k err crashed
				 30ms nemesis invoke heal crash-client target {"clients":["b"]}
				 30ms nemesis ok heal crash-client target {"clients":["b"]} receipt r
				 90ms witness ok key k node n1 value sample note lock:k began 90ms holder x pttl 25`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "of an attempt of unknown outcome, where the lock declares its undo", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 4]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b info acquire k err timeout
				 60ms witness ok key k node n1 value sample note lock:k began 60ms holder x pttl 55
				 70ms c invoke acquire k
				 71ms c ok acquire k until 160ms`,
		}},
		{verdictCase: verdictCase{
			name: "of an attempt of unknown outcome, where it declares nothing", header: "ttl 100ms", want: Pass,
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 95
				 21ms b info acquire k err timeout
				 90ms witness ok key k node n1 value sample note lock:k began 90ms holder x pttl 25
				120ms c invoke acquire k
				121ms c ok acquire k until 210ms`,
		}},
		{verdictCase: verdictCase{
			name: "of an attempt of unknown outcome, for longer than its TTL and half of one", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 5]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 200
				 21ms b info acquire k err timeout
				160ms witness ok key k node n1 value sample note lock:k began 160ms holder x pttl 60
				172ms witness ok key k node n1 value sample note lock:k began 172ms holder x pttl 48
				230ms c invoke acquire k
				231ms c ok acquire k until 320ms`,
		}},
		{verdictCase: verdictCase{
			name: "of a lease whose release was refused, for longer than its TTL and half of one, where it declares nothing", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 8]"},
			history: sampled + `
				 15ms b invoke acquire k
				 20ms witness ok key k node n1 value sample note lock:k began 20ms holder x pttl 300
				 21ms b ok acquire k until 110ms
				 80ms b invoke release k
				 81ms b fail release k err lost
				150ms witness ok key k node n1 value sample note lock:k began 150ms holder x pttl 170
				175ms witness ok key k node n1 value sample note lock:k began 175ms holder x pttl 145
				240ms witness ok key k node n1 value sample note lock:k began 240ms holder x pttl 80
				330ms c invoke acquire k
				331ms c ok acquire k until 420ms`,
		}},
		{verdictCase: verdictCase{
			name: "of a refused attempt, for half a TTL, where it declares nothing", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 4]"},
			history: refused + `
				 73ms witness ok key k node n1 value sample note lock:k began 73ms holder x pttl 42
				120ms c invoke acquire k
				121ms c ok acquire k until 210ms`,
		}},
		{verdictCase: verdictCase{
			name: "at a node of which a fault ended two TTLs before it was first seen, where it declares nothing", header: "ttl 100ms", want: Pass,
			history: faulted("200.000001ms", "261ms"),
		}},
		{verdictCase: verdictCase{
			name: "at a node of which a fault ended more than two TTLs before it was first seen", header: "ttl 100ms", want: Fail, violations: []string{"L8 [6 7 8]"},
			history: faulted("200.000002ms", "261ms"),
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "while the harness stood still", header: "ttl 100ms", want: Pass, suspicious: []string{"L8 [2 3 4]"},
			history: refused + `
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 53ms nemesis ok stall began 30ms ended 45ms
				 60ms b invoke acquire k
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: undo, verdictCase: verdictCase{
			name: "for so long that no standstill explains it", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 4]"},
			history: refused + `
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 63
				 53ms nemesis ok stall began 30ms ended 45ms
				 90ms witness ok key k node n1 value sample note lock:k began 90ms holder x pttl 25
				120ms b invoke acquire k
				121ms b ok acquire k until 210ms`,
		}},
	}
}

func TestUnservedWaiters(t *testing.T) { runBounds(t, unservedWaiters()) }

func unservedWaiters() []boundCase {
	wake := map[string]int64{"wake_ns": 30 * ms}
	woken := map[string]int64{"wake_ns": 500 * ms, "woken_ns": 30 * ms}
	swift := map[string]int64{"wake_ns": 30 * ms, "undo_ns": 5 * ms}
	patient := map[string]int64{"retry_ns": math.MaxInt64 / 2}
	const waiting = `
		  0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2
		  0ms witness ok key k node n2 value sample note lock:k began 0ms pttl -2
		  0ms witness ok key k node n3 value sample note lock:k began 0ms pttl -2
		  1ms a invoke acquire k
		  2ms a ok acquire k until 90ms
		  3ms witness ok key k node n1 value sample note lock:k began 3ms holder x pttl 90
		  3ms witness ok key k node n2 value sample note lock:k began 3ms holder x pttl 90
		  5ms b invoke acquire k note wait
		 10ms a invoke release k
		 11ms a ok release k
		 12ms witness ok key k node n1 value sample note lock:k began 12ms pttl -2
		 12ms witness ok key k node n2 value sample note lock:k began 12ms pttl -2`
	crashed := strings.Replace(waiting, "10ms a invoke release k\n\t\t 11ms a ok release k", `10ms nemesis invoke fault crash-client target {"clients":["a"]}
		 10ms nemesis ok fault crash-client target {"clients":["a"]} receipt r
		 11ms nemesis invoke heal crash-client target {"clients":["a"]}
		 11ms nemesis ok heal crash-client target {"clients":["a"]} receipt r`, 1)
	kept := strings.Replace(waiting, "10ms a invoke release k\n\t\t 11ms a ok release k", "11ms witness ok key k node n3 value sample note lock:k began 11ms pttl -2", 1)
	fault := func(at string) string { // until 1 ns
		return strings.Replace(waiting, "\n\t\t  1ms", `
		  0ns nemesis invoke fault stall target {"nodes":["`+at+`"]}
		  0ns nemesis ok fault stall target {"nodes":["`+at+`"]} receipt r
		  0ns nemesis invoke heal stall target {"nodes":["`+at+`"]}
		  1ns nemesis ok heal stall target {"nodes":["`+at+`"]} receipt r
		  1ms`, 1)
	}
	const header = "ttl 100ms nodes 3 quorum 2"
	return []boundCase{
		{bounds: wake, verdictCase: verdictCase{
			name: "while the lock may keep a node out that was killed long before", header: header, want: Pass,
			history: `
				  0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2
				  0ms witness ok key k node n2 value sample note lock:k began 0ms pttl -2
				  0ms witness ok key k node n3 value sample note lock:k began 0ms pttl -2
				  1ms nemesis invoke fault kill target {"nodes":["n1"]}
				  1ms nemesis ok fault kill target {"nodes":["n1"]} receipt r
				  1ms nemesis invoke heal kill target {"nodes":["n1"]}
				  1ms nemesis ok heal kill target {"nodes":["n1"]} receipt r
				186ms a invoke acquire k
				187ms a ok acquire k until 280ms
				188ms witness ok key k node n1 value sample note lock:k began 188ms holder x pttl 98
				188ms witness ok key k node n2 value sample note lock:k began 188ms holder x pttl 98
				190ms b invoke acquire k note wait
				195ms a invoke release k
				196ms a ok release k
				197ms witness ok key k node n1 value sample note lock:k began 197ms pttl -2
				197ms witness ok key k node n2 value sample note lock:k began 197ms pttl -2
				228ms witness ok key k node n1 value sample note lock:k began 228ms pttl -2
				228ms witness ok key k node n2 value sample note lock:k began 228ms pttl -2
				235ms b ok acquire k until 330ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "free at a quorum, and not served in time", header: header, want: Fail, violations: []string{"L2 [7 13]"},
			history: waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "free at a quorum, and somebody in line is not served in time", header: header, want: Fail, violations: []string{"L2 [7 13]"},
			history: strings.Replace(waiting, "note wait", "note fair", 1) + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "free at the only node", header: "ttl 100ms", want: Fail, violations: []string{"L2 [3 7]"},
			history: `
				  0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2
				  1ms a invoke acquire k
				  2ms a ok acquire k until 90ms
				  5ms b invoke acquire k note wait
				 10ms a invoke release k
				 11ms a ok release k
				 12ms witness ok key k node n1 value sample note lock:k began 12ms pttl -2
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "not served in time, by less than clocks are apart", header: header + " epsilon 1ms", want: Pass,
			history: waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: patient, verdictCase: verdictCase{
			name: "not served in time, where nothing is too long", header: header + " epsilon 1ms", want: Pass,
			history: waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "while the harness stood still", header: header, want: Pass, suspicious: []string{"L2 [7 13]"},
			history: waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 44ms nemesis ok stall began 20ms ended 22ms
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "for so long that no standstill explains it", header: header, want: Fail, violations: []string{"L2 [7 13]"},
			history: waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 44ms nemesis ok stall began 20ms ended 22ms
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 50ms witness ok key k node n2 value sample note lock:k began 50ms pttl -2
				 51ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "somebody had asked for it before anybody looked", header: header, want: Pass,
			history: "\n0ms z invoke acquire k" + waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 44ms z fail acquire k err held
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "served in time, and free for long when nobody waits any more", header: header, want: Pass,
			history: waiting + `
				 13ms b ok acquire k until 100ms
				 14ms b invoke release k
				 15ms b ok release k
				 16ms witness ok key k node n1 value sample note lock:k began 16ms pttl -2
				 16ms witness ok key k node n2 value sample note lock:k began 16ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms pttl -2
				 60ms witness ok key k node n2 value sample note lock:k began 60ms pttl -2`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "stored by nobody for long, and given back only now", header: header, want: Pass,
			history: kept + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 44ms a invoke release k
				 45ms a ok release k
				 46ms witness ok key k node n1 value sample note lock:k began 46ms pttl -2
				 46ms witness ok key k node n2 value sample note lock:k began 46ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "stored by nobody for long, and perhaps given back only now", header: header, want: Pass,
			history: kept + `
				 44ms a invoke release k
				 45ms a info release k err timeout
				 46ms witness ok key k node n1 value sample note lock:k began 46ms pttl -2
				 46ms witness ok key k node n2 value sample note lock:k began 46ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "stored by nobody for long, and run out only now", header: header, want: Pass,
			history: kept + `
				115ms witness ok key k node n1 value sample note lock:k began 115ms pttl -2
				115ms witness ok key k node n2 value sample note lock:k began 115ms pttl -2
				116ms b ok acquire k until 200ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "free at a quorum only since a while ago", header: header, want: Pass,
			history: waiting + `
				 13ms witness ok key k node n2 value sample note lock:k began 13ms holder x pttl 90
				 25ms witness ok key k node n2 value sample note lock:k began 25ms pttl -2
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 44ms witness ok key k node n2 value sample note lock:k began 44ms pttl -2
				 45ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "served in time", header: header, want: Pass,
			history: waiting + `
				 41ms witness ok key k node n1 value sample note lock:k began 41ms pttl -2
				 41ms witness ok key k node n2 value sample note lock:k began 41ms pttl -2
				 42ms b ok acquire k until 130ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "free at a minority", header: header, want: Pass,
			history: waiting + `
				 13ms witness ok key k node n2 value sample note lock:k began 13ms holder y pttl 90
				 13ms witness ok key k node n3 value sample note lock:k began 13ms holder y pttl 90
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms holder y pttl 60
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "stored under two names, of which a quorum was not asked for one", header: header, want: Pass,
			history: waiting + `
				 12ms witness ok key k node n1 value sample note queue:k began 12ms pttl -2
				 43ms witness ok key k node n1 value sample note queue:k began 43ms pttl -2
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "one that does not wait, but tries once", header: header, want: Pass,
			history: strings.Replace(waiting, " note wait", "", 1) + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "while a fault is in force", header: header, want: Pass,
			history: waiting + `
				 13ms nemesis invoke fault notify-lost target {"clients":["a","b"],"nodes":["n1"]}
				 13ms nemesis ok fault notify-lost target {"clients":["a","b"],"nodes":["n1"]} receipt r
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 44ms nemesis invoke heal notify-lost target {"clients":["a","b"],"nodes":["n1"]}
				 44ms nemesis ok heal notify-lost target {"clients":["a","b"],"nodes":["n1"]} receipt r
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "behind somebody who gave up, and may still stand in line", header: header, want: Pass,
			history: strings.Replace(waiting, "\n\t\t  1ms", "\n\t\t 0ns c invoke acquire k note wait\n\t\t 1ns c fail acquire k err held\n\t\t  1ms", 1) + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "behind somebody who gave up, until one who came later was served", header: header, want: Fail, violations: []string{"L2 [7 21]"},
			history: waiting + `
				 13ms c invoke acquire k note wait
				 14ms c fail acquire k err held
				 15ms d invoke acquire k note wait
				 16ms d ok acquire k until 100ms
				 17ms d invoke release k
				 18ms d ok release k
				 19ms witness ok key k node n1 value sample note lock:k began 19ms pttl -2
				 19ms witness ok key k node n2 value sample note lock:k began 19ms pttl -2
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 50ms witness ok key k node n2 value sample note lock:k began 50ms pttl -2
				 51ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "behind somebody who gave up, until one was served who came at that instant", header: header, want: Pass,
			history: waiting + `
				 13ms c invoke acquire k note wait
				 14ms c fail acquire k err held
				 14ms d invoke acquire k note wait
				 16ms d ok acquire k until 100ms
				 17ms d invoke release k
				 18ms d ok release k
				 19ms witness ok key k node n1 value sample note lock:k began 19ms pttl -2
				 19ms witness ok key k node n2 value sample note lock:k began 19ms pttl -2
				 50ms witness ok key k node n1 value sample note lock:k began 50ms pttl -2
				 50ms witness ok key k node n2 value sample note lock:k began 50ms pttl -2
				 51ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "behind a fault that ended just before anybody waited", header: header, want: Pass,
			history: fault("n1") + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "behind a fault of the guarded store's", header: header, want: Fail, violations: []string{"L2 [11 17]"},
			history: fault("store") + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: swift, verdictCase: verdictCase{
			name: "while a fault held up somebody who had given it back as long before as that may take", header: header, want: Pass,
			history: waiting + `
				 16ms nemesis invoke fault pause-client target {"clients":["a"]}
				16ms nemesis ok fault pause-client target {"clients":["a"]} receipt r
				 17ms nemesis invoke heal pause-client target {"clients":["a"]}
				17ms nemesis ok heal pause-client target {"clients":["a"]} receipt r
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: swift, verdictCase: verdictCase{
			name: "while a fault held up the one who waits", header: header, want: Pass,
			history: waiting + `
				 20ms nemesis invoke fault pause-client target {"clients":["b"]}
				20ms nemesis ok fault pause-client target {"clients":["b"]} receipt r
				 21ms nemesis invoke heal pause-client target {"clients":["b"]}
				21ms nemesis ok heal pause-client target {"clients":["b"]} receipt r
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "given back, and not woken", header: header, want: Fail, violations: []string{"L2 [7 13]"},
			history: waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "given back, and woken in time", header: header, want: Pass,
			history: waiting + `
				 41ms witness ok key k node n1 value sample note lock:k began 41ms pttl -2
				 41ms witness ok key k node n2 value sample note lock:k began 41ms pttl -2
				 42ms b ok acquire k until 130ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "one who came when the key was being given back", header: header, want: Pass,
			history: strings.Replace(waiting, "5ms b invoke acquire k note wait\n\t\t 10ms a invoke release k", "5ms a invoke release k\n\t\t 10ms b invoke acquire k note wait", 1) + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "one who came at the instant at which the key was being given back", header: header, want: Pass,
			history: strings.Replace(waiting, "5ms b invoke", "10ms b invoke", 1) + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "a release that is refused wakes nobody", header: header, want: Pass,
			history: strings.Replace(waiting, "11ms a ok release k", "11ms a fail release k err lost", 1) + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "free within half of the bound after it was given back", header: header, want: Fail, violations: []string{"L2 [7 17]"},
			history: waiting + `
				 13ms witness ok key k node n2 value sample note lock:k began 13ms holder x pttl 14
				 13ms witness ok key k node n3 value sample note lock:k began 13ms holder x pttl 14
				 26ms witness ok key k node n1 value sample note lock:k began 26ms pttl -2
				 26ms witness ok key k node n2 value sample note lock:k began 26ms pttl -2
				 57ms witness ok key k node n1 value sample note lock:k began 57ms pttl -2
				 57ms witness ok key k node n2 value sample note lock:k began 57ms pttl -2
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "a lease that ran out wakes nobody", header: header, want: Pass,
			history: strings.Replace(waiting, "10ms a invoke release k\n\t\t 11ms a ok release k", "11ms a ok lost k", 1) + `
				150ms witness ok key k node n1 value sample note lock:k began 150ms pttl -2
				150ms witness ok key k node n2 value sample note lock:k began 150ms pttl -2
				190ms witness ok key k node n1 value sample note lock:k began 190ms pttl -2
				190ms witness ok key k node n2 value sample note lock:k began 190ms pttl -2
				195ms b ok acquire k until 240ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "a release of unknown outcome may have woken nobody", header: header, want: Pass,
			history: strings.Replace(waiting, "11ms a ok release k", "11ms a info release k err timeout", 1) + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
		}},
		{bounds: woken, verdictCase: verdictCase{
			name: "free only long after it was given back", header: header, want: Pass,
			history: waiting + `
				 13ms witness ok key k node n2 value sample note lock:k began 13ms holder x pttl 14
				 13ms witness ok key k node n3 value sample note lock:k began 13ms holder x pttl 14
				 28ms witness ok key k node n1 value sample note lock:k began 28ms pttl -2
				 28ms witness ok key k node n2 value sample note lock:k began 28ms pttl -2
				 60ms witness ok key k node n1 value sample note lock:k began 60ms pttl -2
				 60ms witness ok key k node n2 value sample note lock:k began 60ms pttl -2
				 61ms b ok acquire k until 150ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "its holder is no more, and nobody wakes it for as long as any key may stay without a grant", header: header, want: Fail, violations: []string{"L2 [7 17]"},
			history: crashed + `
				 150ms witness ok key k node n1 value sample note lock:k began 150ms pttl -2
				 150ms witness ok key k node n2 value sample note lock:k began 150ms pttl -2
				 1100ms witness ok key k node n1 value sample note lock:k began 1100ms pttl -2
				 1100ms witness ok key k node n2 value sample note lock:k began 1100ms pttl -2
				1200ms b ok acquire k until 1290ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "its holder is no more, and what that left behind may be why nobody was served until then", header: header, want: Pass,
			history: crashed + `
				 150ms witness ok key k node n1 value sample note lock:k began 150ms pttl -2
				 150ms witness ok key k node n2 value sample note lock:k began 150ms pttl -2
				 760ms witness ok key k node n1 value sample note lock:k began 760ms pttl -2
				 760ms witness ok key k node n2 value sample note lock:k began 760ms pttl -2
				761ms b ok acquire k until 850ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "its holder is no more, and it looks again by itself before long", header: header, want: Pass,
			history: crashed + `
				 150ms witness ok key k node n1 value sample note lock:k began 150ms pttl -2
				 150ms witness ok key k node n2 value sample note lock:k began 150ms pttl -2
				 690ms witness ok key k node n1 value sample note lock:k began 690ms pttl -2
				 690ms witness ok key k node n2 value sample note lock:k began 690ms pttl -2
				700ms b ok acquire k until 790ms`,
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "while a fault holds up somebody else, elsewhere", header: header, want: Fail, violations: []string{"L2 [7 15]"},
			history: waiting + `
				 13ms nemesis invoke fault pause-client target {"clients":["d"]}
				 13ms nemesis ok fault pause-client target {"clients":["d"]} receipt r
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 44ms nemesis invoke heal pause-client target {"clients":["d"]}
				 44ms nemesis ok heal pause-client target {"clients":["d"]} receipt r
				 50ms b ok acquire k until 140ms`,
		}},
	}
}

func TestBarredKeys(t *testing.T) { runBounds(t, barredKeys()) }

// refused are attempts of c and d in turn, ten milliseconds apart, with the key not stored by
// any of three nodes between them.
func refused(from, to int) string {
	var b strings.Builder
	for t, who := from, 0; t <= to; t, who = t+10, 1-who {
		c := string(rune('c' + who))
		fmt.Fprintf(&b, "\n%dms %s invoke acquire k\n%dms %s fail acquire k err held%s", t, c, t+1, c, looksAtAll(t+2))
	}
	return b.String()
}

// failing are attempts of as many clients, one after another, that end in an error.
func failing(from, to int) string {
	var b strings.Builder
	for t := from; t <= to; t += 10 {
		fmt.Fprintf(&b, "\n%dms f%d invoke acquire k\n%dms f%[2]d info acquire k err NOSCRIPT%[4]s", t, t, t+1, looksAtAll(t+2))
	}
	return b.String()
}

// looksAtAll are looks at three nodes, none of which stores the key.
func looksAtAll(at int) (looks string) {
	for n := range 3 {
		looks += on(fmt.Sprintf("%dms", at), fmt.Sprintf("n%d", n+1), "pttl -2")
	}
	return looks
}

// fault is a fault from one instant to another, in milliseconds.
func fault(from, to int, what string) string {
	return fmt.Sprintf("\n%dms nemesis invoke fault %[2]s\n%[1]dms nemesis ok fault %[2]s receipt r\n%[3]dms nemesis invoke heal %[2]s\n%[3]dms nemesis ok heal %[2]s receipt r", from, what, to)
}

func barredKeys() []boundCase {
	wake := map[string]int64{"wake_ns": 60 * ms}
	const many = ledger.MostFaults + 1
	const header = "ttl 20ms nodes 3 quorum 2"
	const theirs, forgetful = `pause-client target {"clients":["c"]}`, `kill-empty target {"nodes":["n1","n2"]}`
	before := looksAtAll(0) + `
		  1ms a invoke acquire k
		  2ms a ok acquire k until 20ms
		  3ms a invoke release k
		  4ms a ok release k`
	return []boundCase{
		{bounds: wake, verdictCase: verdictCase{
			name: "everybody is refused for longer than a waiter may wait", header: header, want: Fail, violations: []string{"L2 [7 43]"},
			history: before + refused(10, 90),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "not for longer", header: header, want: Pass, history: before + refused(10, 70),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "for that long, and then granted, and again", header: header, want: Pass,
			history: before + refused(10, 60) + "\n66ms d invoke acquire k\n67ms d ok acquire k until 80ms\n68ms d invoke release k\n69ms d ok release k" + refused(72, 132),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "behind an attempt of unknown outcome, which may have had it", header: header, want: Pass,
			history: before + "\n10ms b invoke acquire k\n40ms b info acquire k err timeout" + refused(50, 120),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "and every answer is an error", header: header, want: Fail, violations: []string{"L2 [7 53]"},
			history: before + failing(10, 130),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "and every answer is an error, but not for longer than the first may keep others out", header: header, want: Pass,
			history: before + failing(10, 90),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "and every answer is an error, since they crashed", header: header, want: Pass,
			history: before + strings.Replace(fault(9, 133, `crash-client target {"clients":["f10","f20","f30","f40","f50","f60","f70","f80","f90","f100","f110","f120","f130"]}`), "\n133ms nemesis invoke heal", failing(10, 130)+"\n133ms nemesis invoke heal", 1),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "somebody holds it", header: header, want: Pass,
			history: strings.Replace(before, "until 20ms\n\t\t  3ms a invoke release k\n\t\t  4ms a ok release k", "until 120ms", 1) + refused(10, 90) + "\n99ms a invoke release k\n99ms a ok release k",
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "everybody who asked for other keys too is refused", header: header, want: Pass,
			history: before + strings.ReplaceAll(refused(10, 90), "invoke acquire k", "invoke acquire k note multi"),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "for longer, by less than clocks are apart", header: header + " epsilon 10ms", want: Pass,
			history: before + refused(10, 80),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "three times, of which two at once", header: header, want: Fail, violations: []string{"L2 [7 15]"},
			history: before + `
				 10ms c invoke acquire k
				 60ms c fail acquire k err held
				 75ms d invoke acquire k
				 75ms e invoke acquire k
				 76ms d fail acquire k err held` + looksAtAll(77) + `
				 78ms e fail acquire k err held` + looksAtAll(79),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "as long after one another as a contender may take", header: header, want: Fail, violations: []string{"L2 [7 28]"},
			history: before + refused(10, 40) + refused(81, 81),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "while the harness stood still for as long", header: header, want: Pass, suspicious: []string{"L2 [7 43]"},
			history: before + refused(10, 80) + "\n83ms nemesis ok stall began 30ms ended 40ms",
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "while the harness stood still for not as long", header: header, want: Fail, violations: []string{"L2 [7 43]"},
			history: before + refused(10, 80) + "\n83ms nemesis ok stall began 30ms ended 39ms",
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "while the harness stood still, and then for longer", header: header, want: Fail, violations: []string{"L2 [7 43]"},
			history: before + refused(10, 80) + fault(84, 85, theirs) + refused(90, 200) + "\n203ms nemesis ok stall began 12ms ended 70ms",
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "and then while the harness stood still", header: header, want: Fail, violations: []string{"L2 [7 43]"},
			history: before + refused(10, 150) + fault(154, 155, theirs) + refused(160, 260) + "\n263ms nemesis ok stall began 160ms ended 245ms",
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "while the harness stood still, and then for as long", header: header, want: Pass, suspicious: []string{"L2 [7 43]"},
			history: before + refused(10, 150) + fault(154, 155, theirs) + refused(165, 295) + "\n298ms nemesis ok stall began 20ms ended 110ms",
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "a fault of theirs in the midst of it", header: header, want: Pass,
			history: before + refused(10, 40) + fault(44, 45, theirs) + refused(50, 100),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "long behind more faults than are looked through", header: header, want: Fail, violations: []string{fmt.Sprintf("L2 [%d %d]", 7+4*many, 43+4*many)},
			history: before + strings.Repeat(fault(5, 5, `latency target {"nodes":["n1"]}`), many) + refused(60, 140),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "soon behind more faults than are looked through", header: header, want: Pass,
			history: before + strings.Repeat(fault(30, 30, `latency target {"nodes":["n1"]}`), many) + refused(60, 140),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "since somebody meets nodes that forgot, but not for longer than they may be kept out", header: header, want: Pass,
			history: before + fault(5, 6, forgetful) + refused(200, 290),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "since somebody meets nodes that forgot, for longer than they may be kept out", header: header, want: Fail, violations: []string{"L2 [11 67]"},
			history: before + fault(5, 6, forgetful) + refused(200, 310),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "long after somebody else has met nodes that forgot", header: header, want: Fail, violations: []string{"L2 [13 49]"},
			history: before + fault(5, 6, forgetful) + "\n20ms z invoke acquire l\n21ms z fail acquire l err held" + refused(200, 290),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "long after somebody else has met nodes that forgot, as they came back", header: header, want: Fail, violations: []string{"L2 [13 49]"},
			history: before + fault(5, 20, forgetful) + "\n20ms z invoke acquire l\n21ms z fail acquire l err held" + refused(200, 290),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "since somebody meets nodes that forgot, whom others had missed", header: header, want: Pass,
			history: before + strings.Replace(fault(5, 30, forgetful), "\n30ms", "\n10ms z invoke acquire l\n11ms z fail acquire l err held\n30ms", 1) + refused(200, 290),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "long after somebody else has met as many nodes that forgot as are looked through", header: header, want: Fail, violations: []string{fmt.Sprintf("L2 [%d %d]", 9+4*(many-1), 45+4*(many-1))},
			history: before + strings.Repeat(fault(5, 5, forgetful), many-1) + "\n20ms z invoke acquire l\n21ms z fail acquire l err held" + refused(200, 290),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "soon behind more nodes that forgot than are looked through", header: header, want: Pass,
			history: before + strings.Repeat(fault(5, 5, `latency target {"nodes":["n1"]}`), many) + fault(24, 25, forgetful) + "\n26ms z invoke acquire l\n27ms z fail acquire l err held" + refused(60, 140),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "soon after somebody else has met nodes that forgot", header: header, want: Pass,
			history: before + fault(5, 6, forgetful) + "\n190ms z invoke acquire l\n191ms z fail acquire l err held" + refused(200, 280),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "a fault of somebody else's", header: header, want: Fail, violations: []string{"L2 [7 47]"},
			history: before + refused(10, 40) + fault(44, 45, `pause-client target {"clients":["z"]}`) + refused(50, 90),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "long after one another", header: header, want: Pass, history: before + refused(10, 40) + refused(400, 450),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "a quorum stores it", header: header, want: Pass,
			history: before + strings.NewReplacer("node n1 value sample note lock:k began 12ms pttl -2", "node n1 value sample note lock:k began 12ms holder x pttl 500",
				"node n2 value sample note lock:k began 12ms pttl -2", "node n2 value sample note lock:k began 12ms holder x pttl 500").Replace(refused(10, 10)) +
				"\n13ms e invoke acquire k\n14ms e fail acquire k err held\n15ms e invoke acquire k\n16ms e fail acquire k err held\n80ms e invoke acquire k\n85ms e fail acquire k err held",
		}},
	}
}
