package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"locktorture/faults/watch"
	"locktorture/workload"
)

// A model plays rounds in no time: clients that take turns on keys with leases, a
// millisecond a tick. Releases are not owner-checked: a client that stands still
// beyond its lease and then releases frees the next one's key (S5), and a third
// client is let in beside it (S1). A crash while a key is renewed leaves it taken
// for ever, if keys are renewed (L1). All else is harmless.
type model struct {
	flaky float64 // share of plays in which no fault takes place
	plays atomic.Int64
	space Space
}

func newModel() *model {
	m := &model{}
	m.space = Space{Faults: []string{"pause-client", "crash-client", "latency", "cut", "reset"}, Nodes: 5, Modes: []workload.Mode{workload.ModeExclusive, workload.ModeMixed}}
	return m
}

func (m *model) Fits(r Round) error {
	for _, x := range r.Steps {
		if x.At+x.For > r.Duration {
			return fmt.Errorf("%s ends at %v of %v", x.Fault, x.At+x.For, r.Duration)
		}
	}
	if r.Clients < 1 || r.Load.Keys < 1 {
		return fmt.Errorf("%d clients, %d keys", r.Clients, r.Load.Keys)
	}
	return nil
}

type modelClient struct {
	key       int // that it holds; -1: none
	deadline  int // of its lease
	until     int // of its hold
	frozen    int // until then
	dead      bool
	next      int // when it asks again
	afterwake bool
}

func (m *model) Play(ctx context.Context, r Round) Outcome {
	plays := m.plays.Add(1)
	rng := rand.New(rand.NewPCG(r.Seed, 1))
	o := Outcome{Near: map[string]float64{}, Fired: map[string]bool{}, Took: r.Duration}
	if ctx.Err() != nil {
		o.Void = "called off"
		return o
	}
	still := rand.New(rand.NewPCG(r.Seed, uint64(plays))).Float64() < m.flaky
	ttl, hold := int(r.TTL/time.Millisecond), int(r.Load.Hold.Mean/time.Millisecond)
	holders := make([]int, r.Load.Keys) // client + 1
	clients := make([]modelClient, r.Clients)
	for i := range clients {
		clients[i].key = -1
	}
	steps := expanded(r).Steps
	cells, states := map[string]bool{}, map[string]bool{}
	found := func(id string, now int, fault string) {
		if !slices.ContainsFunc(o.Findings, func(f Finding) bool { return f.ID == id }) {
			o.Findings = append(o.Findings, Finding{ID: id, Blame: "lock", Phase: "held", Fault: fault, At: time.Duration(now) * time.Millisecond})
		}
	}
	for now := range int(r.Duration / time.Millisecond) {
		for _, x := range steps {
			if at := int(x.At / time.Millisecond); at != now || still {
				continue
			}
			o.Fired[string(x.On)] = x.On != watch.RenewalSent
			phase := "idle"
			for i := range clients {
				if c := &clients[i]; c.key >= 0 && !c.dead && now >= c.frozen {
					phase = "held"
					switch x.Fault {
					case "pause-client":
						c.frozen, c.afterwake = now+int(x.For/time.Millisecond), true
						o.Near["validity left"] = max(1, float64(c.deadline-c.frozen))
					case "crash-client":
						if c.dead = true; r.Load.Renew {
							found("L1", now, x.Fault)
						}
					}
					break
				}
			}
			cells[phase+" × "+x.Fault] = true
		}
		for i := range clients {
			c := &clients[i]
			switch {
			case c.dead || now < c.frozen:
			case c.key >= 0 && now >= c.until:
				if owner := holders[c.key]; owner != i+1 && owner != 0 {
					found("S5", now, "pause-client")
				}
				holders[c.key], c.key, c.next = 0, -1, now+1+rng.IntN(20)
				o.Operations++
			case c.key < 0 && now >= c.next:
				k := rng.IntN(len(holders))
				owner := holders[k] - 1
				if owner >= 0 && (clients[owner].deadline > now || r.Load.Renew && clients[owner].frozen == 0) {
					c.next = now + 5
					break
				}
				for j := range clients {
					if j != i && clients[j].key == k && clients[j].deadline > now {
						found("S1", now, "pause-client")
					}
				}
				holders[k] = i + 1
				*c = modelClient{key: k, deadline: now + ttl, until: now + max(1, hold)}
				states[fmt.Sprintf("held by %v after loss %v", r.Load.Keys > 1, owner >= 0)] = true
			}
		}
	}
	for c := range cells {
		o.Cells = append(o.Cells, c)
	}
	for s := range states {
		o.States = append(o.States, s)
	}
	return o
}

// hunt plays n rounds.
func hunt(m *model, s *Search, n int) (fresh []*Found) {
	for range n {
		r := s.Next()
		_, found := s.Record(r, m.Play(context.Background(), r))
		fresh = append(fresh, found...)
	}
	return fresh
}
