package checker

import (
	"fmt"
	"strings"
	"testing"
)

func TestSampledLeftovers(t *testing.T) { runBounds(t, sampledLeftovers()) }

// sampled is a history in which n1 stores x from 20 ms on, until it is looked at no
// more.
const sampled = `
		  0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2`

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
	look, gone := looks("holder x"), func(at int) string { return looks("")(at, -2) }
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
		{name: "by one of unknown outcome, under the same text", header: "ttl 100ms", want: Pass, history: unknown + look(60, 90) + `
			 62ms e invoke acquire k
			 90ms e info acquire k err timeout` + again(look, 100, 340) + end},
		{name: "of texts that come back", header: "ttl 100ms", want: Pass, history: unknown + renewed + end + comesBack},
		{name: "of a text that came back once", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 11]"}, history: unknown + renewed + end + look(720, 90) + gone(740)},
		{name: "set by somebody whom nobody saw ask", header: "ttl 100ms", want: Pass, history: strings.Replace(sampled, "pttl -2", "holder x pttl 90", 1) + again(look, 40, 340) + end + "\n710ms b invoke acquire k\n711ms b ok acquire k until 800ms"},
		{name: "of a key that was asked for before anybody looked", header: "ttl 100ms", want: Pass, history: `
			 0ms b invoke acquire k
			 1ms b ok acquire k until 100ms
			 2ms b invoke release k
			 3ms b info release k err timeout` + again(look, 20, 340) + end},
		{name: "by one who had asked before anybody looked, and is not answered", header: "ttl 100ms", want: Pass, history: `
			 0ms b invoke acquire k` + gone(20) + others(25) + again(look, 40, 340) + `
			345ms b ok acquire k until 445ms`},
		{name: "after a release that was acknowledged", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 5 9]"}, history: held + `
			 25ms b invoke release k
			 26ms b ok release k` + renewed + end},
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
			name: "set anew by somebody who asked later, under the same text", header: "ttl 100ms", want: Pass,
			history: refused + `
				 40ms c invoke acquire k
				 52ms witness ok key k node n1 value sample note lock:k began 52ms holder x pttl 90
				 53ms c ok acquire k until 139ms
				 90ms witness ok key k node n1 value sample note lock:k began 90ms holder x pttl 52`,
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
			name: "of a refused attempt, for half a TTL, where it declares nothing", header: "ttl 100ms", want: Fail, violations: []string{"L8 [2 3 4]"},
			history: refused + `
				 73ms witness ok key k node n1 value sample note lock:k began 73ms holder x pttl 42
				120ms c invoke acquire k
				121ms c ok acquire k until 210ms`,
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
	const header = "ttl 100ms nodes 3 quorum 2"
	return []boundCase{
		{bounds: wake, verdictCase: verdictCase{
			name: "free at a quorum, and not served in time", header: header, want: Fail, violations: []string{"L2 [7 13]"},
			history: waiting + `
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 50ms b ok acquire k until 140ms`,
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
			name: "one that does not wait, but tries once", header: header, want: Pass,
			history: waiting + `
				 13ms b info acquire k err timeout
				 14ms c invoke acquire k
				 43ms witness ok key k node n1 value sample note lock:k began 43ms pttl -2
				 43ms witness ok key k node n2 value sample note lock:k began 43ms pttl -2
				 60ms c ok acquire k until 140ms`,
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
			history: waiting + `
				 13ms c invoke acquire k note wait
				 14ms c fail acquire k err held
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
		fmt.Fprintf(&b, "\n%dms %s invoke acquire k\n%dms %s fail acquire k err held", t, c, t+1, c)
		for n := range 3 {
			fmt.Fprintf(&b, "\n%dms witness ok key k node n%d value sample note lock:k began %dms pttl -2", t+2, n+1, t+2)
		}
	}
	return b.String()
}

func barredKeys() []boundCase {
	wake := map[string]int64{"wake_ns": 60 * ms}
	const header = "ttl 20ms nodes 3 quorum 2"
	const before = `
		  0ms witness ok key k node n1 value sample note lock:k began 0ms pttl -2
		  0ms witness ok key k node n2 value sample note lock:k began 0ms pttl -2
		  0ms witness ok key k node n3 value sample note lock:k began 0ms pttl -2
		  1ms a invoke acquire k
		  2ms a ok acquire k until 20ms
		  3ms a invoke release k
		  4ms a ok release k`
	fault := func(from, to int, what string) string {
		return fmt.Sprintf("\n%dms nemesis invoke fault %[2]s\n%[1]dms nemesis ok fault %[2]s receipt r\n%[3]dms nemesis invoke heal %[2]s\n%[3]dms nemesis ok heal %[2]s receipt r", from, what, to)
	}
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
			history: before + "\n10ms b invoke acquire k\n40ms b info acquire k err timeout" + refused(50, 110),
		}},
		{bounds: wake, verdictCase: verdictCase{
			name: "a fault of theirs in the midst of it", header: header, want: Pass,
			history: before + refused(10, 40) + fault(44, 45, `pause-client target {"clients":["c"]}`) + refused(50, 100),
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
