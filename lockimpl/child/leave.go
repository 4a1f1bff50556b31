package child

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// Findings implements Process.
func (l *Locker) Findings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append([]string(nil), l.findings...)
	if l.more > 0 {
		all = append(all, fmt.Sprintf("%d more findings about it", l.more))
	}
	return all
}

// Close ends the child: it asks it to leave, then closes its input, then kills it, which is an
// error.
func (l *Locker) Close() error {
	l.closing.Do(func() { l.closed = l.shutDown() })
	return l.closed
}

func (l *Locker) shutDown() error {
	l.expectEnd()
	_, _ = l.cont() // it may be gone
	l.reportUnanswered()
	began, patience := time.Now(), l.patience()
	l.bid(patience)
	err := l.stdin.Close()
	if !l.leaves(began, patience) {
		err = errors.Join(l.overstay(), err)
		l.kin.lose()
		_, _ = l.signal(syscall.SIGKILL)
	}
	l.process.wg.Wait()
	for _, text := range l.kin.died() {
		l.find("%s", text)
	}
	closedWithin(l.drained, l.grace) // a process that it left behind may hold its output open
	err = errors.Join(err, l.stdout.Close())
	l.session.wg.Wait()
	return err
}

// patience is how long the child may take to leave. A child that owes an answer may take the
// rest of that answer's budget and the grace; one whose output broke off the grace alone.
func (l *Locker) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != "" {
		return min(l.cmd.Leave, l.grace)
	}
	all, owes := time.Duration(0), false
	for _, x := range l.open {
		if x.budget >= 0 {
			all, owes = max(all, l.left(x)), true
		}
	}
	if owes {
		return min(l.cmd.Leave, all+l.grace)
	}
	return l.cmd.Leave
}

// bid asks the child to leave, and waits for an answer of any kind, for half of patience and
// the grace at most: the child may leave only at the end of its input.
func (l *Locker) bid(patience time.Duration) {
	x, err := l.send(call{what: "quit", budget: -1}, false)
	if err != nil {
		return // it is gone, or reads no more
	}
	timer := time.NewTimer(min(patience/2, l.grace))
	defer timer.Stop()
	select {
	case <-x.reply:
	case <-l.drained:
	case <-l.gone:
	case <-l.kin.lost:
	case <-timer.C:
	}
}

// leaves reports whether the process ends within patience of began. Once another child of the
// command had to be killed, the grace must do.
func (l *Locker) leaves(began time.Time, patience time.Duration) bool {
	timer := time.NewTimer(time.Until(began.Add(patience)))
	defer timer.Stop()
	lost := l.kin.lost
	for {
		select {
		case <-l.gone:
			return true
		case <-lost:
			lost = nil
			timer.Reset(time.Until(began.Add(min(patience, l.grace))))
		case <-timer.C:
			return closedWithin(l.gone, 0)
		}
	}
}

// overstay is the error for a child that has to be killed. It names the request that the child
// has not answered, which is why it stays.
func (l *Locker) overstay() error {
	owed := l.reportUnanswered()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.broken != "":
		return fmt.Errorf("its output broke off (%s), and process %d did not leave and was killed", l.broken, l.pid)
	case owed != nil:
		return &HungError{fmt.Errorf("%s was never answered: %w; process %d did not leave either and was killed", owed, ErrSilent, l.pid)}
	}
	l.note("it did not leave although told to and at the end of its input")
	return &HungError{fmt.Errorf("process %d did not leave and was killed", l.pid)}
}

// A HungError reports a child that did not leave when it was told to, mostly since its lock hung in
// a request, and was killed.
type HungError struct{ error }

// Unwrap returns what is known of it: ErrSilent where it had left a request unanswered.
func (e *HungError) Unwrap() error { return e.error }

// reportUnanswered records a finding for every request that a living child has left
// unanswered beyond its budget, and returns the first such request.
func (l *Locker) reportUnanswered() (first *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.open {
		if x.budget < 0 || l.left(x) > 0 || closedWithin(l.gone, 0) {
			continue
		}
		l.reportLate(x, "was not answered within its budget")
		if first == nil || x.id < first.id {
			first = x
		}
	}
	return first
}

// A kin is all child processes of one command.
type kin struct {
	mark string        // in the environment of all of them and of what they start
	lost chan struct{} // closed when one that did not leave is killed
	once sync.Once

	mu     sync.Mutex
	living int
	groups map[int]bool // process groups, which end with their first process
}

// markVariable has a value of its own for the children of every command.
const markVariable = "LOCKTORTURE_KIN"

func newKin() *kin {
	return &kin{mark: markVariable + "=" + rand.Text(), lost: make(chan struct{}), groups: map[int]bool{}}
}

func (k *kin) lose() { k.once.Do(func() { close(k.lost) }) }

func (k *kin) born(pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.living++
	k.groups[pid] = true
}

// died notes that a child has ended. After the last child it kills the processes that any of
// them has left behind in a process group of its own, and returns a text about each.
func (k *kin) died() (told []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.living--; k.living > 0 {
		return nil
	}
	for _, p := range strays(k.mark) {
		if !k.groups[p.group] && syscall.Kill(p.pid, syscall.SIGKILL) == nil {
			told = append(told, fmt.Sprintf("process %d (%s), which it or another child had started in a process group of its own, had not ended and was killed", p.pid, p.name))
		}
	}
	return told
}

// A stray is a process that a child has left behind.
type stray struct {
	pid, group int
	name       string
}
