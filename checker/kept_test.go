package checker

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeptReleases(t *testing.T) { runCases(t, keptReleases()) }

// keptReleases are released leases of a, answered at 3 ms, that looks find stored until their TTL
// ends at 10 ms, or not.
func keptReleases() []verdictCase {
	const ttl = "ttl 10ms"
	const again, late = "L9 [1 3 5]", "\n60ms a ok extend k began 1ms until 70ms"
	look := func(at, pttl int) string {
		return fmt.Sprintf("\n%dms witness ok key k node n1 holder a pttl %d", at, pttl)
	}
	turns := func(n int) (all string) { // of a lease that its release leaves behind
		for i := range n {
			at := 11 * i
			all += fmt.Sprintf(`
				%dms a invoke acquire k
				%dms a ok acquire k until %dms
				%dms a invoke release k
				%dms a ok release k`, at, at+1, at+10, at+2, at+3) + look(at+4, 6) + look(at+5, 5)
		}
		return all
	}
	return []verdictCase{
		{name: "seen once, and by a look in vain", header: ttl, want: Pass, history: effectlessReleased + strings.Replace(look(4, 6), "ok", "fail", 1) + look(5, 5)},
		{name: "seen at the instant of the answer, and once more", header: ttl, want: Pass, history: effectlessReleased + look(3, 7) + look(5, 5)},
		{name: "seen once, and at the end of the lease", header: ttl, want: Fail, violations: []string{again}, history: effectlessReleased + look(9, 1) + look(10, 1)},
		{name: "seen once, and just gone at the end of the lease", header: ttl, want: Pass, history: effectlessReleased + look(9, 1) + look(10, 0)},
		{name: "seen three times, which is one finding", header: ttl, want: Fail, violations: []string{again}, history: effectlessReleased + look(4, 6) + look(5, 5) + look(6, 4)},
		{name: "while the harness stood still", header: ttl, want: Pass, suspicious: []string{again}, history: effectlessReleased + look(4, 6) + look(5, 5) + "\n6ms nemesis ok stall began 3ms ended 4ms"},
		{name: "while somebody else asks", header: ttl, want: Fail, violations: []string{"L9 [1 3 6]"}, history: strings.Replace(effectlessReleased, "3ms a ok release k", "3ms a ok release k\n3ms d invoke acquire k", 1) + look(4, 6) + look(5, 5) + "\n11ms d ok acquire k until 20ms"},
		{name: "while its owner has been asking since before", header: ttl, want: Pass, history: strings.Replace(effectlessReleased, "2ms a invoke release k", "1ms a0 invoke acquire k owner a\n2ms a invoke release k", 1) + look(4, 6) + look(5, 5) + "\n11ms a0 fail acquire k owner a err held"},
		{name: "after each of five releases, and an extension is told late", header: ttl, want: Fail, violations: []string{again}, history: turns(5) + late},
	}
}
