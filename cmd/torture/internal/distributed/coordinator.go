package distributed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/workload/history"
)

// A Config says of a coordinator who it is.
type Config struct {
	Conn  *nats.Conn // to a server with JetStream
	Build farm.Build // workers must be of the same
	Dir   string     // for the workers' histories as they come in
	Say   func(line string)
}

// A Coordinator has workers play the parts of one run.
type Coordinator struct {
	cfg     Config
	run     string
	js      jetstream.JetStream
	stream  jetstream.Stream
	consume jetstream.ConsumeContext
	began   time.Time // its clock's origin, once it has one
	remotes []*Remote
	record  *record

	running context.Context
	stop    context.CancelFunc
	all     sync.WaitGroup
}

// Open makes the stream of a new run.
func Open(ctx context.Context, cfg Config) (*Coordinator, error) {
	c := &Coordinator{cfg: cfg, run: nuid.Next()}
	c.running, c.stop = context.WithCancel(context.Background())
	var err error
	if c.js, err = jetstream.New(cfg.Conn); err != nil {
		return nil, err
	}
	c.stream, err = farm.MakeStream(ctx, c.js, jetstream.StreamConfig{
		Name: streamPrefix + c.run, Subjects: []string{historyPrefix + c.run + ".*"}, Storage: jetstream.FileStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Duplicates: 10 * time.Minute,
	})
	if err != nil {
		return nil, fmt.Errorf("make the run's stream: %w", err)
	}
	return c, nil
}

// Remotes are the workers that were gathered.
func (c *Coordinator) Remotes() []*Remote { return c.remotes }

// callEvery is how often workers are called until there are enough.
const callEvery = 250 * time.Millisecond

// Gather calls workers until there are n, and gives each its part: part says what that
// is, in JSON, for the i-th. It waits for them while ctx lasts.
func (c *Coordinator) Gather(ctx context.Context, n int, part func(i int, o Offer) (any, error)) error {
	told := time.Now()
	for refused := map[string]bool{}; len(c.remotes) < n; {
		offers, err := c.offers(ctx)
		if err != nil {
			return err
		}
		for _, o := range offers {
			taken := slices.ContainsFunc(c.remotes, func(r *Remote) bool { return r.Name == o.Name })
			if taken || len(c.remotes) == n {
				continue
			}
			body, err := part(len(c.remotes), o)
			if err != nil {
				return err
			}
			if err := c.give(ctx, o, body); err != nil {
				if !refused[o.Name] {
					c.cfg.Say(fmt.Sprintf("worker %s takes no part: %v", o.Name, err))
				}
				refused[o.Name] = true
			}
		}
		if len(c.remotes) < n && time.Since(told) > 5*time.Second {
			told = time.Now()
			c.cfg.Say(fmt.Sprintf("waits for workers: %d of %d are there", len(c.remotes), n))
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
		if json.Unmarshal(m.Data, &o) == nil && o.Name != "" {
			all = append(all, o)
		}
	}
}

// give has a worker take a part.
func (c *Coordinator) give(ctx context.Context, o Offer, part any) error {
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
	r := &Remote{Offer: o, coordinator: c, number: len(c.remotes), heard: time.Now(), ended: make(chan struct{})}
	c.remotes = append(c.remotes, r)
	return nil
}

// Begin has times count from began, and events of all workers taken in from here on:
// each is given to sink, as it comes, in the order of its worker alone, with its time
// by the coordinator's clock as far as that is known so far. The workers' clocks are
// read from here on.
func (c *Coordinator) Begin(ctx context.Context, began time.Time, h history.Header, sink func(r *Remote, e *history.Event)) error {
	c.began = began
	var err error
	if c.record, err = newRecord(c.cfg.Dir, c.run); err != nil {
		return err
	}
	for _, r := range c.remotes {
		if err := r.readClock(ctx); err != nil {
			return fmt.Errorf("read the clock of worker %s: %w", r.Name, err)
		}
		if r.taken, err = newIntake(c.cfg.Dir, r.Name, h); err != nil {
			return err
		}
		c.all.Go(func() { r.follow(c.running) })
	}
	consumer, err := c.js.OrderedConsumer(ctx, streamPrefix+c.run, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return fmt.Errorf("follow the workers' histories: %w", err)
	}
	c.consume, err = consumer.Consume(func(m jetstream.Msg) { c.take(m, sink) })
	if err != nil {
		return fmt.Errorf("follow the workers' histories: %w", err)
	}
	return nil
}

// take takes a batch of events in.
func (c *Coordinator) take(m jetstream.Msg, sink func(r *Remote, e *history.Event)) {
	name := m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
	for _, r := range c.remotes {
		if r.Name == name {
			r.take(m, sink)
		}
	}
}

// takenIn waits until all that the workers recorded was taken in, but for what will not come.
func (c *Coordinator) takenIn(ctx context.Context) error {
	for _, r := range c.remotes {
		for r.awaited() {
			select {
			case <-r.ended:
			case <-time.After(100 * time.Millisecond):
				if ctx.Err() != nil {
					return ctx.Err()
				}
				continue
			}
			break
		}
	}
	return nil
}

// Close ends what the coordinator began, and removes the run's stream. The histories
// that were taken in stay, and can be read once it has returned.
func (c *Coordinator) Close(ctx context.Context) error {
	c.stop()
	c.all.Wait()
	if c.consume != nil {
		c.consume.Stop()
		<-c.consume.Closed()
	}
	var errs []error
	for _, r := range c.remotes {
		if r.taken != nil {
			errs = append(errs, r.taken.close())
		}
	}
	errs = append(errs, c.record.close())
	if err := c.js.DeleteStream(ctx, streamPrefix+c.run); err != nil {
		errs = append(errs, fmt.Errorf("remove the run's stream: %w", err))
	}
	return errors.Join(errs...)
}
