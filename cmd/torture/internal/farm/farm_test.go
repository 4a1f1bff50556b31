package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// generous bounds what waits for processes on a busy machine.
const generous = 4 * time.Minute

// The kinds of tasks that the players of these tests know.
const (
	double = "double" // twice the number that the task is
	dies   = "dies"   // the process ends with a panic
	lasts  = "lasts"  // until it is called off; writes files when it begins and ends

	untilOther = "until-other" // the first to play it never ends, the second does at once
	records    = "records"     // answers with a record
)

func TestMain(m *testing.M) {
	if Playing() {
		os.Exit(ServePlayer(map[string]Player{double: playDouble, dies: playDies, lasts: playLasts, untilOther: playUntilOther, records: playRecords}, os.Stdin))
	}
	if url := os.Getenv(workerVariable); url != "" {
		os.Exit(workAlone(url))
	}
	goleak.VerifyTestMain(m)
}

func playDouble(_ context.Context, t Task, _ string) Answer {
	var n int
	if err := json.Unmarshal(t.Body, &n); err != nil {
		return Answer{Trouble: err.Error()}
	}
	return Answer{Body: fmt.Appendf(nil, "%d", 2*n)}
}

func playDies(context.Context, Task, string) Answer {
	panic("the lock's own goroutine")
}

func playLasts(ctx context.Context, t Task, _ string) Answer {
	touch(t, "")
	<-ctx.Done()
	touch(t, ".off")
	return Answer{Body: []byte(`"called off"`)}
}

func playUntilOther(ctx context.Context, t Task, _ string) Answer {
	if touch(t, "") {
		<-ctx.Done()
	}
	return Answer{Body: []byte(`true`)}
}

// touch makes the file that a task names; false: it was there.
func touch(t Task, suffix string) bool {
	var path string
	if json.Unmarshal(t.Body, &path) != nil {
		return false
	}
	f, err := os.OpenFile(path+suffix, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

func playRecords(_ context.Context, _ Task, dir string) Answer {
	below := filepath.Join(dir, "run", "nodes")
	if err := errors.Join(os.MkdirAll(below, 0o700), os.WriteFile(filepath.Join(below, "n1.log"), []byte("a log"), 0o600)); err != nil {
		return Answer{Trouble: err.Error()}
	}
	return Answer{Body: []byte(`true`), Record: "run"}
}

// open is a gate that lets everything through.
type open struct{}

func (open) Acquire(ctx context.Context) bool { return ctx.Err() == nil }
func (open) Release()                         {}
func (open) Note(l Load) Load                 { return l }

// address is a free one of this machine.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "nats://" + l.Addr().String()
}

var testBuild = Build{"1", "abc", "test"}

// coordinate opens a farm of its own in dir.
func coordinate(t *testing.T, dir, url string) *Coordinator {
	t.Helper()
	c, err := Open(t.Context(), Config{Access: Access{URL: url}, Serve: true, Dir: dir, Build: testBuild, About: "a test", Log: func(line string) { t.Log("coordinator: " + line) }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// joined runs a worker until the returned function is called.
func joined(t *testing.T, url, name string) (leave func()) {
	t.Helper()
	w := &Worker{
		Access: Access{URL: url}, Name: name, Build: testBuild, Slots: 2, Abilities: []string{"here"}, Dir: t.TempDir(), Gate: open{},
		Log: func(line string) { t.Log(name + ": " + line) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	var one sync.WaitGroup
	one.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	return func() {
		cancel()
		one.Wait()
	}
}

func number(n int) Task {
	return Task{ID: fmt.Sprintf("r%06d", n), Kind: double, Needs: "here", Body: fmt.Appendf(nil, "%d", n)}
}

// within is a context for what must happen on a busy machine too.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), generous)
	t.Cleanup(cancel)
	return ctx
}

// all does tasks at once and returns their answers in order.
func all(ctx context.Context, c *Coordinator, tasks []Task) ([]string, error) {
	answers, errs := make([]string, len(tasks)), make([]error, len(tasks))
	var doing sync.WaitGroup
	for i, t := range tasks {
		doing.Go(func() {
			r, err := c.Do(ctx, t)
			answers[i], errs[i] = string(r.Body)+r.Trouble, err
		})
	}
	doing.Wait()
	return answers, errors.Join(errs...)
}

// TestFarm: every task has its answer, whoever plays it; what kills its player is told,
// and takes nobody else along; records arrive whole; and nothing stays behind.
func TestFarm(t *testing.T) {
	url, dir := address(t), t.TempDir()
	leave := joined(t, url, "early") // before there is a farm
	c := coordinate(t, dir, url)
	also := joined(t, url, "late")
	var tasks []Task
	var want []string
	for n := range 40 {
		tasks, want = append(tasks, number(n)), append(want, fmt.Sprint(2*n))
	}
	answers, err := all(within(t), c, tasks)
	if err != nil || !slices.Equal(answers, want) {
		t.Errorf("%v, %v", answers, err)
	}

	r, err := c.Do(within(t), Task{ID: "x1", Kind: dies, Needs: "here", Body: []byte("0")})
	if err != nil || !strings.Contains(r.Trouble, "panic: the lock's own goroutine") {
		t.Errorf("a player that dies: %+v, %v", r, err)
	}
	if r, err = c.Do(within(t), Task{ID: "x2", Kind: "unheard-of", Needs: "here", Body: []byte("0")}); err != nil || !strings.Contains(r.Trouble, "unheard-of") {
		t.Errorf("a kind that nobody knows: %+v, %v", r, err)
	}

	r, err = c.Do(within(t), Task{ID: "x3", Kind: records, Needs: "here", Body: []byte("0")})
	if err != nil || r.Record == "" {
		t.Fatalf("a record: %+v, %v", r, err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	if err := c.Fetch(within(t), r, to); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "nodes", "n1.log")); string(text) != "a log" {
		t.Errorf("%q, %v", text, err)
	}

	leave()
	also()
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
