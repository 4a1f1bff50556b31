package checker

import (
	"fmt"
	"strings"
	"testing"
)

// TestIndependence holds that what is refused while another key is held shows nothing of this one
// unless two owners were seen to hold both at once: a lock may keep several keys under one.
func TestIndependence(t *testing.T) {
	const (
		// d holds l while the release of k seems to change nothing.
		beside = `
		 100ms a invoke acquire k
		 101ms a ok acquire k until 110ms
		 102ms a invoke release k
		 103ms a ok release k
		 103ms d invoke acquire l
		 103ms d ok acquire l until 112ms
		 104ms b invoke acquire k
		 105ms b fail acquire k err held
		 105ms c invoke acquire k
		 106ms c fail acquire k err held
		 108ms b invoke acquire k
		 109ms b fail acquire k err held
		 112ms c invoke acquire k
		 113ms c ok acquire k until 122ms`
		// e and f held both, before.
		together = `
		 10ms e invoke acquire k
		 11ms e ok acquire k until 20ms
		 12ms f invoke acquire l
		 13ms f ok acquire l until 22ms
		 14ms e invoke release k
		 15ms e ok release k
		 16ms f invoke release l
		 17ms f ok release l`
	)
	const header = "ttl 10ms"
	const lease = "\n\t\t 103ms d invoke acquire l\n\t\t 103ms d ok acquire l until 112ms"
	freed := strings.Replace(beside, lease, lease+"\n 103ms d invoke release l\n 103ms d ok release l", 1) // before anybody is refused
	ranOut := func(at string) string {                                                                     // f is granted l when e's lease of k has run out, or nearly
		return "\n10ms e invoke acquire k\n11ms e ok acquire k until 20ms\n12ms f invoke acquire l\n" + at + " f ok acquire l until 22ms\n20ms f invoke release l\n20ms f ok release l"
	}
	const releasing = "\n10ms e invoke acquire k\n11ms e ok acquire k until 20ms\n12ms f invoke acquire l\n13ms e invoke release k\n13ms f ok acquire l until 22ms\n14ms e ok release k\n20ms f invoke release l\n20ms f ok release l"
	const before = "\n1ms z invoke acquire l\n2ms z ok acquire l until 9ms\n3ms z invoke release l\n4ms z ok release l"
	swap := strings.NewReplacer("acquire k", "acquire l", "release k", "release l", "acquire l", "acquire k", "release l", "release k")
	shared := strings.NewReplacer("acquire k", "acquire k mode r", "acquire l", "acquire l mode r")
	some := func(name, history, proof string) verdictCase {
		return verdictCase{name: name, header: header, want: Fail, history: history, violations: []string{proof}}
	}
	none := func(name, history string) verdictCase {
		return verdictCase{name: name, header: header, want: Pass, history: history}
	}
	runCases(t, []verdictCase{
		none("never held together", beside),
		some("nothing else held", strings.Replace(beside, lease, "", 1), "L9 [1 3 5 7 9 11]"),
		some("held together before", together+beside, "L9 [9 11 15 17 19 21]"),
		some("held together before, the other way round", swap.Replace(together)+beside, "L9 [9 11 15 17 19 21]"),
		some("held together by who was granted the first key again", "\n1ms f invoke acquire k\n2ms f ok acquire k until 9ms\n3ms f invoke release k\n4ms f ok release k"+strings.NewReplacer(" k", " l", " l", " k").Replace(together)+beside, "L9 [13 15 19 21 23 25]"),
		none("held from when the last one was refused", strings.Replace(strings.Replace(beside, lease, "", 1), "109ms b fail acquire k err held", "109ms d invoke acquire l\n109ms d ok acquire l until 118ms\n109ms b fail acquire k err held", 1)),
		none("asked for meanwhile, and had been held", before+strings.Replace(beside, "103ms d ok acquire l until 112ms", "", 1)+"\n114ms d fail acquire l err held"),
		some("held before, and not asked for", before+strings.Replace(beside, lease, "", 1), "L9 [5 7 9 11 13 15]"),
		none("held together by one owner", strings.NewReplacer(" f ", " e1 ", "acquire l", "acquire l owner e", "release l", "release l owner e").Replace(together)+beside),
		none("held together by readers", shared.Replace(together)+beside),
		some("held together by a reader and a writer", strings.ReplaceAll(together, "acquire l", "acquire l mode r")+beside, "L9 [9 11 15 17 19 21]"),
		none("held one after the other", strings.NewReplacer("12ms f", "16ms f", "13ms f", "17ms f", "16ms f invoke release", "18ms f invoke release", "17ms f ok release", "19ms f ok release").Replace(
			strings.Replace(strings.Replace(together, "\n\t\t 12ms f invoke acquire l\n\t\t 13ms f ok acquire l until 22ms", "", 1), "\n\t\t 16ms f", "\n\t\t 16ms f invoke acquire l\n\t\t 16ms f ok acquire l until 22ms\n\t\t 16ms f", 1))+beside),
		none("held when the other's lease had just run out", ranOut("20ms")+beside),
		some("held when the other's lease had nearly run out", ranOut("19ms")+beside, "L9 [7 9 13 15 17 19]"),
		none("held when the other's was being given back", releasing+beside),
		none("given back just when one was asked for that is refused", strings.Replace(freed, "103ms d ok release l", "104ms d ok release l", 1)),
		some("run out before, and never given back", "\n1ms z invoke acquire l\n2ms z ok acquire l until 9ms"+strings.Replace(beside, lease, "", 1), "L9 [3 5 7 9 11 13]"),
		some("given back before", freed, "L9 [1 3 9 11 13 15]"),
	})

	// The same two keys behind more than are told apart, each held and given back once.
	for n, want := range map[int]Verdict{62: Pass, 63: Fail, 64: Fail} {
		many := ""
		for i := range n {
			many += fmt.Sprintf("\n1ms z invoke acquire k%[1]d\n1ms z ok acquire k%[1]d until 2ms\n1ms z invoke release k%[1]d\n1ms z ok release k%[1]d", i)
		}
		if r := judge(t, header, many+beside); r.Verdict != want {
			t.Errorf("behind %d other keys: %s, want %s", n, r.Verdict, want)
		}
	}
}

// TestIndependentOrphan holds the same of attempts in the final phase.
func TestIndependentOrphan(t *testing.T) {
	const held = `
		  2ms nemesis ok phase final
		 45ms d invoke acquire l
		 46ms d ok acquire l until 55ms`
	const both = `
		 30ms e invoke acquire k
		 31ms e ok acquire k until 40ms
		 32ms f invoke acquire l
		 32ms f ok acquire l until 40ms
		 32ms e invoke release k
		 33ms e ok release k
		 33ms f invoke release l
		 33ms f ok release l`
	var cases []boundCase
	for _, c := range []verdictCase{
		{name: "never held together", want: Pass, history: held + alone(50, 3)},
		{name: "held together", want: Fail, violations: []string{"L1 [12 14 16]"}, history: strings.Replace(held, "final", "final"+both, 1) + alone(50, 3)},
	} {
		c.header = "ttl 10ms"
		cases = append(cases, boundCase{bounds: map[string]int64{"retry_ns": 5 * ms}, verdictCase: c})
	}
	runBounds(t, cases)
}
