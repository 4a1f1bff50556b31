package execjudge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/workload/history"
)

const child = "EXECJUDGE_TEST_CHILD"

// TestMain is also the child of the tests: it answers as its environment says.
func TestMain(m *testing.M) {
	answer, is := os.LookupEnv(child)
	if !is {
		os.Exit(m.Run())
	}
	switch answer {
	case "deaf":
		time.Sleep(time.Hour) // it is killed
	case "gone":
		os.Exit(3)
	}
	events := -1
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		events++
	}
	fmt.Println(strings.ReplaceAll(answer, "N", fmt.Sprint(events)))
}

func held(t *testing.T, d string) history.History {
	t.Helper()
	h, err := history.Parse(`header ttl 100ms
		 0ms a invoke acquire k
		 1ms a ok acquire k until 100ms
		` + d + ` a invoke release k
		90ms a ok release k
		91ms nemesis ok phase end`)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func judge(t *testing.T, h history.History, patience time.Duration, command ...string) checker.Report {
	t.Helper()
	j, err := Start(t.Context(), command, h.Header)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	return checker.Check(t.Context(), h, checker.Options{Own: []checker.Own{j}, Patience: patience})
}

// TestExample builds the example and lets it judge a hold that is too long
// beside one that is not.
func TestExample(t *testing.T) {
	program := filepath.Join(t.TempDir(), "example")
	if out, err := exec.Command("go", "build", "-o", program, "./example").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := judge(t, held(t, "80ms"), 0, program)
	if r.Verdict != checker.Fail || len(r.Violations) != 1 || r.Violations[0].ID != "X1" || fmt.Sprint(r.Violations[0].Witness) != "[1 2]" {
		t.Errorf("held for 79 ms: %s %+v %+v", r.Verdict, r.Violations, r.Inconclusive)
	}
	r = judge(t, held(t, "40ms"), 0, program)
	if r.Verdict != checker.Pass {
		t.Errorf("held for 39 ms: %s %+v %+v", r.Verdict, r.Violations, r.Inconclusive)
	}
}

// TestAnswers shows that only a whole and sound answer counts, and that any
// other leaves the own judge's part undecided.
func TestAnswers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	done := "\n" + `{"done":true,"events":N}`
	for _, c := range []struct {
		name, answer string
		patience     time.Duration
		want         checker.Verdict
		says         string
	}{
		{name: "nothing found", answer: strings.TrimSpace(done), want: checker.Pass},
		{name: "a violation", answer: `{"verdict":"violation","id":"X1","text":"a held too long"}` + done, want: checker.Fail},
		{name: "a suspicion", answer: `{"verdict":"suspicious","id":"X1","text":"a held long"}` + done, want: checker.Pass},
		{name: "too little seen", answer: `{"verdict":"inconclusive","id":"X2","text":"one hold is not enough"}` + done, want: checker.Inconclusive, says: "one hold is not enough"},
		{name: "no end", answer: `{"verdict":"suspicious","id":"X1","text":"a held long"}`, want: checker.Inconclusive, says: "never said"},
		{name: "not all read", answer: `{"done":true,"events":2}`, want: checker.Inconclusive, says: "read 2 events, of 5"},
		{name: "no JSON", answer: "fine!" + done, want: checker.Inconclusive, says: "line 1 of its answer"},
		{name: "an unknown verdict", answer: `{"verdict":"ok","id":"X1","text":"t"}` + done, want: checker.Inconclusive, says: `verdict "ok"`},
		{name: "more after the end", answer: strings.TrimSpace(done) + "\n{}", want: checker.Inconclusive, says: "nothing may follow"},
		{name: "an id of the catalogue", answer: `{"verdict":"violation","id":"S1","text":"t"}` + done, want: checker.Inconclusive, says: "belongs to the catalogue"},
		{name: "a witness that is not there", answer: `{"verdict":"violation","id":"X1","text":"t","witness":[5]}` + done, want: checker.Inconclusive, says: "names event 5"},
		{name: "no text", answer: `{"verdict":"violation","id":"X1"}` + done, want: checker.Inconclusive, says: "without id or text"},
		{name: "gone at once", answer: "gone", want: checker.Inconclusive, says: "exit status 3"},
		{name: "never answers", answer: "deaf", patience: 50 * time.Millisecond, want: checker.Inconclusive, says: "in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(child, c.answer)
			r := judge(t, held(t, "80ms"), c.patience, self)
			texts := ""
			for _, f := range r.Inconclusive {
				texts += f.Text
			}
			if r.Verdict != c.want || !strings.Contains(texts, c.says) || (c.want == checker.Inconclusive) != (texts != "") {
				t.Errorf("%s, %q, violations %v", r.Verdict, texts, r.Violations)
			}
		})
	}
}

// TestDeafChild shows that a child which reads nothing of a long history holds
// nobody up beyond the time allowed.
func TestDeafChild(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(child, "deaf")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	j, err := Start(ctx, []string{self}, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for i := range 20_000 { // far more than a pipe holds
		j.Event(&history.Event{Index: i, Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: "a"})
	}
	if _, err := j.Findings(ctx); err == nil {
		t.Error("an opinion of a child that read nothing")
	}
}

func TestNoSuchProgram(t *testing.T) {
	if _, err := Start(t.Context(), []string{"./no-such-judge"}, history.Header{}); err == nil || !strings.Contains(err.Error(), "no-such-judge") {
		t.Errorf("got %v", err)
	}
	if _, err := Start(t.Context(), nil, history.Header{}); err == nil {
		t.Error("started nothing")
	}
}

// TestGoneFirst leaves a child's part undecided also when the child has gone
// before a line could be sent to it.
func TestGoneFirst(t *testing.T) {
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	in := &input{WriteCloser: w}
	lines, err := history.NewWriter(in, held(t, "80ms").Header)
	if err != nil {
		t.Fatalf("the header was refused: %v", err)
	}
	if err := lines.Flush(); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(in.err, io.ErrClosedPipe) {
		t.Errorf("the child's going was noted as %v, want %v", in.err, io.ErrClosedPipe)
	}
}
