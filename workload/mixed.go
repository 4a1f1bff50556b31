package workload

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
)

// A use is the way in which one arrival uses the lock.
type use struct {
	how       Mode          // never ModeMixed
	wait      time.Duration // inside the lock, where it can; 0 is a single try
	hold      time.Duration // 0 is drawn as the load says
	long      bool          // the hold outlasts the TTL: it is renewed
	byHand    bool          // … by explicit extensions …
	step      time.Duration // … so long after each other, where the lock does not renew it itself
	nestFirst bool          // re-entry at the beginning of the section rather than at its end
	nestLong  bool          // … by the inner hold beyond the end of the outer lease
	nestOuter bool          // the outer lease is extended by hand within the inner hold
	last      bool          // extended by hand once, before the last write …
	after     time.Duration // … which comes so long after the extension, if that was granted
	stays     bool          // asks for as long as nobody else does, whatever the client's patience
	timeout   time.Duration // of an acquire that does not wait, and of extensions where it is longer; 0 is the load's
}

// abilities are what a lock can do beside Acquire.
type abilities struct {
	wait, shared, reentrant, multi, fair bool // where the mode mixes them
	untimed                              bool // it takes leases of no stated length
	extendless                           bool // its leases cannot be extended
}

// abilitiesOf asks the first client that lives: all have the same lock.
func (p *phase) abilitiesOf(clients []*Client) (a abilities) {
	for _, c := range clients {
		l, err := c.locker()
		if err != nil {
			continue
		}
		if l, may := l.(lockimpl.UntimedLocker); may {
			a.untimed = l.TakesUntimed()
		}
		a.extendless = !lockimpl.Extends(l)
		if p.cfg.Mode != ModeMixed {
			return a
		}
		_, a.wait = l.(lockimpl.WaitLocker)
		a.shared = Lacks(ModeRW, l) == nil
		a.reentrant = Lacks(ModeReentrant, l) == nil
		a.multi = Lacks(ModeMulti, l) == nil && p.cfg.Keys > 1
		a.fair = Lacks(ModeFair, l) == nil
		return a
	}
	return a
}

// Includes reports whether clients under a load of mode m ask l for keys as those of another mode do: a
// mixed load asks in each way that the lock has.
func Includes(m, other Mode, l lockimpl.Locker) bool {
	return m == other || m == ModeMixed && Lacks(other, l) == nil
}

// Extends reports whether leases of l can be extended, by hand or by l itself.
func Extends(l lockimpl.Locker) bool {
	u, may := l.(lockimpl.UntimedLocker)
	return may && u.TakesUntimed() || lockimpl.Extends(l)
}

// A role is what a key is mostly used for. Keys are assigned to roles in their order, so that
// of eight keys each role has two.
type role int

const (
	hot     role = iota // asked for most
	library             // readers, who stay, and writers, who wait for them
	common              // everything by turns, and seldom
	long                // held beyond the TTL, again and again

	roles // one more than there are
)

// Shares of the mixed load.
const (
	hotShare      = 0.2 // of all arrivals, for the hot keys beside those that fall there anyhow
	readShare     = 0.7 // of those for a library key, by readers
	crowdShare    = 0.7 // of these, for the last library key: some reads there at almost any time
	readLongShare = 0.1 // of the other readers, who hold on
	vigilShare    = 0.4 // of all in the final phase, who read there: what keeps writers out may last while some read
	patientShare  = 0.3 // of those who ask for a long key, who wait as long as it takes, as writers of the library do
	longSeldom    = 0.7 // of those that would be for a long key, for a common one instead
	longShare     = 0.4 // of those for a long key that hold on
	handShare     = 0.2 // of these, by explicit extension
	lateShare     = 0.2 // of those for a long key that hold until shortly before the lease's end
	steadyShare   = 0.3 // of all, by clients that wait longer for an answer than a lease lasts
	hastyShare    = 0.2 // of single tries, by clients that wait for an answer but a fraction of a lease
	slowShare     = 0.6 // of those whose single try was answered late, who stay until little is left
	stayShare     = 0.5 // of those who come back to a key of which they do not know what became of it, who stay
	goOnShare     = 0.5 // of those whose lease has run out before they were done, who ask for an extension

	burstLeases = 1 // TTLs in which a key of bursts is asked for …
	burstCycle  = 4 // … out of so many

	readerStays = 5 // times as long as others hold
	innerStays  = 5 // the same, for those who go on after an inner hold
)

func (p *phase) role(key int) role { return role(key * int(roles) / max(p.cfg.Keys, int(roles))) }

// mix draws one arrival of the mixed load; first is a key drawn evenly.
func (p *phase) mix(rng *rand.Rand, first int) arrival {
	if p.name == history.PhaseFinal {
		if crowd := p.lastOf(library); p.readLast(crowd) && rng.Float64() < vigilShare {
			first = crowd
		}
		if p.readLast(first) {
			return p.last(first, history.Shared)
		}
		return p.last(first, history.Exclusive)
	}
	if last := (p.cfg.Keys - 1) / int(roles); rng.Float64() < hotShare {
		first = rng.IntN(last + 1)
	} else if p.role(first) == long && rng.Float64() < longSeldom {
		first = max(first-p.cfg.Keys/int(roles), 0)
	}
	if p.rests(first) {
		first--
	}
	a := arrival{keys: []string{p.cfg.Key(first)}, use: use{how: ModeExclusive}}
	switch temper := rng.Float64(); {
	case temper < steadyShare:
		a.use.timeout = p.cfg.TTL * 3 / 2
	case temper < steadyShare+hastyShare:
		a.use.timeout = min(p.cfg.TTL/8, p.cfg.Timeout)
	}
	switch kind := rng.Float64(); p.role(first) {
	case library:
		p.mixLibrary(rng, &a, kind)
	case long:
		p.mixLong(rng, &a, kind)
	default:
		p.mixCommon(rng, &a, kind, first)
	}
	return a
}

// rests reports whether nobody asks for a key just now: the last of several common ones is asked for
// in bursts, with gaps that outlast a lease. What a lock keeps beside its leases may run out there, and
// everybody finds it gone at once.
func (p *phase) rests(key int) bool {
	if p.began.IsZero() || p.role(key) != common || p.lastOf(common) != key || p.role(key-1) != common {
		return false
	}
	return time.Since(p.began)%(burstCycle*p.cfg.TTL) >= burstLeases*p.cfg.TTL
}

// lastOf is the last key of a role, if there are as many keys as roles.
func (p *phase) lastOf(r role) int {
	return ((int(r)+1)*max(p.cfg.Keys, int(roles)) - 1) / int(roles)
}

// last asks for a key in the final phase of a mixed load.
func (p *phase) last(key int, m history.Mode) arrival {
	a := arrival{keys: []string{p.cfg.Key(key)}, mode: m, use: use{how: ModeExclusive, wait: p.cfg.Wait}}
	if m == history.Shared {
		a.use.how, a.use.wait = ModeRW, 0
	}
	return a
}

// readLast reports whether a key is asked for as a reader alone in the final phase, until it is left
// to one client: what readers leave behind lives on there while some read.
func (p *phase) readLast(key int) bool {
	return p.can.shared && p.role(key) == library && key > 0 && p.role(key-1) == library
}

// patience is how long a patient arrival waits: longer than a lease that nobody
// gives back. A lock that promises no deadline does not say from when on a lease counts
// that was waited for, and it is judged from the invocation on: nobody waits for long
// inside such a lock.
func (p *phase) patience() time.Duration {
	if p.vague.Load() {
		return p.cfg.Wait
	}
	return p.cfg.TTL * 3 / 2
}

// mixLibrary draws many readers, and writers who wait for them.
func (p *phase) mixLibrary(rng *rand.Rand, a *arrival, kind float64) {
	switch {
	case p.can.shared && kind < readShare:
		a.mode, a.use.how = history.Shared, ModeRW
		if kind < readShare*crowdShare {
			a.keys[0] = p.cfg.Key(p.lastOf(library))
			a.use.hold = p.cfg.TTL/4 + time.Duration(rng.Int64N(int64(p.cfg.TTL)/2+1))
			return
		}
		if rng.Float64() < readLongShare {
			p.holdLong(rng, a)
			return
		}
		a.use.hold = readerStays * p.cfg.Hold.Draw(rng)
	default:
		a.use.wait = p.patience()
	}
}

// mixLong draws holders who hold beyond the TTL, holders who end or extend their lease when
// little of it is left, some of whom rely on the extension, and others who ask for the key meanwhile.
func (p *phase) mixLong(rng *rand.Rand, a *arrival, kind float64) {
	a.use.stays = true
	switch {
	case kind < longShare:
	case kind < longShare+lateShare:
		a.use.hold = p.cfg.TTL*7/10 + time.Duration(rng.Int64N(int64(p.cfg.TTL)/4+1))
		if a.use.last = rng.IntN(2) == 0; a.use.last && rng.IntN(2) == 0 {
			a.use.after = p.cfg.TTL / 2
		}
		return
	case rng.Float64() < patientShare:
		a.use.wait = p.patience()
		return
	default:
		a.use.wait = p.cfg.Wait
		return
	}
	p.holdLong(rng, a)
}

// holdLong has an arrival hold its key beyond the TTL: renewed by the lock, or extended by hand, as a renewal
// is due or at any moment.
func (p *phase) holdLong(rng *rand.Rand, a *arrival) {
	a.use.long, a.use.byHand = true, rng.Float64() < handShare && !p.can.extendless
	a.use.hold = p.cfg.TTL*6/5 + time.Duration(rng.Int64N(int64(p.cfg.TTL)*9/5+1))
	if a.use.step = p.cfg.TTL / 3; rng.IntN(2) == 0 {
		a.use.step = p.cfg.TTL/5 + time.Duration(rng.Int64N(int64(p.cfg.TTL)*3/5+1))
	}
}

// mixCommon draws every ability in turn.
func (p *phase) mixCommon(rng *rand.Rand, a *arrival, kind float64, first int) {
	wait := p.cfg.Wait
	if a.use.timeout > p.cfg.TTL {
		wait = p.patience()
	}
	short := p.cfg.Keys * int(long) / int(roles) // keys below are not held for long
	switch {
	case kind < 0.15 && p.can.reentrant:
		p.mixNested(rng, a)
	case kind < 0.25 && p.can.multi && short > 1:
		second := (first%short + 1 + rng.IntN(short-1)) % short
		if second != first && !p.rests(second) {
			a.use.how, a.keys = ModeMulti, append(a.keys, p.cfg.Key(second))
		}
	case kind < 0.40 && p.can.shared:
		a.mode, a.use.how = history.Shared, ModeRW
	case kind < 0.50 && p.can.fair:
		a.use.how, a.use.wait = ModeFair, wait
	case kind < 0.90:
		a.use.wait = wait
	}
}

// mixNested draws re-entries: at the beginning of the section, with the outer lease extended
// within the inner hold or without, and at its end, within what is left of the outer lease or
// beyond it.
func (p *phase) mixNested(rng *rand.Rand, a *arrival) {
	a.use.how, a.use.nestFirst = ModeReentrant, rng.IntN(2) == 0
	switch odd := rng.IntN(3) == 0; {
	case !odd:
	case a.use.nestFirst:
		a.use.nestOuter, a.use.hold = true, innerStays*p.cfg.Hold.Draw(rng)
	default:
		a.use.nestLong, a.use.hold = true, p.cfg.TTL*6/10
	}
}

// again turns an arrival to the key of the client's last request without an answer, as a user
// would who asks again. Some then hold for a while: the late effect of that request meets them.
func (w *worker) again(a arrival) arrival {
	key := w.doubtful
	w.doubtful = ""
	if key == "" || len(a.keys) > 1 || a.use.long || w.name == history.PhaseFinal {
		return a // for what is held for long there are keys of its own
	}
	a.keys, a.use.stays, a.use.last, a.use.after = []string{key}, false, false, 0
	if a.mode == history.Exclusive && w.rng.Float64() < stayShare {
		a.use.hold = w.cfg.TTL / 2
	}
	return a
}

// outstay has some holders who were answered late stay until little is left of what they were
// promised: a promise that counts from the wrong moment is broken there. Who waits for a key that others
// had before is answered late anyhow.
func (s *section) outstay(a arrival) {
	late := time.Since(s.parts[0].asked) > s.cfg.TTL/8
	if !late || s.cfg.Mode != ModeMixed || s.name == history.PhaseFinal || a.use.wait > 0 && !a.first || a.use.long || len(s.parts) > 1 || s.rng.Float64() >= slowShare {
		return
	}
	s.use.hold = max(time.Until(s.parts[0].until(s.cfg.TTL))-s.cfg.TTL/20, 0)
}

// goOn has some holders whose lease has run out before they were done, as that of one who stood
// still, and who were not told so, ask for an extension and go on where it is granted, as a user
// would who asks the lock rather than the clock. Others may have held the key meanwhile: a lock must
// say no then.
func (s *section) goOn(ctx context.Context) {
	if s.cfg.Mode != ModeMixed || s.name == history.PhaseFinal || s.can.extendless || !s.client.pause(ctx) {
		return
	}
	isPast := slices.ContainsFunc(s.parts, func(p part) bool { return !time.Now().Before(p.until(s.cfg.TTL)) })
	if !isPast || s.refused || s.isLost() || s.rng.Float64() >= goOnShare {
		return
	}
	if s.extend(ctx) == history.OK && s.wait(ctx, s.cfg.Hold.Draw(s.rng)) {
		s.write(ctx, 0, false)
	}
}

// stay waits within the section. A hold beyond the TTL that the lock does not renew is extended
// by hand; the client leaves at once when an extension is not granted.
func (s *section) stay(ctx context.Context, d time.Duration) bool {
	if !s.use.long || s.renews() {
		return s.wait(ctx, d)
	}
	for ; d > s.use.step && !s.isOver(); d -= s.use.step {
		if !s.wait(ctx, s.use.step) || !s.prolonged(ctx) {
			return false
		}
	}
	return s.wait(ctx, d)
}

// prolonged extends by hand, and reports whether the client may go on holding: it
// was told yes, or knows until when it may without.
func (s *section) prolonged(ctx context.Context) bool {
	switch s.extend(ctx) {
	case history.OK:
		return true
	case history.Info:
		return ctx.Err() == nil && s.promised()
	}
	return false
}

// promised reports whether the lock says of every lease until when it holds.
func (s *section) promised() bool {
	for i := range s.parts {
		if s.parts[i].lease.ValidUntil().IsZero() {
			return false
		}
	}
	return true
}

// renews reports whether the lock renews the section's leases by itself.
func (s *section) renews() bool {
	if s.use.byHand {
		return false
	}
	for i := range s.parts {
		if _, can := s.parts[i].lease.(lockimpl.Renewer); !can {
			return false
		}
	}
	return true
}
