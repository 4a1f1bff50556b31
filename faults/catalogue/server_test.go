package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

// A server fault answers a SET in its own way, and the server is itself again
// after the heal.
func TestServerFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer  string // to SET; empty: none in time
		keeps   string // what a lease granted before looks like meanwhile
		receipt string
	}{
		"server-pause":   {"", "v", "a write is not answered; n1 held every write"},
		"busy-script":    {"BUSY", "", "answered BUSY"},
		"demote":         {"READONLY", "v", "n1 refused 1 commands with READONLY"},
		"evict":          {"OK", "<nil>", "1 keys evicted (allkeys-lru)"},
		"evict-volatile": {"OOM", "<nil>", "evicted 1 keys (volatile-lru)"},
		"out-of-memory":  {"OOM", "v", "n1 refused 1 commands with OOM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := processRig(t, 1, 1)
			n := r.Node("n1")
			r.Put(t, n, "k", "v")
			rdb := r.Dial(t, "c00", "n1")
			knock := func() {
				if name == "evict" { // over at once
					r.knock(t, "c00", "n1")
				}
			}
			f := r.inject(t, name, faults.Params{Node: "n1"}, knock)
			within := faulttest.Late
			if c.answer == "" {
				within = faulttest.Soon
			}
			err := faulttest.Set(t, rdb, within, "other", "v")
			switch {
			case c.answer == "OK" && err != nil, c.answer == "" && err == nil:
				t.Errorf("SET: %v", err)
			case c.answer != "OK" && c.answer != "" && (err == nil || !strings.Contains(err.Error(), c.answer)):
				t.Errorf("SET: %v, want %s", err, c.answer)
			}
			if c.keeps != "" {
				r.await(t, n, "k", c.keeps)
			}
			f.healed(t, c.receipt)
			if err := faulttest.Set(t, r.Dial(t, "c00", "n1"), faulttest.Late, "after", "v"); err != nil {
				t.Errorf("SET after the heal: %v", err)
			}
			for _, setting := range []string{"maxmemory 0", "maxmemory-policy noeviction", "busy-reply-threshold 5000"} {
				key, want, _ := strings.Cut(setting, " ")
				if got, err := stringSetting(t, n, key); got != want {
					t.Errorf("%s is %s after the heal, want %s (%v)", key, got, want, err)
				}
			}
		})
	}
}

func stringSetting(t *testing.T, n testbed.Node, name string) (string, error) {
	return setting(t.Context(), n, name)
}

// What is over at once needs no heal, and shows what it did.
func TestInstantFaults(t *testing.T) {
	for name, receipt := range map[string]string{
		"flushall":     "FLUSHALL: 1 keys, then 0",
		"script-flush": "NOSCRIPT",
		"kick-clients": "CLIENT KILL: 1 connections closed",
		"ttl-shift":    "1 keys expire 2s earlier",
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, 1, 1, func(t *testing.T, r *rig) {
				e := All()[name]
				if err := e.New(e.Default).Supports(r.Target); err != nil {
					if r.Testbed.Name() != testbed.KindEmbedded {
						t.Fatal(err)
					}
					return // refused, as it should be
				}
				n := r.Node("n1")
				r.Put(t, n, "k", "v")
				rdb := r.Dial(t, "c00", "n1")
				script, err := rdb.ScriptLoad(t.Context(), "return 1").Result()
				if err != nil {
					t.Fatal(err)
				}
				operate := func() { _ = rdb.EvalSha(t.Context(), script, nil).Err() }
				f := r.inject(t, name, faults.Params{Node: "n1"}, operate)
				if known, err := testbed.Do(t.Context(), n, "SCRIPT", "EXISTS", script); err != nil || (fmt.Sprint(known) == "[0]") != (name == "script-flush") {
					t.Errorf("script known: %v, %v", known, err)
				}
				left, err := query(t.Context(), n, "PTTL", "k")
				switch {
				case name == "flushall" && left != -2, name == "ttl-shift" && (left > 58000 || left < 50000):
					t.Errorf("PTTL %d, %v", left, err)
				}
				_ = rdb.Ping(t.Context()) // may find that its connection is gone
				if err := rdb.Ping(t.Context()).Err(); err != nil {
					t.Error(err)
				}
				if conns := r.Link("c00", "n1").Traffic().Conns; (conns > 1) != (name == "kick-clients") {
					t.Errorf("%d connections opened", conns)
				}
				f.healed(t, receipt)
			})
		})
	}
}

// A slow server says itself that it spends its time on scripts, and spends none
// after the heal.
func TestSlowNode(t *testing.T) {
	t.Parallel()
	const burst = 30 * time.Millisecond
	r := processRig(t, 1, 1)
	n := r.Node("n1")
	f := r.inject(t, "slow-node", faults.Params{Node: "n1", Delay: burst})
	runs, spent := scripts(t, n)
	for ; runs == 0; runs, spent = scripts(t, n) {
		if t.Context().Err() != nil {
			t.Fatal("no script has run")
		}
	}
	r.knock(t, "c00", "n1")
	if spent < time.Duration(runs)*burst {
		t.Errorf("%d scripts took %v, want %v each", runs, spent, burst)
	}
	f.healed(t, "was busy")
	before, _ := scripts(t, n)
	if err := faulttest.Set(t, r.Dial(t, "c00", "n1"), faulttest.Late, "k", "v"); err != nil {
		t.Errorf("SET after the heal: %v", err)
	}
	if after, _ := scripts(t, n); after != before {
		t.Errorf("%d scripts after the heal", after-before)
	}
}

// scripts says how many scripts a server has run to their ends, and for how
// long.
func scripts(t *testing.T, n testbed.Node) (runs int, spent time.Duration) {
	stats, err := testbed.Do(t.Context(), n, "INFO", "commandstats")
	if err != nil {
		t.Fatal(err)
	}
	if _, line, found := strings.Cut(fmt.Sprint(stats), "cmdstat_eval:"); found {
		var us int64
		if _, err := fmt.Sscanf(line, "calls=%d,usec=%d,", &runs, &us); err != nil {
			t.Fatal(err)
		}
		spent = time.Duration(us) * time.Microsecond
	}
	return runs, spent
}

// needClock skips what needs a clock that can jump, unless nothing may skip.
func needClock(t *testing.T, n testbed.Node) {
	if _, ok := n.(testbed.ClockJumper); !ok {
		faulttest.Missing(t, "libfaketime is not installed")
	}
}

// A clock that jumps takes every expiry with it, and comes back.
func TestClockJump(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		n := r.Node("n1")
		needClock(t, n)
		r.Put(t, n, "long", "v")
		if _, err := testbed.Do(t.Context(), n, "SET", "short", "v", "PX", "5000"); err != nil {
			t.Fatal(err)
		}
		f := r.inject(t, "clock-jump", faults.Params{Node: "n1", Jump: 10 * second})
		if got := r.Get(t, n, "short"); got != "<nil>" {
			t.Errorf("a lease of 5 s outlived a jump of 10 s: %s", got)
		}
		during, _ := query(t.Context(), n, "PTTL", "long")
		if during > 50_000 {
			t.Errorf("PTTL %d ms, want at most 50 s", during)
		}
		r.knock(t, "c00", "n1")
		f.healed(t, "leases held")
		if after, _ := query(t.Context(), n, "PTTL", "long"); after < during+5000 {
			t.Errorf("PTTL %d ms after the heal, %d before", after, during)
		}
	})
}

func TestClockDrift(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		n := r.Node("n1")
		needClock(t, n)
		r.Put(t, n, "long", "v")
		f := r.inject(t, "clock-drift", faults.Params{Node: "n1", Jump: 20 * second}) // ×11
		for {
			left, err := query(t.Context(), n, "PTTL", "long")
			if err != nil {
				t.Fatal(err)
			}
			if left < 57_000 {
				break
			}
		}
		r.knock(t, "c00", "n1")
		f.healed(t, "gained")
		if left, _ := query(t.Context(), n, "PTTL", "long"); left < 50_000 {
			t.Errorf("PTTL %d after the heal", left)
		}
	})
}

// While it lasts, more goroutines want a processor than there are; nothing but
// time is lost. It runs alone: others that starve the processors beside it would
// hide what it does.
func TestStarveCPU(t *testing.T) {
	for _, r := range []*rig{embeddedRig(t, 1, 1), processRig(t, 1, 1)} {
		rdb := r.Dial(t, "c00", "n1")
		f := r.inject(t, "starve-cpu", faults.Params{})
		for spinning() <= runtime.GOMAXPROCS(0) { // they start at their own time
			if t.Context().Err() != nil {
				t.Fatal("nothing spins")
			}
		}
		for began := time.Now(); time.Since(began) < time.Second; {
			if err := faulttest.Set(t, rdb, faulttest.Late, "k", "v"); err != nil {
				t.Errorf("SET meanwhile: %v", err)
			}
		}
		f.healed(t, "goroutines spun")
	}
}

// spinning counts the goroutines that burn a processor.
func spinning() int {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	return strings.Count(stacks.String(), "catalogue.burn(")
}

// A server is asked once more where another fault has closed the connection that asks it,
// and no more than that; what it answers itself is its answer.
func TestUnkicked(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	refused := errors.New("ERR unknown command")
	for _, c := range []struct {
		answers []error
		want    error
	}{{[]error{nil}, nil}, {[]error{reset, nil}, nil}, {[]error{io.EOF, nil}, nil}, {[]error{reset, reset}, reset}, {[]error{refused}, refused}} {
		asked := 0
		err := unkicked(func() error { asked++; return c.answers[asked-1] })
		if err != c.want || asked != len(c.answers) {
			t.Errorf("%v: %v after %d times", c.answers, err, asked)
		}
	}
}
