package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestNothing shows that a pass lists what it says nothing of.
func TestNothing(t *testing.T) {
	const released = `
		0ms a invoke acquire k
		1ms a ok acquire k fence 1 until 9ms
		2ms a invoke release k
		3ms a ok release k
		4ms nemesis ok phase final`
	for _, c := range []struct {
		name, header, history string
		lacks, judged         []string
		liveness              bool
	}{
		{name: "one grant, no phases", header: "ttl 10ms", history: oneGrant, lacks: []string{"S1", "S2", "S3", "S10", "L1", "L5", "L8", "L9", "R1", "R4"}, judged: []string{"S7"}},
		{name: "released, with a final phase", header: "ttl 10ms", history: released + `
			5ms b invoke acquire k
			6ms b ok acquire k fence 2 until 14ms
			7ms b invoke write k fence 2 value b1
			8ms b ok write k fence 2 value b1 seq 1
			9ms store ok audit k owner b fence 2 value b1 seq 1`,
			lacks: []string{"S2", "S9", "L7", "L8", "L9", "R4"}, judged: []string{"S1", "S3", "S4", "S5", "S6", "S7", "S8", "L1", "L2", "L5", "R1", "R5"}, liveness: true},
		{name: "released, and then refused once", header: "ttl 10ms", history: released + "\n5ms b invoke acquire k\n6ms b fail acquire k",
			lacks: []string{"L8"}, judged: []string{"L9"}, liveness: true},
		{name: "released, and looked at", header: "ttl 10ms", history: released + on("5ms", "n1", "pttl -2"),
			judged: []string{"L8", "L9"}, liveness: true},
		{name: "extended, with phases", header: "ttl 10ms", history: oneGrant + "\n4ms nemesis ok phase main\n5ms a invoke extend k\n6ms a ok extend k until 15ms",
			lacks: []string{"L9"}, judged: []string{"L5"}},
		{name: "extended, without", header: "ttl 10ms", history: oneGrant + "\n5ms a invoke extend k\n6ms a ok extend k until 15ms",
			lacks: []string{"L5"}},
		{name: "lost, with phases", header: "ttl 10ms", history: "\n0ms nemesis ok phase main\n0ms a invoke acquire k\n1ms a ok acquire k until 9ms\n9ms a ok lost k",
			judged: []string{"L5"}},
		{name: "nobody asked for one key alone", header: "ttl 10ms", history: strings.Replace(released, "0ms a invoke acquire k", "0ms a invoke acquire k note multi", 1),
			lacks: []string{"L1", "L2", "L7"}, judged: []string{"S7"}, liveness: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.header, c.history)
			for _, id := range c.lacks {
				if !slices.Contains(r.Nothing, id) {
					t.Errorf("%s had nothing to judge, and is not listed: %v", id, r.Nothing)
				}
			}
			for _, id := range c.judged {
				if slices.Contains(r.Nothing, id) {
					t.Errorf("%s had something to judge: %v", id, r.Nothing)
				}
			}
			said := slices.ContainsFunc(r.Notes, func(s string) bool { return strings.HasPrefix(s, "Liveness was not judged") })
			if r.Verdict != Pass || said == c.liveness {
				t.Errorf("%s, notes %q", r.Verdict, r.Notes)
			}
		})
	}
}

// A store that compares tokens says nothing of a lock that gives none, whatever the verdict.
func TestNoTokensAreToldOf(t *testing.T) {
	const section = `
		0ms a invoke acquire k%[1]s
		1ms a ok acquire k until 10ms%[1]s
		2ms a invoke write k%[1]s value a1
		3ms a ok write k%[1]s value a1 seq 1`
	for _, c := range []struct {
		name, header, fence string
		said                bool
	}{
		{"none", "ttl 10ms fenced", "", true},
		{"some", "ttl 10ms fenced", " fence 1", false},
		{"none, and none is compared", "ttl 10ms", "", false},
	} {
		r := judge(t, c.header, fmt.Sprintf(strings.Replace(section, "acquire k%[1]s\n", "acquire k\n", 1), c.fence))
		if said := slices.ContainsFunc(r.Notes, func(s string) bool { return strings.HasPrefix(s, "The store compares tokens") }); said != c.said {
			t.Errorf("%s: notes %q", c.name, r.Notes)
		}
	}
}
