package link

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Ranks delay some messages behind all others, as priority-based schedules do:
// every sender has a rank, at random, a message waits the longer the lower its
// sender's is, and now and then a sender falls behind all others. A bug that needs
// d events in one order, out of however many, is met with a chance that falls with
// d alone (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees
// of Finding Bugs", ASPLOS 2010), where delays that are drawn for each message
// alone all but never hold one party back for long enough.
type Ranks struct {
	Of      Ranked
	Longest time.Duration   // added to what a message of the last rank travels
	Falls   []time.Duration // when somebody falls to the last rank, since the first link was opened
}

// A Ranked is what has a rank.
type Ranked string

// What has a rank.
const (
	Clients Ranked = "clients" // both ways
	Nodes   Ranked = "nodes"   // both ways
	Flows   Ranked = "flows"   // each direction of each link
)

// A ranking is who comes after whom, for one fabric.
type ranking struct {
	*Ranks
	seed  uint64
	began time.Time

	mu    sync.Mutex
	order []string // as it is after so many falls …
	fell  int
	known map[string]bool
}

func newRanking(r *Ranks, seed uint64) *ranking {
	return &ranking{Ranks: r, seed: seed, began: time.Now(), known: map[string]bool{}}
}

// who has a rank, of the messages in one direction of a link.
func (r *ranking) who(link string, d Direction) string {
	client, node, _ := strings.Cut(link, ".")
	switch r.Of {
	case Clients:
		return client
	case Nodes:
		return node
	}
	return fmt.Sprintf("%s %d", link, side(d))
}

// add gives whoever sends over a link a rank. Nothing was sent yet.
func (r *ranking) add(link string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range []Direction{Up, Down} {
		if who := r.who(link, d); !r.known[who] {
			r.known[who] = true
			r.order = append(r.order, who)
		}
	}
	slices.Sort(r.order)
	rng := rand.New(rand.NewPCG(r.seed, uint64(len(r.order))))
	rng.Shuffle(len(r.order), func(i, j int) { r.order[i], r.order[j] = r.order[j], r.order[i] })
}

// later is how much later a message arrives that is sent now.
func (r *ranking) later(link string, d Direction) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; r.fell < len(r.Falls) && time.Since(r.began) >= r.Falls[r.fell]; r.fell++ {
		i := int(mix(r.seed, uint64(r.fell)) % uint64(len(r.order)))
		last := r.order[i]
		r.order = append(slices.Delete(r.order, i, i+1), last)
	}
	if len(r.order) < 2 {
		return 0
	}
	return r.Longest * time.Duration(slices.Index(r.order, r.who(link, d))) / time.Duration(len(r.order)-1)
}
