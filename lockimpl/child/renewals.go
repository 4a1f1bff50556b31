package child

import (
	"time"

	"locktorture/lockimpl"
)

// A renewing lease is one that its library's watchdog renews, from its grant on. A child with
// the ability "renewed" reports each renewal. With any other child, a lease that was acquired
// without a TTL lasts until its release or until the library reports its loss: one renewal per
// third of the watchdog's time-out is assumed, a little after it was due, unless the process
// was stopped or the lease had run out before.
type renewing struct{ l *lease }

// RenewsUnasked implements lockimpl.SelfRenewer.
func (renewing) RenewsUnasked() {}

// Renew implements lockimpl.Renewer.
func (r renewing) Renew(observe func(lockimpl.Renewal)) {
	if observe == nil {
		return
	}
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.observe != nil {
		return
	}
	l.observe = observe
	for _, early := range l.renewals { // which came before anybody looked
		observe(early)
	}
	l.renewals = nil
	if !l.locker.caps["renewed"] && l.locker.cmd.Watchdog > 0 {
		began := l.began
		l.locker.wg.Go(func() { l.presume(began, l.locker.cmd.Watchdog) })
	}
}

// watched reports whether the library renews a lease: the lock has a watchdog, and the lease
// was acquired without a TTL.
func (l *lease) watched() bool { return l.locker.caps["watchdog"] && !l.timed }

// renewed handles the library's report that it has renewed a lease.
func (s *session) renewed(m *message) {
	s.mu.Lock()
	l := s.leases[m.Handle]
	s.checkDeadline(m)
	s.mu.Unlock()
	switch {
	case l == nil:
		s.find("a renewal under the unknown handle %.80q", m.Handle)
		return
	case !l.watched() || !s.caps["renewed"]:
		s.find("a renewal of a lease that was asked for with a length, or of a child whose abilities are not watchdog and renewed")
		return
	}
	if !s.trusted || !m.place(l.asked, true) {
		m.place(m.recv, false) // only its end is known
	}
	r := lockimpl.Renewal{Began: m.began, Ended: m.ended}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over { // it is being released
		return
	}
	if m.Until != nil {
		l.until = instant(*m.Until)
		r.ValidUntil = l.until
	}
	if l.observe == nil {
		l.renewals = append(l.renewals, r)
		return
	}
	l.observe(r)
}

// presume reports the assumed renewals until the lease ends.
func (l *lease) presume(granted time.Time, length time.Duration) {
	every, until := length/3, granted.Add(length)
	before, _ := l.locker.standstill()
	for due := granted.Add(every); ; due = due.Add(every) {
		if l.endsWithin(time.Until(due) + length/10) {
			if closedWithin(l.locker.drained, 0) && !l.locker.expected() {
				l.stopRenewals(0)
			}
			return
		}
		frozen, stopped := l.locker.standstill()
		if stopped || frozen != before {
			before = frozen
			if !time.Now().Before(until) {
				return
			}
			continue
		}
		until = due.Add(length)
		l.mu.Lock()
		if l.over {
			l.mu.Unlock()
			return
		}
		if !l.until.IsZero() {
			l.until = until
		}
		l.presumed = until
		l.observe(lockimpl.Renewal{Began: due, Ended: time.Now(), ValidUntil: until})
		l.mu.Unlock()
	}
}

// endsWithin waits for d and reports whether the lease, or its child, has ended by then.
func (l *lease) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-l.released:
	case <-l.lost:
	case <-l.locker.drained:
	}
	return true
}

// stopRenewals ends the reports of renewals: the lease is about to be released, or its process to be
// killed, or that says nothing any more. It may be called again.
//
// It takes back what of the assumed renewals lies farther ahead than slack. Had they failed, the
// library would have told of the loss by the end of the lease that it knew of; from now on it has no
// occasion to, and nobody knows which lease that was. The grant's own lease stays as it was.
func (l *lease) stopRenewals(slack time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.over = true
	close(l.released)
	length := l.locker.cmd.Watchdog
	now, until := time.Now(), l.began.Add(length)
	if soon := now.Add(slack); soon.After(until) {
		until = soon
	}
	if l.presumed.After(until) {
		l.observe(lockimpl.Renewal{Began: l.presumed.Add(-length), Ended: now, ValidUntil: until})
	}
}
