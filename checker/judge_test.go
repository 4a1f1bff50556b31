package checker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"locktorture/workload/history"
)

// A verdictCase is one text history and what it must be judged to be.
// Findings are written as "S1 [1 3]": the id and its witness.
type verdictCase struct {
	name       string
	header     string // words of the header line
	history    string // without its end event
	want       Verdict
	violations []string
	suspicious []string
	evidence   *Evidence // when the case is about it
}

// judge parses the text of a history, ends it, and judges it.
func judge(t testing.TB, header, text string) Report {
	t.Helper()
	return Check(t.Context(), parse(t, header, text), Options{})
}

func parse(t testing.TB, header, text string) history.History {
	t.Helper()
	if header != "" {
		text = "header " + header + "\n" + text
	}
	h, err := history.Parse(text + "\n nemesis ok phase end")
	if err != nil {
		t.Fatalf("parse history: %v", err)
	}
	if err := history.Validate(h.Events); err != nil {
		t.Fatalf("history breaks the format: %v", err)
	}
	return h
}

func short(fs []Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprint(f.ID, " ", f.Witness))
	}
	return out
}

func runCases(t *testing.T, cases []verdictCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.header, c.history)
			if r.Verdict != c.want {
				t.Errorf("verdict %s, want %s (violations %v, inconclusive %v)", r.Verdict, c.want, short(r.Violations), r.Inconclusive)
			}
			if got := short(r.Violations); !slices.Equal(got, c.violations) {
				t.Errorf("violations %q, want %q", got, c.violations)
			}
			if got := short(r.Suspicious); !slices.Equal(got, c.suspicious) {
				t.Errorf("suspicious %q, want %q", got, c.suspicious)
			}
			if c.evidence != nil && r.Evidence != *c.evidence {
				t.Errorf("evidence %+v, want %+v", r.Evidence, *c.evidence)
			}
			if h := Check(t.Context(), parse(t, c.header, c.history), Options{SecondOpinion: true}).Harness; len(h) > 0 {
				t.Errorf("the second opinion disagrees: %s", h[0].Text)
			}
			checkTexts(t, r)
		})
	}
}

// checkTexts asks that every finding can be read by itself.
func checkTexts(t *testing.T, r Report) {
	t.Helper()
	for _, f := range slices.Concat(r.Violations, r.Suspicious, r.Inconclusive) {
		if f.Name == "" || len(f.Text) < 40 || strings.Contains(f.Text, "%!") || strings.Contains(f.Text, "\n") {
			t.Errorf("%s %v is not explained: name %q, text %q", f.ID, f.Witness, f.Name, f.Text)
		}
		for _, o := range f.Owners {
			if !strings.Contains(f.Text, o) {
				t.Errorf("%s %v does not name %s: %q", f.ID, f.Witness, o, f.Text)
			}
		}
	}
	for _, f := range r.Violations {
		if f.Blame == "" || len(f.Witness) == 0 || !slices.IsSorted(f.Witness) {
			t.Errorf("%s: blame %q, witness %v", f.ID, f.Blame, f.Witness)
		}
	}
}

// TestTexts asks of texts what depends on the history: that they are true of it.
func TestTexts(t *testing.T) {
	const (
		grants = `
			 0ms a invoke acquire k
			 1ms a ok acquire k fence 1 until 10ms
			11ms b invoke acquire k
			12ms b ok acquire k fence 2 until 21ms`
		overtaken = grants + `
			13ms b invoke release k
			14ms b ok release k
			15ms a invoke extend k
			16ms a ok extend k fence 1 until 25ms`
		waiting = `
			 0ms b invoke acquire k
			 1ms b fail acquire k
			 5ms a invoke acquire k
			 6ms a %s acquire k
			15ms b invoke acquire k
			16ms b fail acquire k
			20ms b invoke acquire k
			21ms b ok acquire k until 30ms`
		orphan = `
			 2ms nemesis ok phase final
			18ms b invoke acquire k
			19ms b fail acquire k
			21ms b invoke acquire k
			22ms b fail acquire k
			23ms b invoke acquire k
			24ms b fail acquire k`
	)
	stored := on("0ms", "n3", "pttl -2") + `
		 0ms w invoke acquire k
		 0ms w ok acquire k until 90ms` + on("1ms", "n3", "holder w pttl 90") + on("1ms", "n2", "holder w pttl 88") + on("1ms", "n1", "holder w pttl 88") + `
		 1ms w invoke release k
		 1ms w ok release k
		 1ms a invoke acquire k
		 2ms a ok acquire k until 90ms`
	for _, c := range []struct {
		name, header, history string
		bounds                map[string]int64
		id, want              string
	}{
		{name: "an extension across another's hold", header: "ttl 10ms", history: overtaken, id: "S1",
			want: "a was granted it with token 1 at 0.001000 s. b was granted it with token 2 at 0.012000 s and held it until 0.013000 s. " +
				"And yet at 0.016000 s a was told that its lease goes on, until 0.025000 s, as if it had held the key all the time."},
		{name: "a release of unknown outcome, of the lease before", header: "ttl 10ms", id: "S1",
			want: "The lock belonged to both. The release of a's lease before that, sent at 0.002000 s, was of unknown outcome: it may have arrived while the next one lasted. Remedy",
			history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 2ms a invoke release k
			 7ms a info release k err timeout
			12ms a2 invoke acquire k owner a
			13ms a2 ok acquire k owner a until 22ms
			14ms b invoke acquire k
			15ms b ok acquire k until 24ms`},
		{name: "a release that was answered, of the lease before", header: "ttl 10ms", id: "S1", want: "The lock belonged to both. Remedy",
			history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 2ms a invoke release k
			 7ms a ok release k
			12ms a invoke acquire k
			13ms a ok acquire k until 22ms
			14ms b invoke acquire k
			15ms b ok acquire k until 24ms`},
		{name: "a stale write", header: "ttl 10ms fenced", id: "S2", want: `At 0.015000 s a wrote "a1" to k with token 1`,
			history: grants + `
			13ms b invoke write k fence 2 value b1
			14ms b ok write k fence 2 value b1 seq 1
			15ms a invoke write k fence 1 value a1
			16ms a ok write k fence 1 value a1 seq 2`},
		{name: "a stale write after one of unknown outcome", header: "ttl 10ms fenced", id: "S2", want: `b wrote "b1" to k with token 2 and never heard what became of it: the store had accepted it as write number 1`,
			history: grants + `
			13ms b invoke write k fence 2 value b1
			14ms b info write k fence 2 value b1
			15ms a invoke write k fence 1 value a1
			16ms a ok write k fence 1 value a1 seq 2
			17ms store ok audit k owner b fence 2 value b1 seq 1`},
		{name: "nothing came of one attempt for longer than its lock says", header: "ttl 10ms", bounds: map[string]int64{"retry_ns": 10e6, "wake_ns": 65e6}, id: "L2",
			want: "for 71ms and longer than the 65ms within which the lock says that a waiter is served, though it was asked for once",
			history: `
			 2ms nemesis ok phase final
			 5ms b invoke acquire k
			76ms b fail acquire k err timeout`},
		{name: "nothing came of one attempt", header: "ttl 10ms", bounds: map[string]int64{"retry_ns": 10e6}, id: "L2", want: "for 66ms and longer than 3 × (TTL + retry) = 60ms, though it was asked for once",
			history: `
			 2ms nemesis ok phase final
			 5ms b invoke acquire k
			71ms b fail acquire k err timeout`},
		{name: "an orphan", header: "ttl 10ms", bounds: map[string]int64{"retry_ns": 5e6}, id: "L1", want: "every lease of k had ended (the last one, a's, at 0.010000 s)",
			history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms` + orphan},
		{name: "an orphan that an unknown acquire left", header: "ttl 1ms", id: "L1", want: "that nobody owns. An acquire by c, begun at 0.000000 s, was of unknown outcome: it may have left that behind. Remedy",
			history: `
			 0ms c invoke acquire k
			 1ms c info acquire k` + orphan},
		{name: "an orphan that nobody held", header: "ttl 10ms", bounds: map[string]int64{"retry_ns": 5e6}, id: "L1", want: "every lease of k had ended and had run out", history: orphan},
		{name: "an orphan that keeps writers out", header: "ttl 10ms", bounds: map[string]int64{"retry_ns": 5e6}, id: "L1",
			want:    "still 3 attempts to write in a row were refused, the last one, by b, at 0.026000 s. Something holds the key that nobody owns. Whoever asked for it in the other mode meanwhile was granted it, and gave it back.",
			history: "\n2ms nemesis ok phase final" + shared(18) + alone(21, 3)},
		{name: "an extension that was refused too early, three times", header: "ttl 100ms", id: "L5",
			want:    "the last of them, a's on k, which was to last until 0.500000 s. Its extension was refused at 0.411000 s. Remedy: promise no more than the nodes keep",
			history: "\n0ms nemesis ok phase main" + lostOften(0, 3, "extend", "")},
		{name: "a release that was refused too early, three times, with a reason", header: "ttl 100ms", id: "L5",
			want:    `Its release was refused at 0.411000 s, with "not the owner".`,
			history: "\n0ms nemesis ok phase main" + lostOften(0, 4, "release", "not the owner")},
		{name: "nothing but errors, and then a grant", header: "ttl 20ms nodes 3 quorum 2", bounds: map[string]int64{"wake_ns": 60e6}, id: "L2",
			want: `attempts ended in an error, the last of them "NOSCRIPT". Remedy: let the lock get over what it was told`,
			history: looksAtAll(0) + failing(10, 130) + `
			140ms a invoke acquire k
			141ms a ok acquire k until 150ms`},
		{name: "an orphan that keeps readers out", header: "ttl 10ms", bounds: map[string]int64{"retry_ns": 5e6}, id: "L1", want: "still 3 attempts to read in a row were refused",
			history: `
			 2ms nemesis ok phase final
			18ms b invoke acquire k
			19ms b ok acquire k until 28ms
			19ms b invoke release k
			20ms b ok release k
			21ms b invoke acquire k mode r
			22ms b fail acquire k mode r err held
			23ms b invoke acquire k mode r
			24ms b fail acquire k mode r err held
			25ms b invoke acquire k mode r
			26ms b fail acquire k mode r err held`},
		{name: "releases in error", header: "ttl 100ms", id: "L8", want: `3 releases ended in an error, though nothing was in the way, and gave nothing back: the last of them, by b of k at 0.505000 s, with "NOSCRIPT". ` +
			`Node n1 still stored "x2" at 0.570000 s, for longer than the 50ms that a release may take. Remedy: have the release get over such an answer`,
			history: inError{n: 3, err: "NOSCRIPT", first: 2, last: 70}.history()},
		{name: "everybody is refused", header: "ttl 20ms nodes 3 quorum 2", bounds: map[string]int64{"wake_ns": 60e6}, id: "L2", want: "for longer than 60ms. Something other than a lease keeps everybody out.",
			history: looksAtAll(0) + refused(10, 90)},
		{name: "everybody is told an error", header: "ttl 20ms nodes 3 quorum 2", bounds: map[string]int64{"wake_ns": 60e6}, id: "L2", want: `for longer than 60ms. 13 of 14 attempts ended in an error, the last of them "NOSCRIPT". Remedy: let the lock`,
			history: looksAtAll(0) + failing(10, 130) + "\n133ms c invoke acquire k\n134ms c fail acquire k err held" + looksAtAll(135)},
		{name: "everybody is told nothing", header: "ttl 20ms nodes 3 quorum 2", bounds: map[string]int64{"wake_ns": 60e6}, id: "L2", want: `for longer than 60ms. 13 of 13 attempts ended in an error. Remedy: let the lock`,
			history: looksAtAll(0) + strings.ReplaceAll(failing(10, 130), " err NOSCRIPT", "")},
		{name: "starved", header: "ttl 10ms", bounds: map[string]int64{"wait_ns": 20e6}, id: "L3", want: "Others were served meanwhile, the last of them a, at 0.006000 s.",
			history: fmt.Sprintf(waiting, "ok")},
		{name: "starved by nobody", header: "ttl 10ms", bounds: map[string]int64{"wait_ns": 20e6}, id: "L3", want: "Nobody else was granted it meanwhile.",
			history: fmt.Sprintf(waiting, "fail")},
		{name: "no request got there", header: "ttl 10ms nodes 3 quorum 2", id: "S9", want: "n1, n2; no request of it ever reached them. A",
			history: `
			 0ms a invoke acquire k
			 1ms link ok receipt never-forwarded of 0 node n1
			 1ms link ok receipt never-forwarded of 0 node n2
			 4ms a ok acquire k until 11ms`},
		{name: "one was watched", header: "ttl 10ms nodes 3 quorum 2", id: "S9", want: "n1, n2; no request of it ever reached n1, and an unbroken record of what the others stored does not show it. A",
			history: `
			 0ms witness ok key k node n2 pttl -2 note watch
			 1ms a invoke acquire k
			 2ms link ok receipt never-forwarded of 1 node n1
			 4ms a ok acquire k until 11ms`},
		{name: "looked at in vain", header: "ttl 100ms nodes 5 quorum 3", id: "S9",
			want:    "no more than 1 of 5 nodes bore one and the same name under it, by 0.013000 s; nothing was stored by n2, n3, n4. Nobody had given anything back since it was asked for, and no node had forgotten anything. A quorum is 3.",
			history: stored + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n4", "pttl -2") + on("12ms", "n2", "pttl -2") + on("13ms", "n3", "pttl -2")},
		{name: "looked at, and each node stored another name", header: "ttl 100ms nodes 3 quorum 2", id: "S9",
			want:    "no more than 1 of 3 nodes bore one and the same name under it, by 0.012000 s. Nobody had given anything back",
			history: stored + on("10ms", "n1", "holder x pttl 90") + on("11ms", "n2", "holder y pttl 90") + on("12ms", "n3", "holder z pttl 90")},
		{name: "taken over though it was seen to be stored", header: "ttl 100ms nodes 3 quorum 2", id: "S10",
			want: "and nobody had released it. n1, n2, n3 had been seen to store it for longer than until then, and stored it no more.",
			history: stored + on("10ms", "n3", "holder x pttl 90") + on("11ms", "n2", "holder x pttl 90") + on("12ms", "n1", "holder x pttl 90") + `
				40ms b invoke acquire k
				41ms b ok acquire k until 130ms`},
		{name: "too little availability", header: "ttl 10ms", bounds: map[string]int64{"availability_percent": 60}, id: "L6", want: "Of 2 acquires until 0.003000 s, 1 got a definite answer: 50.0 %",
			history: `
			 0ms a invoke acquire k
			 1ms a ok acquire k until 10ms
			 1ms b invoke acquire k
			 2ms b info acquire k
			 3ms nemesis ok phase main`},
		{name: "slow to recover", header: "ttl 10ms", bounds: map[string]int64{"recovery_ns": 10e6}, id: "L4", want: "The fault cut-link was healed at 0.003000 s",
			history: `
			 0ms nemesis invoke fault cut-link target n1
			 1ms nemesis ok fault cut-link target n1 receipt r
			 2ms nemesis invoke heal cut-link target n1
			 3ms nemesis ok heal cut-link target n1 receipt r
			 4ms a invoke acquire k
			14ms a ok acquire k until 20ms`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := parse(t, c.header, c.history)
			h.Header.Bounds = c.bounds
			r := Check(t.Context(), h, Options{})
			for _, f := range slices.Concat(r.Violations, r.Breaches) {
				if f.ID == c.id {
					if !strings.Contains(f.Text, c.want) {
						t.Errorf("%q does not say %q", f.Text, c.want)
					}
					return
				}
			}
			t.Errorf("no %s in %v %v", c.id, short(r.Violations), short(r.Breaches))
		})
	}
}

// TestExample judges the example of the format's description: the JSON must
// be what that description prints, the free text and the time taken apart.
func TestExample(t *testing.T) {
	f, err := os.Open("testdata/example.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd, err := history.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	j := New(rd.Header(), Options{})
	var e history.Event
	for {
		err := rd.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		j.Event(&e)
	}
	r := j.Finish(context.Background(), rd.Truncated())
	text := r.Violations[0].Text
	for _, word := range []string{"a", "b", "k", "client-pause", "1.002000 s", "Remedy"} {
		if !strings.Contains(text, word) {
			t.Errorf("the text does not say %q: %s", word, text)
		}
	}
	r.Violations[0].Text = "…"
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":1,"verdict":"FAIL","exit":1,` +
		`"violations":[{"id":"S3z","name":"zombie effect","key":"k","owners":["a","b"],"witness":[1,5,11],"blame":"client outlived its lease","breakers":["client-pause"],"text":"…"}],` +
		`"suspicious":[],"expected_missing":[],"inconclusive":[],` +
		`"evidence":{"grants":2,"contended":1,"handovers":1,"faulted_handovers":1,"takeovers":1,"fence_saves":0,"unknown":0,"resolved":0},` +
		`"checked":{"events":13,"seconds":0}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	t.Log(text)
}
