package distributed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// limit bounds what a test waits for.
const limit = 60 * time.Second

var build = farm.Build{Program: "test"}

// A place is a server of NATS that a test may take away and bring back.
type place struct {
	t   *testing.T
	at  farm.Access
	dir string
	hub *farm.Hub
}

func newPlace(t *testing.T) *place {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, at: farm.Access{URL: "nats://" + l.Addr().String()}, dir: t.TempDir()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p.up()
	t.Cleanup(func() { p.hub.Close() })
	return p
}

func (p *place) up() {
	p.t.Helper()
	var err error
	if p.hub, err = farm.OpenHub(p.at, p.dir, 0, "test server", func(string) {}); err != nil {
		p.t.Fatal(err)
	}
}

// connect is a connection of its own, which is dialled again when the server comes back.
func (p *place) connect() *nats.Conn {
	p.t.Helper()
	h, err := farm.OpenHub(p.at, "", 0, "test client", func(string) {})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(h.Close)
	return h.Conn
}

// A notepad is a part that records what it is told to.
type notepad struct {
	began   time.Time
	rec     *history.Recorder
	journal *Journal
	over    chan struct{}
	once    sync.Once
}

func (n *notepad) Now() time.Duration    { return time.Since(n.began) }
func (n *notepad) Over() <-chan struct{} { return n.over }
func (n *notepad) Abandon() {
	n.once.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = n.journal.Close(ctx)
		close(n.over)
	})
}

func (n *notepad) Do(ctx context.Context, op string, body json.RawMessage) (any, error) {
	switch op {
	case "write":
		var count int
		if err := json.Unmarshal(body, &count); err != nil {
			return nil, err
		}
		for range count {
			n.rec.Append(history.Event{Process: history.Witness, Kind: history.OK, Op: history.Key, Key: "k", Node: "n1"})
		}
	case "finish":
		n.once.Do(func() {
			_, _ = n.journal.Close(ctx)
			close(n.over)
		})
	}
	return nil, nil
}

// start starts a worker; the function that it returns ends it at once, as a kill does:
// nothing is sent any more.
func (p *place) start(name, dir string) (kill func()) {
	conn := p.connect()
	ctx, cancel := context.WithCancel(context.Background())
	w := &Worker{Conn: conn, Name: name, Build: build, Dir: dir, Log: func(line string) { p.t.Log(name + ": " + line) }}
	w.Open = func(_ context.Context, _ json.RawMessage, keep Keep) (Part, error) {
		j, err := keep(history.Header{Type: "history", Version: history.Version, TTL: time.Second})
		n := &notepad{began: time.Now(), journal: j, over: make(chan struct{})}
		n.rec = history.NewRecorder(j)
		return n, err
	}
	var all sync.WaitGroup
	all.Go(func() {
		if err := w.Run(ctx); err != nil {
			p.t.Error(err)
		}
	})
	kill = sync.OnceFunc(func() {
		conn.Close()
		cancel()
		all.Wait()
	})
	p.t.Cleanup(kill)
	return kill
}

// coordinate opens a run with so many workers.
func (p *place) coordinate(n int) (*Coordinator, *sync.Map) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c, err := Open(ctx, Config{Conn: p.connect(), Build: build, Dir: p.t.TempDir(), Log: func(line string) { p.t.Log(line) }})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Gather(ctx, n, func(int, Offer) (any, error) { return nil, nil }); err != nil {
		p.t.Fatal(err)
	}
	seen := &sync.Map{}
	h := history.Header{Type: "history", Version: history.Version, TTL: time.Second}
	err = c.Begin(ctx, time.Now(), h, func(r *Remote, e *history.Event) {
		if _, twice := seen.LoadOrStore(fmt.Sprint(r.Name, e.Index), e.Time); twice {
			p.t.Errorf("event %d of %s was seen twice", e.Index, r.Name)
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return c, seen
}

func ask(t *testing.T, r *Remote, op string, in any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := r.Ask(ctx, op, in, nil); err != nil {
		t.Fatal(err)
	}
}

// compare compares what was taken in with the worker's own file, event by event: none is
// missing, none is there twice.
func compare(t *testing.T, r *Remote, c *Coordinator, dir string) int {
	t.Helper()
	read := func(path string) (all []history.Event) {
		source, closer, err := historyfile.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer closer.Close()
		var e history.Event
		for source.Next(&e) == nil {
			all = append(all, e)
		}
		return all
	}
	own, got := read(filepath.Join(dir, journalName(c.run, r.Name))), read(r.Path())
	if len(own) != len(got) {
		t.Fatalf("%s: %d events in its own file, %d taken in", r.Name, len(own), len(got))
	}
	for i := range own {
		if own[i] != got[i] {
			t.Fatalf("%s: event %d is %+v, and was taken in as %+v", r.Name, i, own[i], got[i])
		}
	}
	return len(own)
}

func finish(t *testing.T, c *Coordinator) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := c.awaitReceived(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Remotes() {
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJournalWaitsForWhatIsBeingWritten: events that have left the buffer and are not in the
// file yet are not acknowledged.
func TestJournalWaitsForWhatIsBeingWritten(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "part"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j := &Journal{file: file}
	if err := j.sendAll(ctx); err != nil {
		t.Errorf("nothing was recorded: %v", err)
	}
	j.Event(&history.Event{Process: history.Witness, Kind: history.OK, Op: history.Key, Key: "k", Node: "n1"})
	j.buf = nil // as the writer takes it
	if err := j.sendAll(ctx); err == nil {
		t.Error("an event that is in no file yet counts as sent")
	}
}

// TestServerAway: the server of NATS goes away while workers record, and comes back: every
// event comes in once, and nobody counts as lost.
func TestServerAway(t *testing.T) {
	p := newPlace(t)
	dirs := []string{t.TempDir(), t.TempDir()}
	for i, dir := range dirs {
		p.start(fmt.Sprint("w", i), dir)
	}
	c, seen := p.coordinate(2)
	for _, r := range c.Remotes() {
		ask(t, r, "write", 1000)
	}
	p.hub.Close()
	time.Sleep(time.Second) // while batches are refused
	p.up()
	total := 0
	for _, r := range c.Remotes() {
		ask(t, r, "write", 1000)
		ask(t, r, "finish", nil)
	}
	finish(t, c)
	for _, r := range c.Remotes() {
		total += compare(t, r, c, dirs[strings.Index("w0w1", r.Name)/2])
	}
	count := 0
	seen.Range(func(any, any) bool { count++; return true })
	if total != 4000 || count != total {
		t.Errorf("%d events in all, %d seen while the run went on, want 4000", total, count)
	}
}

// TestKilledWorkerReturns: a worker is killed with events in its file that nobody has
// acknowledged, and one half written; started anew, it sends what was left.
func TestKilledWorkerReturns(t *testing.T) {
	p := newPlace(t)
	dir := t.TempDir()
	kill := p.start("w", dir)
	c, _ := p.coordinate(1)
	r := c.Remotes()[0]
	ask(t, r, "write", 1000)
	p.hub.Close() // what comes now is not acknowledged
	path := filepath.Join(dir, journalName(c.run, "w"))
	kill()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have := strings.Count(string(before), "\n") - 1
	var more []byte
	for i := range 500 {
		e := history.Event{Index: have + i, Time: time.Hour, Process: history.Witness, Kind: history.OK, Op: history.Key, Key: "k", Node: "n1"}
		more = history.AppendEvent(more, &e)
	}
	if _, err := f.Write(append(more, `{"index":15`...)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p.up()
	p.start("w", dir)
	finish(t, c)
	if r.Lost() == "" || !r.Returned() || !r.Whole() {
		t.Errorf("lost %q, returned %t, whole %t", r.Lost(), r.Returned(), r.Whole())
	}
	if n := r.Received(); n != have+500 {
		t.Errorf("%d events were taken in, want %d", n, have+500)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+ackedSuffix)); left != nil {
		t.Errorf("%v says that something is left to send", left)
	}
}

// TestKilledWorkerStaysAway: it counts as lost, with what it had sent.
func TestKilledWorkerStaysAway(t *testing.T) {
	p := newPlace(t)
	kill := p.start("w", t.TempDir())
	c, seen := p.coordinate(1)
	r := c.Remotes()[0]
	ask(t, r, "write", 10)
	for deadline := time.Now().Add(limit); r.Received() < 10 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	kill()
	finish(t, c)
	n := 0
	seen.Range(func(any, any) bool { n++; return true })
	if r.Lost() == "" || r.Whole() || n != 10 {
		t.Errorf("lost %q, whole %t, %d events", r.Lost(), r.Whole(), n)
	}
	if all := r.Silences(); len(all) == 0 || !all[len(all)-1].Gone || all[len(all)-1].Over == 0 {
		t.Errorf("its process is no more, and on record is %+v", all)
	}
}

// TestTwoCoordinators: a worker that has a part takes none of another run.
func TestTwoCoordinators(t *testing.T) {
	p := newPlace(t)
	p.start("w", t.TempDir())
	c, _ := p.coordinate(1)
	other, err := Open(t.Context(), Config{Conn: p.connect(), Build: build, Dir: t.TempDir(), Log: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := other.Gather(ctx, 1, func(int, Offer) (any, error) { return nil, nil }); err == nil {
		t.Error("it took a second part")
	}
	if err := other.Close(t.Context()); err != nil {
		t.Error(err)
	}
	ask(t, c.Remotes()[0], "finish", nil)
	finish(t, c)
}

// TestFullStream: a stream that takes nothing more keeps what it has, and takes the rest
// once there is room.
func TestFullStream(t *testing.T) {
	p := newPlace(t)
	dir := t.TempDir()
	p.start("w", dir)
	c, _ := p.coordinate(1)
	full := c.stream.CachedInfo().Config
	full.MaxBytes = 2000
	if _, err := c.js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	r := c.Remotes()[0]
	ask(t, r, "write", 1000)
	time.Sleep(300 * time.Millisecond) // while it is full
	if n := r.Received(); n == 1000 {
		t.Error("the stream was not full")
	}
	full.MaxBytes = -1
	if _, err := c.js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	ask(t, r, "finish", nil)
	finish(t, c)
	if n := compare(t, r, c, dir); n != 1000 {
		t.Errorf("%d events", n)
	}
}

// TestSilence: a worker that answers nothing for a while is on record from its last
// answer to its next one, and until TCP has sent everything again; one that answers is not.
func TestSilence(t *testing.T) {
	p := newPlace(t)
	p.start("w", t.TempDir())
	c, _ := p.coordinate(1)
	r := c.Remotes()[0]
	covers := func(from, to time.Time) *Silence {
		for _, s := range r.Silences() {
			if s.From <= from.Sub(c.began) && s.To >= to.Sub(c.began) && s.Over >= s.To+(s.To-s.From) {
				return &s
			}
		}
		return nil
	}
	ask(t, r, "write", 1)
	began := time.Now()
	p.hub.Close()
	time.Sleep(2 * silentAfter) // long enough to be one
	ended := time.Now()
	p.up()
	ask(t, r, "write", 1)
	for deadline := time.Now().Add(limit); covers(began, ended) == nil; {
		if time.Now().After(deadline) {
			t.Fatalf("silent from %v to %v; on record: %v", began.Sub(c.began), ended.Sub(c.began), r.Silences())
		}
		time.Sleep(time.Millisecond)
	}
	ask(t, r, "finish", nil)
	finish(t, c)
	if s := covers(began, ended); s.Gone || r.Lost() != "" {
		t.Errorf("%+v, lost %q", s, r.Lost())
	}
}

// TestNameIsTaken: a second worker of a name that is at work is refused, on the server and
// in its folder, and sends nothing of what the first is recording. Once the first is no
// more, the name is free.
func TestNameIsTaken(t *testing.T) {
	p, other := newPlace(t), newPlace(t)
	dir := t.TempDir()
	kill := p.start("w", dir)
	c, _ := p.coordinate(1)
	r := c.Remotes()[0]
	ask(t, r, "write", 100)
	for _, at := range []struct {
		name string
		*place
		dir string
	}{{"on the server", p, t.TempDir()}, {"in the folder", other, dir}} {
		second := &Worker{Conn: at.connect(), Name: "w", Build: build, Dir: at.dir, Log: func(line string) { t.Log(line) }}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		if err := second.Run(ctx); !errors.Is(err, ErrTaken) {
			t.Errorf("%s: %v", at.name, err)
		}
		cancel()
	}
	ask(t, r, "write", 100)
	ask(t, r, "finish", nil)
	finish(t, c)
	if n := compare(t, r, c, dir); n != 200 || r.Lost() != "" {
		t.Errorf("%d events, lost %q", n, r.Lost())
	}
	kill()
	p.start("w", dir)
	if c, _ := p.coordinate(1); c.Remotes()[0].Name != "w" {
		t.Error("nobody has the name")
	}
}
