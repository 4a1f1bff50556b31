package checker

import (
	"slices"
	"strings"
	"testing"
)

// hostCases are histories in which something is wrong by 5 ms between what the hosts
// A and B stamped.
var hostCases = []struct{ id, header, history string }{
	{"S1", "unchecked-release", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 100ms
		40ms b invoke acquire k host B
		50ms b ok acquire k until 140ms
		55ms a invoke release k host A
		56ms a ok release k`},
	{"S1", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 55ms
		40ms b invoke acquire k host B
		50ms b ok acquire k until 140ms`},
	{"S1", "", `
		 0ms a invoke acquire k host B
		 1ms a ok acquire k until 20ms
		40ms b invoke acquire k host B
		50ms b ok acquire k until 140ms
		51ms a invoke extend k host A
		52ms a ok extend k until 57ms`},
	{"S1", "", `
		 0ms a invoke acquire k host B
		 1ms a ok acquire k until 100ms
		40ms b invoke acquire k host B
		50ms b ok acquire k until 140ms
		55ms a1 ok lost k owner a host A`},
	{"S10", "unchecked-release", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 55ms
		 2ms nemesis invoke fault kill-node target n1 instant
		 3ms nemesis ok fault kill-node target n1 receipt gone instant
		40ms b invoke acquire k host B
		50ms b ok acquire k until 140ms`},
	{"S6", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 10ms
		40ms b invoke acquire k host B
		50ms b ok acquire k until 140ms
		55ms a invoke release k host A
		56ms a ok release k`},
	{"S4", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k fence 2 until 10ms
		 2ms a invoke release k host A
		 3ms a ok release k
		 6ms b invoke acquire k host B
		 7ms b ok acquire k fence 1 until 16ms`},
	{"S4", "", `
		 0ms c invoke acquire k host far
		 0ms d invoke acquire k host A
		 1ms c ok acquire k fence 9 until 2ms
		 3ms d ok acquire k fence 2 until 4ms
		 8ms b invoke acquire k host B
		 9ms b ok acquire k fence 1 until 18ms`},
	{"S3z", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 10ms
		15ms b invoke write k owner a value a1 host B
		16ms b ok write k owner a value a1 seq 1`},
	{"S8", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 100ms
		 2ms a invoke release k host A
		 3ms a ok release k
		 7ms b invoke write k owner a value a1 host B
		 8ms b ok write k owner a value a1 seq 1`},
	{"S8", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 100ms
		 2ms a ok lost k host A
		 7ms b invoke write k owner a value a1 host B
		 8ms b ok write k owner a value a1 seq 1`},
	{"S2", "fenced", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k fence 1 until 100ms
		 2ms b invoke write k fence 2 value b1 host B
		 3ms b ok write k fence 2 value b1
		 8ms a invoke write k fence 1 value a1 host A
		 9ms a ok write k fence 1 value a1`},
	{"S2", "fenced", `
		 0ms c invoke write k fence 3 value c1 host far
		 1ms c ok write k fence 3 value c1
		 2ms b invoke write k fence 2 value b1 host B
		 3ms b ok write k fence 2 value b1
		 8ms a invoke write k fence 1 value a1 host A
		 9ms a ok write k fence 1 value a1`},
	{"S3", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 100ms
		 2ms a invoke write k value a1 host A
		 3ms a ok write k value a1
		 8ms b invoke write k value b1 host B
		 9ms b ok write k value b1
		14ms a invoke write k value a2 host A
		15ms a ok write k value a2`},
	{"S5", "unchecked-release", `
		 0ms a invoke acquire k host near
		 1ms a ok acquire k until 10ms
		19ms b invoke acquire k host A
		20ms b ok acquire k until 100ms
		40ms a invoke release k host near
		41ms a ok release k
		80ms c invoke acquire k host B
		95ms c ok acquire k until 180ms`},
	{"S11", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 10ms
		10ms b invoke acquire k host B
		11ms b ok acquire k until 20ms
		16ms a ok lost k host A`},
	{"R4", "fenced", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k fence 1 until 10ms
		 4ms b invoke write k owner a fence 1 value a1 host B
		 5ms b fail write k owner a fence 1 value a1 seq 1`},
	{"L9", "", `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 100ms
		 2ms a invoke release k host A
		 3ms a ok release k
		 9ms b invoke acquire k host B
		10ms b fail acquire k err held
		20ms b invoke acquire k host B
		21ms b fail acquire k err held
		30ms b invoke acquire k host B
		31ms b fail acquire k err held
		105ms b invoke acquire k host B
		106ms b ok acquire k until 200ms`},
}

// TestHosts holds that two stamps are as far apart as the clocks of their own hosts
// allow, and not those of any others.
func TestHosts(t *testing.T) {
	const header = "ttl 100ms epsilon 20ms hosts near=1ms,close=1ms,far=10ms "
	for _, c := range hostCases {
		for _, pair := range []struct {
			a, b  string
			wrong bool
		}{
			{"near", "close", true}, {"close", "near", true}, {"near", "near", true},
			{"near", "far", false}, {"far", "near", false}, {"far", "far", false}, {"near", "", false}, {"", "near", false}, {"", "", false},
		} {
			text := strings.NewReplacer("host A", hostWord(pair.a), "host B", hostWord(pair.b)).Replace(c.history)
			h := parse(t, header+c.header, text)
			h.Header.Bounds = map[string]int64{"loss_ns": 0}
			r := Check(t.Context(), h, Options{SecondOpinion: true})
			found := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == c.id })
			if found != pair.wrong {
				t.Errorf("%s between %q and %q: found %t, want %t: %v; suspicious %v%s", c.id, pair.a, pair.b, found, pair.wrong, short(r.Violations), short(r.Suspicious), text)
			}
			if len(r.Harness) > 0 {
				t.Errorf("%s between %q and %q: the second opinion disagrees: %s%s", c.id, pair.a, pair.b, r.Harness[0].Text, text)
			}
		}
	}
}

func hostWord(name string) string {
	if name == "" {
		return ""
	}
	return "host " + name
}
