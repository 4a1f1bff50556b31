package checker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locktorture/checker/internal/rule/liveness"
)

func TestEffectless(t *testing.T) { runCases(t, effectlessCases()) }

// Parts of histories in which a released lease stays until its TTL, at 10 ms.
const (
	effectlessReleased = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 10ms
		 2ms a invoke release k
		 3ms a ok release k`
	effectlessRefused = `
		 4ms b invoke acquire k
		 5ms b fail acquire k err held
		 5ms c invoke acquire k
		 6ms c fail acquire k err held
		 8ms b invoke acquire k
		 9ms b fail acquire k err held`
	effectlessGranted = `
		12ms c invoke acquire k
		13ms c ok acquire k until 22ms`
)

func effectlessCases() []verdictCase {
	const ttl = "ttl 10ms"
	const quorum = "ttl 10ms nodes 3 quorum 2"
	const whole = effectlessReleased + effectlessRefused + effectlessGranted
	const proof = "L9 [1 3 5 7 9 11]"
	none := func(name, header, text string) verdictCase {
		return verdictCase{name: "L9: " + name, header: header, want: Pass, history: text}
	}
	some := func(name, header, text, proof string) verdictCase {
		return verdictCase{name: "L9: " + name, header: header, want: Fail, history: text, violations: []string{proof}}
	}
	swap := func(text, old, by string) string { return strings.Replace(text, old, by, 1) }
	late := func(asks, hears string) string {
		return "\n" + asks + " invoke acquire k\n" + hears + " fail acquire k err held"
	}
	later := strings.NewReplacer("12ms", "15ms", "13ms", "16ms").Replace(effectlessGranted)
	const granted = "\n44ms c invoke acquire k\n45ms c fail acquire k err held\n46ms c invoke acquire k\n47ms c ok acquire k until 77ms"
	crowd := func(n int) (text string) { // of so many, who are refused at once
		for i := range n {
			text += late(fmt.Sprintf("42ms d%d", i), fmt.Sprintf("42ms d%d", i))
		}
		return text
	}
	longer := strings.NewReplacer("12ms", "23ms", "13ms", "24ms", "22ms", "33ms").Replace(effectlessGranted)
	apart := strings.Replace(effectlessReleased, "10ms", "30ms", 1) + late("9ms b", "10ms b") + late("10ms c", "11ms c") + late("12ms b", "13ms b")
	return []verdictCase{
		some("taken until the TTL", ttl, whole, proof),
		some("three attempts by one", ttl, swap(swap(whole, "c invoke acquire k\n", "b invoke acquire k\n"), "c fail", "b fail"), proof),
		some("taken until the TTL on a quorum", quorum, whole, proof),
		some("refused to the end of the lease", ttl, swap(whole, "9ms b fail", "10ms b fail"), proof),
		some("asked for at the end of the lease", ttl, swap(whole, "12ms c invoke", "10ms c invoke"), proof),
		none("two attempts", ttl, swap(swap(whole, "8ms b invoke acquire k\n", "8ms b invoke acquire l\n"), "9ms b fail acquire k", "9ms b fail acquire l")),
		none("its owner's own attempt among three", ttl, swap(swap(whole, "5ms c invoke", "5ms a invoke"), "6ms c fail", "6ms a fail")),
		none("one of three that asked for another key too", ttl, swap(whole, "8ms b invoke acquire k", "8ms b invoke acquire k note multi")),
		none("another may have had it while he tried to take another key too", ttl, swap(whole, " 4ms b invoke acquire k\n", " 4ms d invoke acquire k note multi\n 4ms b invoke acquire k\n")+"\n 14ms d fail acquire k err held\n"),
		none("refused beyond the end of the lease", ttl, swap(whole, "9ms b fail", "11ms b fail")),
		none("asked for just before the end of the lease", ttl, swap(whole, "12ms c invoke", " 9ms c invoke")),
		none("the end of the lease within the clocks' uncertainty", ttl+" epsilon 3ms", whole),
		none("never granted again", ttl, effectlessReleased+effectlessRefused),
		none("refused when the TTL had ended it", ttl, swap(whole, effectlessGranted, late("12ms b", "13ms b")+later)),
		none("a reader refused when the TTL had ended it", ttl, swap(whole, effectlessGranted, "\n12ms b invoke acquire k mode r\n13ms b fail acquire k mode r err held"+later)),
		none("its owner refused when the TTL had ended it", ttl, swap(whole, effectlessGranted, late("12ms a", "13ms a")+later)),
		none("refused twice when the TTL had ended it", ttl, swap(whole, effectlessGranted, late("12ms b", "13ms b")+late("14ms b", "15ms b")+later)),
		some("refused when the TTL may have ended it", ttl, swap(whole, effectlessGranted, late("11ms b", "13ms b")+later), "L9 [1 3 5 7 9 13]"),
		some("refused when the TTL may have ended it, by the uncertainty of clocks", ttl+" epsilon 1ms", swap(swap(whole, effectlessGranted, late("12ms b", "13ms b")+later), "3ms a ok", "2ms a ok"), "L9 [1 3 5 7 9 13]"),
		some("refused when it was asked for by who was granted it", ttl, swap(whole, effectlessGranted, late("12ms b", "15ms b")+later), "L9 [1 3 5 7 9 13]"),
		some("a waiter refused when the TTL may have ended it", ttl, swap(whole, effectlessGranted, "\n9ms d invoke acquire k note wait\n21ms d fail acquire k err held"+longer), "L9 [1 3 5 7 9 13]"),
		none("a waiter refused long after the TTL had ended it", ttl, swap(whole, effectlessGranted, "\n9ms d invoke acquire k note wait\n22ms d fail acquire k err held"+longer)),
		none("refused by its own end when the TTL had ended it, and told of later", ttl, swap(whole, effectlessGranted, "\n12ms d invoke acquire k"+later+"\n17ms d fail acquire k ended 13ms err held")),
		none("refused by its own end when the TTL had ended it, and told of later, before another one is", ttl, swap(whole, effectlessGranted, "\n12ms d invoke acquire k\n13ms e invoke acquire k"+later+"\n17ms d fail acquire k ended 13ms err held\n18ms e fail acquire k err held")),
		some("refused by its own end as it was asked for, and told of later", ttl, swap(whole, effectlessGranted, "\n12ms d invoke acquire k"+later+"\n17ms d fail acquire k ended 15ms err held"), "L9 [1 3 5 7 9 12]"),
		some("a server away when the TTL had ended it, told of later", ttl, swap(whole, effectlessGranted, "\n12ms d invoke acquire k"+later+"\n17ms d fail acquire k ended 13ms err \"connection refused\""), "L9 [1 3 5 7 9 12]"),
		none("refused by processes whose clocks are apart, one of which is granted it", "ttl 30ms epsilon 5ms", apart+late("42ms b", "43ms b")+late("44ms c", "45ms c")+"\n46ms c invoke acquire k\n47ms c ok acquire k until 77ms"),
		none("refused by as many processes as are looked at, one of which is granted it", "ttl 30ms epsilon 5ms", apart+crowd(7)+granted),
		some("refused by more processes than are looked at, one of which is granted it", "ttl 30ms epsilon 5ms", apart+crowd(8)+granted, "L9 [1 3 5 7 9 29]"),
		some("refused by one whose clock is apart", "ttl 30ms epsilon 5ms", apart+late("42ms b", "43ms b")+"\n46ms c invoke acquire k\n47ms c ok acquire k until 77ms", "L9 [1 3 5 7 9 13]"),
		some("refused while it was granted", ttl, swap(whole, effectlessGranted, "\n12ms b invoke acquire k"+later+"\n16ms b fail acquire k err held"), "L9 [1 3 5 7 9 12]"),
		none("granted in between", ttl, effectlessReleased+effectlessRefused+`
			 9ms d invoke acquire k
			 9ms d ok acquire k until 19ms
			14ms d invoke release k
			15ms d ok release k
			21ms c invoke acquire k
			22ms c ok acquire k until 31ms`),
		none("a release of unknown outcome", ttl, swap(whole, "a ok release k", "a info release k err timeout")),
		none("a release that was refused", ttl, swap(whole, "a ok release k", "a fail release k err gone")),
		none("an acquire of unknown outcome before it", ttl, `
			 0ms d invoke acquire k
			 0ms d info acquire k err timeout`+whole),
		none("an acquire of unknown outcome meanwhile", ttl, effectlessReleased+`
			 3ms d invoke acquire k
			 4ms d info acquire k err timeout`+effectlessRefused+effectlessGranted),
		none("an acquire that is not answered", ttl, effectlessReleased+`
			 3ms d invoke acquire k`+effectlessRefused+effectlessGranted),
		none("an acquire that waits from before the answer", ttl, `
			 0ms d invoke acquire k`+whole+`
			14ms d fail acquire k err held`),
		none("an acquire that turns out to be of unknown outcome", ttl, effectlessReleased+`
			 3ms d invoke acquire k`+effectlessRefused+effectlessGranted+`
			14ms d info acquire k err timeout`),
		none("an acquire that turns out to have been granted", ttl, effectlessReleased+`
			 3ms d invoke acquire k`+effectlessRefused+effectlessGranted+`
			14ms c invoke release k
			15ms c ok release k
			16ms d ok acquire k until 26ms`),
		some("an acquire that turns out to have been granted later", ttl, effectlessReleased+`
			 3ms d invoke acquire k`+effectlessRefused+effectlessGranted+`
			14ms c invoke release k
			15ms c ok release k
			17ms d ok acquire k began 16ms until 26ms`, "L9 [1 3 6 8 10 12]"),
		some("an acquire that turns out to have been refused", ttl, effectlessReleased+`
			 3ms d invoke acquire k`+effectlessRefused+effectlessGranted+`
			14ms d fail acquire k err held`, "L9 [1 3 6 8 10 12]"),
		some("an acquire that waited and gave up before the others", ttl, `
			 0ms d invoke acquire k`+effectlessReleased+`
			 4ms d fail acquire k err held`+strings.ReplaceAll(effectlessRefused, " 4ms b", " 5ms b")+effectlessGranted, "L9 [2 4 7 9 11 13]"),
		none("an acquire that waited and gave up among the others", ttl, `
			 0ms d invoke acquire k`+effectlessReleased+swap(effectlessRefused, " 8ms b", `6ms d fail acquire k err held
			 8ms b`)+effectlessGranted),
		none("a node that is not there", ttl, effectlessReleased+effectlessRefused+`
			 9ms d invoke acquire k
			 9ms d fail acquire k err "connection refused"`+effectlessGranted),
		none("a node that does not answer", ttl, effectlessReleased+effectlessRefused+`
			 9ms d invoke acquire k
			 9ms d fail acquire k err "read tcp: i/o timeout"`+effectlessGranted),
		{name: "L9: an earlier lease that was never released", header: ttl, want: Pass, suspicious: []string{"S1 [1 3]"}, history: `
			 0ms d invoke acquire k
			 0ms d ok acquire k until 1ms
			 1ms a invoke acquire k
			 2ms a ok acquire k until 11ms
			 2ms a invoke release k
			 3ms a ok release k` + effectlessRefused + effectlessGranted},
		none("its owner's lease before, which was never released", ttl, `
			 0ms a invoke acquire k
			 0ms a ok acquire k until 1ms
			 2ms a invoke acquire k
			 2ms a ok acquire k until 12ms
			 2ms a invoke release k
			 3ms a ok release k`+effectlessRefused+effectlessGranted),
		none("an inner release", ttl, swap(effectlessReleased, "2ms a invoke release k", `1ms a invoke acquire k
			 2ms a ok acquire k until 10ms
			 2ms a invoke release k`)+effectlessRefused+effectlessGranted),
		some("the outermost release", ttl, swap(effectlessReleased, "2ms a invoke release k", `1ms a invoke acquire k
			 2ms a ok acquire k until 10ms
			 2ms a invoke release k
			 2ms a ok release k
			 2ms a invoke release k`)+effectlessRefused+swap(effectlessGranted, "12ms", "13ms"), "L9 [1 7 9 11 13 15]"),
		none("an inner release of unknown outcome", ttl, `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 1ms a2 invoke acquire k owner a
			 1ms a2 ok acquire k owner a until 10ms
			 2ms a2 invoke release k owner a
			 2ms a2 info release k owner a err timeout
			 2ms a invoke release k
			 3ms a ok release k`+effectlessRefused+effectlessGranted),
		none("an extension meanwhile", ttl, effectlessReleased+`
			 3ms a invoke extend k
			 4ms a ok extend k until 13ms`+effectlessRefused+effectlessGranted),
		none("a renewal that is told later", ttl, whole+`
			14ms a info extend k began 2ms err timeout`),
		none("another reader", ttl, `
			 0ms d invoke acquire k mode r
			 0ms d ok acquire k mode r until 10ms
			 0ms a invoke acquire k mode r
			 1ms a ok acquire k mode r until 10ms
			 2ms a invoke release k mode r
			 3ms a ok release k mode r`+effectlessRefused+effectlessGranted),
		some("the only reader", ttl, strings.ReplaceAll(effectlessReleased, " k", " k mode r")+effectlessRefused+effectlessGranted, proof),
		none("readers that are refused", ttl, effectlessReleased+strings.ReplaceAll(effectlessRefused, " k", " k mode r")+effectlessGranted),
		none("attempts that may split the votes", quorum, effectlessReleased+`
			 3ms d invoke acquire k
			 4ms e invoke acquire k
			 4ms d fail acquire k err quorum
			 4ms e fail acquire k err quorum`+effectlessRefused+effectlessGranted),
		none("a fault that was over just before", ttl, `
			 0ms nemesis invoke fault cut-link target b
			 0ms nemesis ok fault cut-link target b receipt r
			 0ms nemesis invoke heal cut-link target b
			 0ms nemesis ok heal cut-link target b receipt r`+whole),
		none("a node that restarted", ttl, effectlessReleased+`
			 3ms nemesis invoke fault kill-node target n1 instant
			 3ms nemesis ok fault kill-node target n1 instant receipt r`+effectlessRefused+effectlessGranted),
		{name: "L9: a fault in force", header: ttl, want: Inconclusive, history: effectlessReleased + `
			 3ms nemesis invoke fault cut-link target b
			 3ms nemesis ok fault cut-link target b receipt r` + effectlessRefused + effectlessGranted},
		{name: "L9: the harness stood still", header: ttl, want: Pass, suspicious: []string{proof}, history: whole + `
			14ms nemesis ok stall began 4ms ended 5ms`},
	}
}

func TestEffectlessSeen(t *testing.T) { runCases(t, effectlessSeenCases()) }

// effectlessSeenCases are proofs by what the nodes store.
func effectlessSeenCases() []verdictCase {
	const ttl = "ttl 10ms"
	const quorum = "ttl 10ms nodes 3 quorum 2"
	look := func(ms int, node, holder string) string {
		return fmt.Sprintf("\n%dms witness ok key k node %s holder %s pttl %d", ms, node, holder, 10-ms)
	}
	kept := func(name, header, text, proof string) verdictCase {
		return verdictCase{name: "L9: " + name, header: header, want: Fail, history: effectlessReleased + text, violations: []string{proof}}
	}
	gone := func(name, header, text string) verdictCase {
		return verdictCase{name: "L9: " + name, header: header, want: Pass, history: effectlessReleased + text}
	}
	held := func(node, name string) string {
		return "\n1ms witness ok key k node " + node + " holder x pttl 9 value sample note " + name
	}
	// refused has others refused until the TTL, with looks before and behind the release.
	refused := func(before, after string) string {
		return strings.Replace(effectlessReleased, "\n\t\t 2ms", before+"\n\t\t 2ms", 1) + after + effectlessRefused + effectlessGranted
	}
	free := func(name, header, before, after string) verdictCase {
		return verdictCase{name: "L9: " + name, header: header, want: Pass, history: refused(before, after)}
	}
	taken := func(name, header, before, after, proof string) verdictCase {
		return verdictCase{name: "L9: " + name, header: header, want: Fail, history: refused(before, after), violations: []string{proof}}
	}
	const gone1, gone2 = "\n4ms witness ok key k node n1 pttl -2 value sample note l", "\n4ms witness ok key k node n2 pttl -2 value sample note l"
	return []verdictCase{
		kept("seen twice", ttl, look(4, "n1", "a")+look(5, "n1", "a"), "L9 [1 3 5]"),
		kept("looked for after the answer", ttl, look(5, "n1", "a")+" began 4ms", "L9 [1 3 4]"),
		gone("looked for before the answer", ttl, look(5, "n1", "a")+" began 3ms"),
		gone("told of once", ttl, look(5, "n1", "a")),
		gone("another's value", ttl, look(4, "n1", "x")+look(5, "n1", "x")),
		gone("gone in between", ttl, look(4, "n1", "a")+"\n5ms witness ok key k node n1 pttl -2"+look(6, "n1", "a")),
		gone("on a minority", quorum, look(4, "n1", "a")+look(5, "n1", "a")+look(6, "n2", "a")),
		kept("on a quorum", quorum, look(4, "n1", "a")+look(5, "n1", "a")+look(6, "n2", "a")+look(7, "n2", "a"), "L9 [1 3 5 7]"),
		gone("its owner asks again", ttl, "\n3ms a invoke acquire k"+look(4, "n1", "a")+look(5, "n1", "a")),
		gone("its owner asked again", ttl, "\n3ms a invoke acquire k\n4ms a fail acquire k err held"+look(4, "n1", "a")+look(5, "n1", "a")),
		gone("somebody's attempt is of unknown outcome", ttl, "\n3ms d invoke acquire k\n4ms d info acquire k err timeout"+look(4, "n1", "a")+look(5, "n1", "a")),
		free("a node is free of it", ttl, held("n1", "l"), gone1),
		free("a quorum is free of it", quorum, held("n1", "l")+held("n2", "l"), gone1+gone2),
		taken("a minority is free of it", quorum, held("n1", "l")+held("n2", "l"), gone1, "L9 [1 5 8 10 12 14]"),
		taken("a quorum is free of what it never stored", quorum, held("n1", "l"), gone1+gone2, "L9 [1 4 8 10 12 14]"),
		taken("a node is free of one name of two", ttl, held("n1", "l")+held("n1", "m"), gone1, "L9 [1 5 8 10 12 14]"),
		taken("a node is free of what it never stored", ttl, "", gone1, "L9 [1 3 6 8 10 12]"),
		taken("a node is free of it, as one look tells that is none of many", ttl, "", "\n4ms witness ok key k node n1 pttl -2", "L9 [1 3 6 8 10 12]"),
		taken("looked for before the release was answered", ttl, held("n1", "l"), gone1+" began 3ms", "L9 [1 4 7 9 11 13]"),
		gone("a clock jump", ttl, "\n3ms nemesis invoke fault clock-jump target n1 instant\n3ms nemesis ok fault clock-jump target n1 instant receipt r"+look(4, "n1", "a")+look(5, "n1", "a")),
	}
}

// TestEffectlessAgain reports each release of a lock whose releases do nothing, and
// none while an attempt from before them is not answered.
func TestEffectlessAgain(t *testing.T) {
	const turns = 50
	for _, c := range []struct {
		name, open string
		want       Verdict
		found      int
	}{
		{"decided", "", Fail, turns},
		{"an attempt is never answered", "\n3ms z invoke acquire k", Pass, 0},
	} {
		text := ""
		for i := range turns {
			for line := range strings.SplitSeq(strings.TrimSpace(effectlessReleased+effectlessRefused), "\n") {
				stamp, rest, _ := strings.Cut(strings.TrimSpace(line), "ms ")
				ms, err := strconv.Atoi(stamp)
				if err != nil {
					t.Fatal(err)
				}
				rest = strings.Replace(rest, "until 10ms", fmt.Sprintf("until %dms", 11*i+10), 1)
				text += fmt.Sprintf("\n%dms %s", 11*i+ms, rest)
				if i == 0 && strings.HasPrefix(rest, "a ok release") {
					text += c.open
				}
			}
		}
		text += fmt.Sprintf("\n%[1]dms c invoke acquire k\n%[1]dms c ok acquire k until %[2]dms", 11*turns, 11*turns+10)
		j := New(parse(t, "ttl 10ms", text).Header, Options{})
		rule := ruleOf[*liveness.Effectless](j)
		j.Events(parse(t, "ttl 10ms", text).Events)
		r := j.Finish(t.Context(), false)
		found := 0
		for _, f := range r.Violations {
			if f.ID == "L9" {
				found++
			}
		}
		if r.Verdict != c.want || found != c.found {
			t.Errorf("%s: %s with %d findings, want %s with %d", c.name, r.Verdict, found, c.want, c.found)
		}
		if kept := len(rule.Keys.At(j.env.Key("k").No).Reported); kept > liveness.EffectlessReported {
			t.Errorf("%s: %d findings are kept, want %d at most", c.name, kept, liveness.EffectlessReported)
		}
	}
}

// TestEffectlessVoid: what befalls the run before the proof takes it back.
func TestEffectlessVoid(t *testing.T) {
	r := judge(t, "ttl 10ms", effectlessReleased+`
		 3ms nemesis ok phase main note "harness: a node died"`+effectlessRefused+effectlessGranted)
	void := slices.ContainsFunc(r.Void, func(v Void) bool { return slices.Contains(v.IDs, "L9") })
	if r.Verdict != HarnessError || len(r.Violations) > 0 || !void {
		t.Errorf("%s %v, void %v", r.Verdict, short(r.Violations), r.Void)
	}
}
