package distributed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"locktorture/cmd/torture/internal/farm"
)

// While workers are waited for, those that came early are asked for something, or else they
// would give their parts up; and of one that leaves, another has the part.
func TestWorkersThatComeLateOrLeave(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	left := make(chan string, 100)
	c, err := Open(ctx, Config{Conn: p.connect(), Build: build, Dir: t.TempDir(), Log: func(line string) {
		if strings.HasPrefix(line, "worker w1 left") {
			left <- line
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]int{}
	part := func(i int, o Offer) (any, error) {
		parts[o.Name] = i
		return nil, nil
	}
	kill := p.start("w1", t.TempDir())
	p.start("w2", t.TempDir())
	if err := c.Gather(ctx, 2, part); err != nil {
		t.Fatal(err)
	}
	asked := make(chan *nats.Msg, 1000)
	if _, err := p.connect().ChanSubscribe(clockPrefix+c.run+".w2", asked); err != nil {
		t.Fatal(err)
	}
	kill()
	for _, r := range c.Remotes() {
		if r.Name == "w1" {
			r.silent = time.Now().Add(-2 * goneAfter)
		}
	}
	waiting, stop := context.WithCancel(ctx)
	late := make(chan error, 1)
	go func() { late <- c.Gather(waiting, 3, part) }()
	wait(t, asked, "nobody asks for anything of who came early")
	wait(t, left, "the part of one who left is kept for it")
	stop()
	if err := <-late; err == nil {
		t.Error("two workers are three")
	}
	p.start("w3", t.TempDir())
	if err := c.Gather(ctx, 2, part); err != nil {
		t.Fatal(err)
	}
	if len(c.Remotes()) != 2 || parts["w3"] != parts["w1"] || parts["w2"]+parts["w3"] != 1 {
		t.Errorf("%d workers, parts %v", len(c.Remotes()), parts)
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// A worker of another build gets no part, and the coordinator says so once.
func TestWorkerOfAnotherBuild(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	said := make(chan string, 100)
	c, err := Open(ctx, Config{Conn: p.connect(), Build: farm.Build{Program: "another"}, Dir: t.TempDir(), Log: func(line string) { said <- line }})
	if err != nil {
		t.Fatal(err)
	}
	p.start("w1", t.TempDir())
	waiting, stop := context.WithCancel(ctx)
	late := make(chan error, 1)
	go func() {
		late <- c.Gather(waiting, 1, func(int, Offer) (any, error) {
			t.Error("it has a part")
			return nil, nil
		})
	}()
	select {
	case line := <-said:
		if !strings.Contains(line, "worker w1") || !strings.Contains(line, build.String()) || !strings.Contains(line, "another") {
			t.Error(line)
		}
	case <-time.After(limit):
		t.Error("nobody is told why the worker has no part")
	}
	stop()
	if err := <-late; err == nil {
		t.Error("it is there")
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func wait[T any](t *testing.T, c <-chan T, otherwise string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(limit):
		t.Fatal(otherwise)
	}
}

// A worker that the command started itself and that ends before it came is not waited for,
// and what it said last is told.
func TestWorkersOfTheCommandThatEndAreNotWaitedFor(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	log := filepath.Join(t.TempDir(), "w3.log")
	if err := os.WriteFile(log, []byte("joins\ntorture: no \x1b[31mroom\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ended <- exitError("w3", errors.New("exit status 70"), log)
	c, err := Open(ctx, Config{Conn: p.connect(), Build: build, Dir: t.TempDir(), Log: func(string) {}, Ended: ended})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Gather(ctx, 1, func(int, Offer) (any, error) { return nil, nil })
	if err == nil || !strings.Contains(err.Error(), `worker w3, which this command had started, ended: exit status 70: torture: no `) || strings.Contains(err.Error(), "\x1b") {
		t.Error(err)
	}
}
