package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
)

const (
	shell     = "/bin/sh"
	startSoon = 10 * time.Second
)

// needShell asks for what the children in shell are made of.
func needShell(t *testing.T) {
	t.Helper()
	for _, tool := range []string{shell, "sed", "mkdir", "rmdir", "cat", "sleep"} {
		if _, err := exec.LookPath(tool); err != nil {
			redistest.Need(t, tool)
		}
	}
}

// script is a child in shell: it greets with caps and clock, and then does body
// for every line, in which $id and $h are the request's.
func script(t *testing.T, caps, clock, body string) Command {
	t.Helper()
	needShell(t)
	return Command{
		Path: shell, IO: 50 * time.Millisecond, Grace: 5 * time.Second, Start: startSoon,
		Args: []string{"-c", `
IFS= read -r line
echo '{"t":"init_ok","re":1,"lib":"sh","caps":"` + caps + `","clock":"` + clock + `"}'
while IFS= read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
	h=$(printf '%s' "$line" | sed 's/.*"h":"\([^"]*\)".*/\1/')
	case $line in
	*'"t":"quit"'*) exit ;;
	` + body + `
	esac
done`},
	}
}

func TestTemplate(t *testing.T) {
	needShell(t)
	c := Command{Path: "wrappers/template.sh", Start: startSoon, Env: []string{"LOCK_DIR=" + t.TempDir()}}
	a, b := open(t, c, nil), open(t, c, nil)
	lease := mustAcquire(t, a, time.Second)
	if _, err := b.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("second acquire: %v, want ErrHeld", err)
	}
	if err := lease.Extend(t.Context(), time.Second); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("extend: %v, want ErrUnsupported", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("second release: %v, want ErrLost", err)
	}
	mustAcquire(t, b, time.Second)
}

// TestDeadlines: a deadline of the harness's own clock is taken as it is, one that can only be
// of another clock, or in another unit, is told of.
func TestDeadlines(t *testing.T) {
	soon, of := time.Now().Add(time.Minute).Sub(instant(0)), strconv.FormatInt
	for until, want := range map[string]string{
		"1": "", "1795779540081591": "more than 48 hours ahead: want microseconds of CLOCK_MONOTONIC",
		of(soon.Milliseconds(), 10): "now or soon in milliseconds: want microseconds", of(int64(soon.Seconds()), 10): "now or soon in seconds: want microseconds",
	} {
		found := want != ""
		l := start1(t, script(t, "ttl,until", "monotonic", `*'"t":"acquire"'*) echo '{"t":"acquire_ok","re":'$id',"h":"'$h'","until_us":`+until+`}' ;;`), nil)
		lease := mustAcquire(t, l, time.Second)
		if got := lease.ValidUntil(); got.IsZero() != found || got.After(time.Now()) {
			t.Errorf("until_us %s: valid until %v", until, got)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		said := l.(Process).Findings()
		if len(said) > 0 != found || found && !strings.Contains(said[0], "until_us of acquire_ok is "+until+", which is "+want) {
			t.Errorf("until_us %s: findings %q", until, said)
		}
	}
}

// TestGreetingThatCannotBeRead says what was wrong with it.
func TestGreetingThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ caps, want string }{
		{`","clock":"none","caps":["ttl","rw"],"lib":"`, `a line that is no message (caps is array: want a text)`},
		{"ttl,extand", `caps: unknown ability "extand": want some of ttl extend until`},
	} {
		silent := script(t, c.caps, "none", `*) ;;`)
		silent.Start = 2 * time.Second
		if _, err := silent.Factory()(nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("caps %q: %v, want %q", c.caps, err, c.want)
		}
	}
}

// TestAnswers covers what an answer to an acquisition can say.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		check        func(lockimpl.Lease, error) bool
	}{
		{"granted, with token and a deadline of another clock", `"t":"acquire_ok","fence":7,"until_us":1`, func(l lockimpl.Lease, err error) bool {
			return err == nil && l.Fence() == 7 && l.ValidUntil().IsZero()
		}},
		{"refused", `"t":"acquire_no","why":"taken"`, func(_ lockimpl.Lease, err error) bool {
			return errors.Is(err, lockimpl.ErrHeld)
		}},
		{"definite error", `"t":"error","definite":true,"text":"refused"`, func(_ lockimpl.Lease, err error) bool {
			return errors.Is(err, lockimpl.ErrNoQuorum)
		}},
		{"indefinite error", `"t":"error","definite":false,"text":"timeout"`, func(_ lockimpl.Lease, err error) bool {
			return err != nil && !errors.Is(err, lockimpl.ErrNoQuorum) && !errors.Is(err, lockimpl.ErrHeld)
		}},
		{"an answer of another kind", `"t":"extend_ok"`, func(_ lockimpl.Lease, err error) bool {
			return err != nil && !errors.Is(err, lockimpl.ErrHeld)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, script(t, "", "none", `*) echo "{`+strings.ReplaceAll(c.answer, `"`, `\"`)+`,\"re\":$id,\"h\":\"$h\"}" ;;`), nil)
			if lease, err := l.Acquire(t.Context(), "k", time.Second); !c.check(lease, err) {
				t.Errorf("acquire: %v, %v", lease, err)
			}
		})
	}
}

// TestLossIsTold has the child report a loss right after the grant.
func TestLossIsTold(t *testing.T) {
	l := open(t, script(t, "lost,watchdog", "none", `
	*) echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}"
	   echo "{\"t\":\"lost\",\"h\":\"$h\",\"us\":1,\"why\":\"gone\"}" ;;`), nil)
	<-mustAcquire(t, l, time.Second).(lockimpl.LostNotifier).Lost()
}

// TestAbilities asks the lockers whether they are what their children say.
func TestAbilities(t *testing.T) {
	for _, c := range []struct {
		caps              string
		shared, reentrant bool
	}{{"ttl", false, false}, {"rw", true, false}, {"reentrant ttl", false, true}, {"rw,reentrant", true, true}} {
		l := open(t, script(t, c.caps, "none", `*) ;;`), nil)
		_, s := l.(lockimpl.SharedLocker)
		_, r := l.(lockimpl.ReentrantLocker)
		if s != c.shared || r != c.reentrant {
			t.Errorf("caps %q: shared %t, re-entrant %t", c.caps, s, r)
		}
	}
}

// TestFindings breaks the protocol in every way that must be noticed.
func TestFindings(t *testing.T) {
	const grant = `echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}"`
	for _, c := range []struct{ name, clock, body, want string }{
		{"garbage", "none", `*) echo hello; ` + grant + ` ;;`, "no message"},
		{"answer to nothing", "none", `*) echo '{"t":"release_ok","re":99}'; ` + grant + ` ;;`, "an answer to nothing"},
		{"write without a lease", "none", `*) echo '{"t":"write","h":"x","n":1}'; ` + grant + ` ;;`, "unknown handle"},
		{"times out of order", "monotonic", `*) echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\",\"us0\":2,\"us1\":1}" ;;`, "times out of order"},
		{"late answer", "none", `*) sleep 1; ` + grant + ` ;;`, "budget"},
		{"no answer", "none", `*) ;;`, "has not been answered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			silent := strings.Contains(c.want, "answered") || c.want == "budget"
			command := script(t, "", c.clock, c.body)
			if silent {
				command.Grace = 700 * time.Millisecond
			}
			l := start1(t, command, nil)
			_, err := l.Acquire(t.Context(), "k", time.Second)
			if silent != errors.Is(err, ErrSilent) {
				t.Errorf("acquire: %v", err)
			}
			if err := l.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if f := strings.Join(l.(Process).Findings(), "\n"); !strings.Contains(f, c.want) {
				t.Errorf("findings %q, want one about %q", f, c.want)
			}
		})
	}
}

// TestStoppedChildIsNotSilent stops the child for longer than budget and grace:
// no finding, and the answer counts when it comes.
func TestStoppedChildIsNotSilent(t *testing.T) {
	c := script(t, "", "none", `*) echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}" ;;`)
	c.Grace = time.Second
	l := open(t, c, nil)
	if _, err := l.(Process).Stop(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := l.Acquire(t.Context(), "k", time.Second); done <- err }()
	select {
	case err := <-done:
		t.Fatalf("a stopped child answered: %v", err)
	case <-time.After(c.IO + 3*c.Grace/2):
	}
	if _, err := l.(Process).Cont(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("acquire across a stop: %v", err)
	}
}

// TestLateGrantIsUndone gives up on an acquisition that is granted afterwards: it is released, and
// nothing counts that the child writes until it hears of that.
func TestLateGrantIsUndone(t *testing.T) {
	dir := t.TempDir()
	c := script(t, "", "none", `
	*'"t":"acquire"'*) sleep 2; echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}"; echo "{\"t\":\"write\",\"h\":\"$h\",\"n\":1}" ;;
	*'"t":"release"'*) : >'`+dir+`/released'; echo "{\"t\":\"release_ok\",\"re\":$id,\"h\":\"$h\"}" ;;`)
	c.IO, c.Grace = 5*time.Second, time.Second
	l := open(t, c, nil)
	seen := watch(l)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := l.Acquire(ctx, "k", time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("acquire: %v, want the context's end", err)
	}
	for syscall.Access(dir+"/released", 0) != nil {
		time.Sleep(10 * time.Millisecond)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if len(seen.writes) > 0 {
		t.Errorf("writes count: %+v", seen.writes)
	}
}

// TestOtherHoldsOfALostLease: whoever learns that one hold of its lease is lost is about to give
// back the others. What its child writes under those until it hears of that does not count; what it
// writes under the one that it said is lost, or has given back, does, and so does all that other owners write.
func TestOtherHoldsOfALostLease(t *testing.T) {
	for name, no := range map[string]string{
		"release": `{\"t\":\"release_no\",\"re\":$id,\"h\":\"$h\"}`, "extend": `{\"t\":\"extend_no\",\"re\":$id,\"h\":\"$h\"}`,
		"check": `{\"t\":\"check_ok\",\"re\":$id,\"h\":\"$h\",\"held\":false}`, "lost": `{\"t\":\"lost\",\"h\":\"$h\",\"us\":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			const each = `for x in h1 h2 h3 h4 h5; do echo "{\"t\":\"write\",\"h\":\"$x\",\"n\":$n}"; done`
			answer := `echo "` + no + `"`
			if name == "lost" {
				answer += `; echo "{\"t\":\"extend_ok\",\"re\":$id,\"h\":\"$h\"}"`
			}
			c := script(t, "reentrant,extend,check,lost", "none", `
			*'"t":"acquire"'*) echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}" ;;
			*'"h":"h5"'*'"t":"release"'*) echo "{\"t\":\"release_ok\",\"re\":$id,\"h\":\"$h\"}" ;;
			*) n=1; `+each+`; `+answer+`; n=2; `+each+` ;;`)
			c.IO = time.Second
			l := start1(t, c, nil)
			seen := watch(l)
			var holds []lockimpl.Lease
			for _, of := range [][2]string{{"a", "k"}, {"a", "k"}, {"b", "k"}, {"a", "other"}, {"a", "k"}} {
				lease, err := l.(lockimpl.ReentrantLocker).AcquireAs(t.Context(), of[0], of[1], time.Second)
				if err != nil {
					t.Fatal(err)
				}
				holds = append(holds, lease)
			}
			if err := holds[4].Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			switch name {
			case "release":
				_ = holds[1].Release(t.Context())
			case "check":
				_, _ = holds[1].(interface {
					Held(context.Context) (bool, error)
				}).Held(t.Context())
			default:
				_ = holds[1].Extend(t.Context(), time.Second)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if want := "h1/1 h2/1 h3/1 h4/1 h5/1 h2/2 h3/2 h4/2 h5/2"; seen.names() != want {
				t.Errorf("writes %s count, want %s", seen.names(), want)
			}
		})
	}
}

// TestRefusedReentry: whoever asks once more for what it held, when that lease is over, and is refused, knows that it holds
// nothing. What its child writes under that lease until it hears of the release does not count. Within the lease a refusal
// says nothing of it.
func TestRefusedReentry(t *testing.T) {
	for name, c := range map[string]struct {
		caps   string
		ttl    time.Duration
		extend bool
		want   string
	}{
		"within the lease":                   {"reentrant,ttl,extend", time.Hour, false, "h1/1 h1/2"},
		"behind the lease":                   {"reentrant,ttl,extend", time.Millisecond, false, "h1/1"},
		"within its extension":               {"reentrant,ttl,extend", time.Millisecond, true, "h1/1 h1/2"},
		"of a lease as the library makes it": {"reentrant,extend", time.Millisecond, false, "h1/1 h1/2"},
		"of a lease that its library renews": {"reentrant,ttl,extend,watchdog", 0, false, "h1/1 h1/2"},
	} {
		t.Run(name, func(t *testing.T) {
			command := script(t, c.caps, "none", `
			*'"h":"h1"'*'"t":"acquire"'*) echo "{\"t\":\"acquire_ok\",\"re\":$id,\"h\":\"$h\"}" ;;
			*'"t":"extend"'*) echo "{\"t\":\"extend_ok\",\"re\":$id,\"h\":\"$h\"}" ;;
			*) echo "{\"t\":\"write\",\"h\":\"h1\",\"n\":1}"; echo "{\"t\":\"acquire_no\",\"re\":$id,\"h\":\"$h\"}"; echo "{\"t\":\"write\",\"h\":\"h1\",\"n\":2}" ;;`)
			command.IO = time.Second
			l := start1(t, command, nil)
			seen := watch(l)
			again := l.(lockimpl.ReentrantLocker)
			lease, err := again.AcquireAs(t.Context(), "a", "k", c.ttl)
			if err != nil {
				t.Fatal(err)
			}
			if c.extend {
				if err := lease.Extend(t.Context(), time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(5 * time.Millisecond)
			if _, err := again.AcquireAs(t.Context(), "a", "k", c.ttl); !errors.Is(err, lockimpl.ErrHeld) {
				t.Fatalf("%v, want ErrHeld", err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if seen.names() != c.want {
				t.Errorf("writes %s count, want %s", seen.names(), c.want)
			}
		})
	}
}

// TestStubbornChild does not leave: it is killed, and that is an error.
func TestStubbornChild(t *testing.T) {
	needShell(t)
	l := start1(t, Command{Path: shell, Start: startSoon, Grace: 200 * time.Millisecond, Leave: 200 * time.Millisecond, Args: []string{"-c",
		`read -r line; echo '{"t":"init_ok","re":1,"clock":"none"}'; while :; do sleep 60; done`}}, nil)
	if err := l.Close(); err == nil {
		t.Error("closed a child that does not leave")
	}
	if len(l.(Process).Findings()) == 0 {
		t.Error("no finding about a child that does not leave")
	}
}

// TestSlowLeaver takes longer to leave than an answer may take, as on a busy machine:
// that is no trouble.
func TestSlowLeaver(t *testing.T) {
	needShell(t)
	l := start1(t, Command{Path: shell, Start: startSoon, Grace: 50 * time.Millisecond, Args: []string{"-c",
		`read -r line; echo '{"t":"init_ok","re":1,"clock":"none"}'; while read -r line; do :; done; sleep 0.5`}}, nil)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if f := l.(Process).Findings(); len(f) > 0 {
		t.Errorf("findings %q about a child that leaves late", f)
	}
}

// TestLastWords are told when a child does not greet.
func TestLastWords(t *testing.T) {
	needShell(t)
	_, err := (Command{Path: shell, Args: []string{"-c", "echo no such module >&2"}}).Factory()(nil)
	if err == nil || !strings.Contains(err.Error(), "no such module") {
		t.Errorf("start: %v, want the child's last words", err)
	}
}

// TestEnded: what is closed has ended, though the time to wait for it was over too.
func TestEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed, open := make(chan struct{}), make(chan struct{})
		close(closed)
		for range 1000 {
			if !closedWithin(closed, 0) || closedWithin(open, 0) || closedWithin(open, time.Second) {
				t.Fatal("closed and open are not told apart")
			}
		}
	})
}

// TestKilledAtItsStart: a child that is killed before it greets is told as killed.
func TestKilledAtItsStart(t *testing.T) {
	needShell(t)
	for _, c := range []struct {
		script string
		kill   bool
		says   string
	}{
		{"read -r line; kill -KILL $$", true, "ended (signal: killed) although nobody had told it to"},
		{"kill -KILL $$", true, "ended (signal: killed) although nobody had told it to"},
		{"read -r line; exit 3", false, "ended (exit status 3) although nobody had told it to"},
	} {
		_, err := (Command{Path: shell, Args: []string{"-c", c.script}}).Factory()(nil)
		var death *DeathError
		if !errors.Is(err, ErrGone) || !errors.As(err, &death) || death.Kill != c.kill || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: start: %v", c.script, err)
		}
	}
}

// TestNoChild cannot be started, leaves, or never greets.
func TestNoChild(t *testing.T) {
	needShell(t)
	for name, c := range map[string]struct {
		command Command
		want    error
	}{
		"missing": {Command{Path: "/nonexistent"}, os.ErrNotExist},
		"leaves":  {Command{Path: shell, Args: []string{"-c", "exit"}}, ErrGone},
		"mute":    {Command{Path: shell, Args: []string{"-c", "while read -r line; do :; done"}, Start: 50 * time.Millisecond, Grace: time.Second}, ErrSilent},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.command.Factory()(nil); !errors.Is(err, c.want) {
				t.Errorf("start: %v, want %v", err, c.want)
			}
		})
	}
}

// TestAStartEndsAtItsLimit: a child that does not greet is killed when its start may take
// no longer, and not asked to leave: grace and leave are hours here, which the test would
// wait for.
func TestAStartEndsAtItsLimit(t *testing.T) {
	needShell(t)
	for what, script := range map[string]string{
		"never reads":      "sleep 1000",
		"ignores SIGTERM":  "trap '' TERM; while :; do sleep 1; done",
		"closes its ends":  "exec <&- >&-; sleep 1000",
		"closes its input": "exec <&-; sleep 1000",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := Command{Path: shell, Args: []string{"-c", "echo pid $$ >&2; " + script}, Start: startSoon, Grace: time.Hour, Leave: time.Hour}
			_, err := c.Factory()(nil)
			if !errors.Is(err, ErrSilent) {
				t.Errorf("start: %v, want %v", err, ErrSilent)
			}
			mustBeDead(t, err)
		})
	}
}

// TestAStartIsCalledOff: a start ends with its context, and its child with it.
func TestAStartIsCalledOff(t *testing.T) {
	needShell(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	calledOff := errors.New("called off")
	c := Command{Path: shell, Args: []string{"-c", "echo pid $$ >&2; sleep 1000"}, Start: time.Hour, Grace: time.Hour, Leave: time.Hour}
	c.Log = onWrite(func() { cancel(calledOff) })
	_, err := c.Starter()(ctx, nil)
	if !errors.Is(err, calledOff) {
		t.Errorf("start: %v, want what called it off", err)
	}
	mustBeDead(t, err)
}

// onWrite is called with every write.
type onWrite func()

// Write implements io.Writer.
func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// TestAChildThatRefusesIsKilled: no start that failed leaves a child behind, whatever it
// goes on with.
func TestAChildThatRefusesIsKilled(t *testing.T) {
	needShell(t)
	c := Command{Path: shell, Start: time.Hour, Grace: time.Hour, Leave: time.Hour, Args: []string{"-c",
		`echo pid $$ >&2; read -r line; echo '{"t":"error","re":1,"text":"no such node"}'; sleep 1000`}}
	_, err := c.Factory()(nil)
	if err == nil || !strings.Contains(err.Error(), "no such node") {
		t.Errorf("start: %v, want what the child said", err)
	}
	mustBeDead(t, err)
}

// mustBeDead looks for the child that said its pid in the log that ends err.
func mustBeDead(t *testing.T, err error) {
	t.Helper()
	pid := 0
	if _, said, found := strings.Cut(fmt.Sprint(err), "pid "); found {
		_, _ = fmt.Sscan(said, &pid)
	}
	if pid == 0 {
		t.Fatalf("the error does not tell what the child has logged: %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		t.Errorf("child %d is left: %v", pid, err)
	}
}
