package checker

import "time"

// tests are the comparisons that the definitions rest on, in one place, so
// that the judge's own tests can break each and see that it is noticed.
// Times are compared with eps, the clock uncertainty: what it leaves open is
// never proved.
type tests struct {
	deadline     func(o *op, ttl, drift time.Duration) time.Duration // when the lock promises none
	overlaps     func(length, eps time.Duration) bool                // S1, S6: definitely
	precedes     func(ok, inv, eps time.Duration) bool               // S4: completed before invoked
	outOfOrder   func(later, earlier uint64) bool                    // S4: tokens
	stale        func(fence, top uint64) bool                        // S2
	zombie       func(issued, deadline, eps time.Duration) bool      // S3z
	borderline   func(issued, deadline, eps time.Duration) bool      // S3z, suspicious
	after        func(issued, end, eps time.Duration) bool           // S8
	stillborn    func(ok, deadline time.Duration) bool               // S7
	scarce       func(left, ttl time.Duration) bool                  // S7, suspicious
	late         func(inv, deadline time.Duration) bool              // S5
	inside       func(ok, end time.Duration) bool                    // S5: a third grant inside a hold
	early        func(ok, deadline, eps time.Duration) bool          // S10
	lateLoss     func(told, gone, bound, eps time.Duration) bool     // S11
	between      func(other, own uint64) bool                        // S3: another's write after the section's last
	expired      func(deadline, ok time.Duration) bool               // takeover
	subQuorum    func(stored, quorum int) bool                       // S9
	overstays    func(left, ttl time.Duration) bool                  // L8: PTTL > T
	waitedBeyond func(wait, bound time.Duration) bool                // L2, L3, L4
}

// contract is what the catalogue of anomalies says.
var contract = tests{
	deadline:     func(o *op, ttl, drift time.Duration) time.Duration { return later(o.inv-drift, ttl) },
	overlaps:     func(length, eps time.Duration) bool { return length > eps },
	precedes:     func(ok, inv, eps time.Duration) bool { return ok+eps < inv },
	outOfOrder:   func(later, earlier uint64) bool { return later <= earlier },
	stale:        func(fence, top uint64) bool { return fence < top },
	zombie:       func(issued, d, eps time.Duration) bool { return issued-eps > d },
	borderline:   func(issued, d, eps time.Duration) bool { return issued >= d-eps && issued-eps <= d },
	after:        func(issued, end, eps time.Duration) bool { return issued-eps > end },
	stillborn:    func(ok, d time.Duration) bool { return ok >= d },
	scarce:       func(left, ttl time.Duration) bool { return float64(left)*100 < float64(ttl) },
	late:         func(inv, d time.Duration) bool { return inv >= d },
	inside:       func(ok, end time.Duration) bool { return ok < end },
	early:        func(ok, d, eps time.Duration) bool { return ok < d-eps },
	lateLoss:     func(told, gone, bound, eps time.Duration) bool { return told-gone-eps > bound },
	between:      func(other, own uint64) bool { return other > own },
	expired:      func(d, ok time.Duration) bool { return d <= ok },
	subQuorum:    func(stored, quorum int) bool { return stored < quorum },
	overstays:    func(left, ttl time.Duration) bool { return left > ttl },
	waitedBeyond: func(wait, bound time.Duration) bool { return wait > bound },
}
