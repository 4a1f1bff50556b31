package distributed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"locktorture/workload/history"
)

// callEvery is how often workers are called until there are enough.
const callEvery = 250 * time.Millisecond

// Gather calls workers until there are n, and gives each its part: part says what that
// is, in JSON, for the i-th. It waits for them while ctx lasts, and while all that Config.Ended
// tells of live. The part of one that leaves meanwhile is given to another.
func (c *Coordinator) Gather(ctx context.Context, n int, part func(i int, o Offer) (any, error)) error {
	told := time.Now()
	for refused := map[string]bool{}; len(c.remotes) < n; {
		c.keepAlive(ctx)
		offers, err := c.offers(ctx)
		if err != nil {
			return err
		}
		for _, o := range offers {
			if o.Name == "" && !refused[o.Not] {
				refused[o.Not] = true
				c.cfg.Log(history.OneLine(o.Not))
			}
			if o.Name == "" || c.had[o.Name] || len(c.remotes) == n {
				continue
			}
			number := c.unplayed()
			body, err := part(number, o)
			if err != nil {
				return err
			}
			if err := c.assign(ctx, o, number, body); err != nil {
				if !refused[o.Name] {
					c.cfg.Log(fmt.Sprintf("worker %s takes no part: %v", o.Name, err))
				}
				refused[o.Name] = true
			}
		}
		if len(c.remotes) < n && time.Since(told) > 5*time.Second {
			told = time.Now()
			c.cfg.Log(fmt.Sprintf("waits for workers: %d of %d are there", len(c.remotes), n))
		}
		select {
		case err := <-c.cfg.Ended:
			return err
		default:
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%d of %d workers came: %w", len(c.remotes), n, context.Cause(ctx))
		}
	}
	slices.SortFunc(c.remotes, func(a, b *Remote) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// offers are the answers to one call.
func (c *Coordinator) offers(ctx context.Context) (all []Offer, err error) {
	inbox := c.cfg.Conn.NewInbox()
	sub, err := c.cfg.Conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sub.Unsubscribe()) }()
	raw, err := json.Marshal(call{c.run, c.cfg.Build})
	if err != nil {
		return nil, err
	}
	if err := c.cfg.Conn.PublishRequest(callSubject, inbox, raw); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callEvery)
	defer cancel()
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil { // nobody else
			return all, nil
		}
		var o Offer
		if json.Unmarshal(m.Data, &o) == nil && o.Name+o.Not != "" {
			all = append(all, o)
		}
	}
}

// keepAlive sends a request to each worker that has a part, so that it does not give the part
// up, and forgets those whose subject has had no listener for goneAfter.
func (c *Coordinator) keepAlive(ctx context.Context) {
	c.remotes = slices.DeleteFunc(c.remotes, func(r *Remote) bool {
		ctx, cancel := context.WithTimeout(ctx, askAgain)
		defer cancel()
		_, err := c.cfg.Conn.RequestWithContext(ctx, clockPrefix+c.run+"."+r.Name, nil)
		switch r.heard = time.Now(); {
		case !errors.Is(err, nats.ErrNoResponders):
			r.silent = time.Time{}
		case r.silent.IsZero():
			r.silent = r.heard
		case r.heard.Sub(r.silent) > goneAfter:
			c.cfg.Log(fmt.Sprintf("worker %s left before the run began: one of another name shall have its part", r.Name))
			return true
		}
		return false
	})
}

// unplayed is the lowest number of a part that nobody has.
func (c *Coordinator) unplayed() (number int) {
	for slices.ContainsFunc(c.remotes, func(r *Remote) bool { return r.number == number }) {
		number++
	}
	return number
}

// assign gives a worker the part of a number.
func (c *Coordinator) assign(ctx context.Context, o Offer, number int, part any) error {
	body, err := json.Marshal(part)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(task{c.run, body})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	m, err := c.cfg.Conn.RequestWithContext(ctx, workerPrefix+o.Name, raw)
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return err
	}
	if a.Err != "" {
		return errors.New(a.Err)
	}
	r := &Remote{Offer: o, coordinator: c, number: number, heard: time.Now(), ended: make(chan struct{})}
	c.remotes, c.had[o.Name] = append(c.remotes, r), true
	return nil
}
