package child

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// observed collects renewals.
type observed struct {
	mu   sync.Mutex
	all  []lockimpl.Renewal
	more chan struct{}
}

func observeRenewals(l lockimpl.Lease) *observed {
	o := &observed{more: make(chan struct{}, 1)}
	l.(lockimpl.SelfRenewer).Renew(func(r lockimpl.Renewal) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all = append(o.all, r)
		select {
		case o.more <- struct{}{}:
		default:
		}
	})
	return o
}

// after waits until there are n, and returns them.
func (o *observed) after(t *testing.T, n int) []lockimpl.Renewal {
	t.Helper()
	for late := time.After(patientStart); ; {
		o.mu.Lock()
		all := o.all
		o.mu.Unlock()
		if len(all) >= n {
			return all
		}
		select {
		case <-o.more:
		case <-late:
			t.Fatalf("%d renewals, want %d", len(all), n)
		}
	}
}

// dog is a child whose watchdog tells of two renewals behind its grant, the second with
// until when it holds, and of another one once it was told to release. Its clock is that of
// the machine, to ten milliseconds.
const dog = `
	*'"t":"acquire"'*)
		echo '{"t":"acquire_ok","re":'$id',"h":"'$h'"}'
		sleep 0.05
		IFS=' .' read -r seconds hundredths rest </proc/uptime
		now=${seconds}${hundredths}0000
		echo '{"t":"renewed","h":"'$h'","us0":'$((now - 5)),'"us1":'$now'}'
		echo '{"t":"renewed","h":"'$h'","us0":1,"us1":2,"until_us":'$((now + 5000000))'}' ;;
	*'"t":"release"'*)
		echo '{"t":"renewed","h":"'$h'","us0":'$now',"us1":'$now'}'
		echo '{"t":"release_ok","re":'$id',"h":"'$h'"}' ;;`

// A child that says when it has renewed is taken at its word, also before anybody looks;
// what comes after a release was asked for renews nothing.
func TestToldRenewals(t *testing.T) {
	l := open(t, script(t, "watchdog,renewed", "monotonic", dog), nil)
	granted := time.Now()
	lease := mustAcquire(t, l, time.Second)
	o := observeRenewals(lease)
	all := o.after(t, 2)
	if !all[0].ValidUntil.IsZero() || all[0].Began.Before(granted) || all[0].Ended.Before(all[0].Began) {
		t.Errorf("first renewal: %+v", all[0])
	}
	if all[1].Began.Before(all[0].Began) { // it says that it began before the grant
		t.Errorf("second renewal: %+v", all[1])
	}
	if until := lease.ValidUntil(); until.IsZero() || !until.Equal(all[1].ValidUntil) {
		t.Errorf("valid until %v, the second renewal says %v", until, all[1].ValidUntil)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if all := o.after(t, 2); len(all) != 2 {
		t.Errorf("%d renewals, one of them after the release", len(all))
	}
}

// Of a child whose watchdog says nothing, renewals are taken for done while it runs and has
// not said that the lease is lost, and as long as a lease each; a standstill that outlasts
// one ends them.
func TestPresumedRenewals(t *testing.T) {
	const length = 300 * time.Millisecond
	silent := script(t, "watchdog,lost", "none", `
	*'"t":"acquire"'*) echo '{"t":"acquire_ok","re":'$id',"h":"'$h'"}' ;;
	*'"t":"release"'*) echo '{"t":"release_ok","re":'$id',"h":"'$h'"}' ;;`)
	silent.Watchdog = length
	l := open(t, silent, nil)
	lease := mustAcquire(t, l, time.Second)
	o := observeRenewals(lease)
	for i, r := range o.after(t, 4) {
		if r.Err != nil || r.ValidUntil.Sub(r.Began) != length || r.Ended.Before(r.Began) {
			t.Errorf("renewal %d: %+v", i, r)
		}
	}
	if !lease.ValidUntil().IsZero() {
		t.Errorf("valid until %v, and the library promises nothing", lease.ValidUntil())
	}
	child := l.(Process)
	if _, err := child.Stop(); err != nil {
		t.Fatal(err)
	}
	before := len(o.after(t, 4))
	time.Sleep(length + length/2)
	if _, err := child.Cont(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(length)
	if after := len(o.after(t, before)); after > before+1 { // one may have been on its way
		t.Errorf("%d renewals of a process that stood still for longer than its lease", after-before)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// A process that is killed, dies by itself, or is asked to release tells of no loss any more: nobody knows which of
// its renewals came about, so that what it was assumed to hold ends soon, but for the lease that
// it was granted.
func TestNoLossCanBeToldAnyMore(t *testing.T) {
	for _, c := range []struct {
		name   string
		length time.Duration
		ends   func(Process, lockimpl.Lease) error
		slack  time.Duration
	}{
		{"killed", time.Second, func(p Process, _ lockimpl.Lease) error { _, err := p.Kill(); return err }, 0},
		{"killed in its first lease", time.Hour, func(p Process, _ lockimpl.Lease) error { _, err := p.Kill(); return err }, 0},
		{"dying by itself", time.Second, func(p Process, l lockimpl.Lease) error {
			if err := l.Extend(t.Context(), time.Second); !errors.Is(err, ErrGone) {
				return fmt.Errorf("extend: %w", err)
			}
			for p.Died() == nil { // its output ends before it does
				time.Sleep(time.Millisecond)
			}
			return p.(lockimpl.Locker).Close()
		}, 0},
		{"to release", time.Second, func(_ Process, l lockimpl.Lease) error { return l.Release(t.Context()) }, time.Second / 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			silent := script(t, "watchdog,lost,extend", "none", `
			*'"t":"acquire"'*) echo '{"t":"acquire_ok","re":'$id',"h":"'$h'"}' ;;
			*'"t":"extend"'*) exit 3 ;;
			*'"t":"release"'*) echo '{"t":"release_ok","re":'$id',"h":"'$h'"}' ;;`)
			silent.Watchdog = c.length
			l := start1(t, silent, nil)
			defer func() { _ = l.Close() }()
			lease := mustAcquire(t, l, time.Second)
			o := observeRenewals(lease)
			assumed := 0
			if c.length < time.Minute {
				assumed = len(o.after(t, 4))
			}
			before := time.Now()
			if err := c.ends(l.(Process), lease); err != nil {
				t.Fatal(err)
			}
			ended := time.Now()
			all := o.after(t, assumed)
			if assumed == 0 {
				if len(all) > 0 {
					t.Errorf("renewals %+v of a lease that lasts", all)
				}
				return
			}
			last, assumedLast := all[len(all)-1], all[len(all)-2]
			if last.Err != nil || last.ValidUntil.Before(before.Add(c.slack)) || last.ValidUntil.After(ended.Add(c.slack)) || !last.Began.Equal(assumedLast.Began) {
				t.Errorf("ended from %v to %v, and the last renewals are %+v and %+v", before, ended, assumedLast, last)
			}
		})
	}
}

// A TTL that is asked for is not renewed, whatever else the library could do.
func TestNoWatchdogOverATTL(t *testing.T) {
	l := open(t, script(t, "ttl,watchdog,lost", "none", `
	*'"t":"acquire"'*) echo '{"t":"acquire_ok","re":'$id',"h":"'$h'"}' ;;`), nil)
	lease := mustAcquire(t, l, time.Second)
	if _, can := lease.(lockimpl.Renewer); can {
		t.Error("a lease with a TTL is renewed")
	}
	if _, can := lease.(lockimpl.LostNotifier); !can {
		t.Error("a loss of it is not told")
	}
}

// A library that takes leases of a stated length and others that it renews is asked for both.
func TestWatchdogBesideATTL(t *testing.T) {
	for _, c := range []struct {
		abilities string
		untimed   bool
	}{{"ttl,watchdog,lost", true}, {"ttl,watchdog", true}, {"watchdog", false}, {"ttl", false}} {
		l := open(t, script(t, c.abilities, "none", `
	*'"t":"acquire"'*'"ttl_ms":0'*) echo '{"t":"acquire_ok","re":'$id',"h":"'$h'"}' ;;
	*'"t":"acquire"'*) echo '{"t":"acquire_no","re":'$id',"h":"'$h'"}' ;;`), nil)
		if untimed := l.(lockimpl.UntimedLocker).TakesUntimed(); untimed != c.untimed {
			t.Errorf("%s: takes leases of no stated length beside others: %t", c.abilities, untimed)
		}
		if !c.untimed {
			continue
		}
		if _, can := mustAcquire(t, l, 0).(lockimpl.SelfRenewer); !can {
			t.Errorf("%s: a lease of no stated length is not renewed", c.abilities)
		}
		if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
			t.Errorf("%s: a lease of a second was asked for without a length: %v", c.abilities, err)
		}
	}
}
