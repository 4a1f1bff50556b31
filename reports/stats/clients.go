package stats

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// maxClients bounds memory; further clients are counted together as others.
const (
	maxClients = 4096
	others     = "(others)"
)

// A Client is one contender's share.
type Client struct {
	Name        string        `json:"name"`
	Attempts    int64         `json:"attempts"`
	Grants      int64         `json:"grants"`
	LongestWait time.Duration `json:"longest_wait_ns"` // of one acquire that was granted, from its intended start
	Drought     time.Duration `json:"drought_ns"`      // longest stretch of trying without a grant
}

// ClientOf names the client behind an owner: c07 for its first incarnation
// c07 and for the later ones c07.1, c07.2, …
func ClientOf(owner string) string {
	i := strings.LastIndexByte(owner, '.')
	if i <= 0 || i == len(owner)-1 || strings.Trim(owner[i+1:], "0123456789") != "" {
		return owner
	}
	return owner[:i]
}

type clients struct{ byName map[string]*client }

type client struct {
	Client
	trying time.Duration // since when it has been trying in vain
	idle   bool          // it is not trying
}

func (c *clients) attempt(e *history.Event, op fold.Operation) {
	one := c.of(e.Owner)
	one.Attempts++
	if one.idle {
		one.trying, one.idle = op.Intended, false
	}
	one.Drought = max(one.Drought, e.Time-one.trying)
	if e.Kind != history.OK {
		return
	}
	one.Grants++
	one.idle = true
	one.LongestWait = max(one.LongestWait, e.Time-op.Intended)
}

func (c *clients) of(owner string) *client {
	name := ClientOf(owner)
	if one := c.byName[name]; one != nil {
		return one
	}
	if len(c.byName) >= maxClients {
		name = others
	}
	if c.byName[name] == nil {
		c.byName[name] = &client{Client: Client{Name: name}, idle: true}
	}
	return c.byName[name]
}

func (c *clients) summary() Fairness {
	f := Fairness{}
	for _, one := range c.byName {
		f.Clients = append(f.Clients, one.Client)
	}
	slices.SortFunc(f.Clients, func(a, b Client) int { return cmp.Compare(a.Name, b.Name) })
	f.Jain = jain(f.Clients)
	for i, one := range f.Clients {
		f.LongestWait = max(f.LongestWait, one.LongestWait)
		f.Drought = max(f.Drought, one.Drought)
		f.MostGrants = max(f.MostGrants, one.Grants)
		if i == 0 || one.Grants < f.LeastGrants {
			f.LeastGrants = one.Grants
		}
	}
	return f
}

// Fairness says how grants were shared.
type Fairness struct {
	Clients     []Client      `json:"clients"`
	Jain        float64       `json:"jain"` // Jain's index of grants: 1 is even, 1/n is one client taking all; 0 without grants
	LeastGrants int64         `json:"least_grants"`
	MostGrants  int64         `json:"most_grants"`
	LongestWait time.Duration `json:"longest_wait_ns"`
	Drought     time.Duration `json:"drought_ns"`
}

func jain(all []Client) float64 {
	grants := make([]int64, len(all))
	for i, c := range all {
		grants[i] = c.Grants
	}
	return Jain(grants)
}

// Jain is Jain's index of shares, (Σx)² / (n·Σx²): 1 is even, 1/n is one taking
// all; 0 when there is nothing to share. Source: Jain, Chiu, Hawe,
// DEC-TR-301, 1984.
func Jain(all []int64) float64 {
	var sum, squares float64
	for _, n := range all {
		x := float64(n)
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(all)) * squares)
}
