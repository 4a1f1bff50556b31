package checker

import (
	"fmt"
	"strings"
	"testing"
)

// TestReleasesInError: a release that ends in an error, again and again, on servers that are
// healthy leaves a leftover; one that a link or a fault explains, or that took effect, leaves none.
func TestReleasesInError(t *testing.T) {
	const noScript = "NOSCRIPT No matching script"
	turns := func(n int, err string, last int) (all string) { // the lease is last seen so long after its acquire
		all = sampled
		for i := range n {
			at := 100 + 200*i
			look := func(after int, what string, pttl int) string {
				return fmt.Sprintf("\n%dms witness ok key k node n1 value sample note lock:k began %dms %s pttl %d", at+after, at+after, what, pttl)
			}
			held := fmt.Sprintf("holder x%d", i)
			all += fmt.Sprintf("\n%dms b%d invoke acquire k owner b\n%dms b%[2]d ok acquire k owner b until %[4]dms", at, i, at+1, at+100) + look(2, held, 98) +
				fmt.Sprintf("\n%dms b%d invoke release k owner b\n%dms b%[2]d info release k owner b err %[4]q", at+5, i, at+6, err)
			if last > 10 {
				all += look(10, held, 90)
			}
			all += look(last, held, 100-last) + look(110, "", -2)
		}
		return all
	}
	const slow = `latency target {"nodes":["n1"]}`
	const slowed = sampled + "\n90ms nemesis invoke fault " + slow + "\n90ms nemesis ok fault " + slow + " receipt r"
	const healed = "\n900ms nemesis invoke heal " + slow + "\n900ms nemesis ok heal " + slow + " receipt r"
	runCases(t, []verdictCase{
		{name: "three", header: "ttl 100ms", want: Fail, violations: []string{"L8 [4 12 20 23]"}, history: turns(3, noScript, 70)},
		{name: "five are one finding", header: "ttl 100ms", want: Fail, violations: []string{"L8 [4 12 20 23]"}, history: turns(5, noScript, 70)},
		{name: "two", header: "ttl 100ms", want: Pass, history: turns(2, noScript, 70)},
		{name: "that took effect within the time of a release", header: "ttl 100ms", want: Pass, history: turns(3, noScript, 55)},
		{name: "of a link", header: "ttl 100ms", want: Pass, history: turns(3, "read tcp: connection reset by peer", 70)},
		{name: "of a caller who went away", header: "ttl 100ms", want: Pass, history: turns(3, "context canceled", 70)},
		{name: "in the midst of a fault", header: "ttl 100ms", want: Pass, history: strings.Replace(turns(3, noScript, 70), sampled, slowed, 1) + healed},
	})
}
