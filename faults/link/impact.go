package link

// counts is a link's counters at one moment.
type counts struct{ sent, received, requests, unanswered, severed, swallowed, pieces, torn, forsaken int64 }

func (l *proxyLink) counts() counts {
	return counts{
		sent: l.sent.Load(), received: l.received.Load(), requests: l.requests.Load(), unanswered: l.silent.dials.Load(),
		severed: l.notices.severed.Load(), swallowed: l.notices.swallowed.Load(),
		pieces: l.pieces.Load(), torn: l.torn.Load(), forsaken: l.forsaken.Load(),
	}
}

// Impact implements Applied.
func (a *applied) Impact() Impact {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.healed {
		return a.impact
	}
	return a.count()
}

// count says what the impairment itself has done so far, and nothing that
// another one on the link did, or the node's own death. What the effects saw is
// exact. A cut counts the commands that it interrupted and, as the first of its
// link, the dials that it refused; a reset the connections that it closed under
// a command, or that a later command missed. An external toxiproxy is judged
// from the client's end.
func (a *applied) count() Impact {
	now := a.link.counts()
	if a.notify != "" {
		return a.countNotices(now)
	}
	b := Impact{
		Conns:    a.busy,
		Dials:    int(a.refused.Load()),
		Requests: int(now.requests - a.before.requests),
	}
	if a.parts {
		b.Dials = int(now.unanswered - a.before.unanswered)
	}
	if b.Requests > 0 {
		b.Conns += a.idle
	}
	b.Conns += int(a.interrupted.Load())
	for _, c := range a.cutting {
		if c.missed.Load() || c.noticed.Load() || c.atWork() {
			b.Conns++
		}
	}
	for _, t := range a.toxics {
		if t.effect.blind {
			b.Bytes = a.blindBytes(t.effect, now)
		}
		b.Bytes += t.effect.affected.Load()
		if t.effect.spares() { // the link's requests are not all on the connections that suffer
			b.Requests = int(t.effect.packets.Load())
		}
		b.Conns = max(b.Conns, int(t.effect.ended.Load()))
		t.effect.countPieces(&b, a.before, now)
	}
	return b
}

// blindBytes is how many bytes a stock toxic must have affected: those that were sent into it.
// Where it lets bytes pass, only replies prove that it was passed at all.
func (a *applied) blindBytes(e *effect, now counts) int64 {
	sent, received := now.sent-a.before.sent, now.received-a.before.received
	if e.treatment == lag || e.treatment == pace {
		return min(sent, received)
	}
	return sent
}

// countPieces says what the kinds that only stock toxics inject have done,
// which the traffic at the client's end tells beside the toxic itself.
func (e *effect) countPieces(b *Impact, before, now counts) {
	switch e.treatment {
	case slice:
		b.Pieces, b.Conns, b.Dials = int(now.pieces-before.pieces), 0, 0
		if e.blind && b.Bytes > 0 {
			b.Bytes = 0
			if b.Pieces > 0 {
				b.Bytes = now.received - before.received
			}
		}
	case limit:
		b.Torn, b.Dials = int(now.torn-before.torn), 0
		b.Conns = int(e.ended.Load())
		if e.blind {
			b.Bytes, b.Conns = 0, b.Torn
		}
	case linger:
		b.Conns, b.Dials = int(e.ended.Load()), 0
		if e.blind {
			b.Bytes, b.Conns = 0, int(now.forsaken-before.forsaken)
		} else if b.Bytes == 0 { // nobody has missed them yet
			b.Conns = 0
		}
	}
}
