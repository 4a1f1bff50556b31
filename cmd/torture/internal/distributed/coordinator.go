package distributed

import (
	"context"
	"errors"
	"fmt"
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
	Log   func(line string)

	// Ended, where it is not nil, says how a worker without which the run shall not
	// begin has ended.
	Ended <-chan error
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
	had     map[string]bool // names of workers that were given a part
	record  *record

	running context.Context
	stop    context.CancelFunc
	all     sync.WaitGroup
}

// Open makes the stream of a new run.
func Open(ctx context.Context, cfg Config) (*Coordinator, error) {
	c := &Coordinator{cfg: cfg, run: nuid.Next(), had: map[string]bool{}}
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
		if r.intake, err = newIntake(c.cfg.Dir, r.Name, h); err != nil {
			return err
		}
		c.all.Go(func() { r.follow(c.running) })
	}
	consumer, err := c.js.OrderedConsumer(ctx, streamPrefix+c.run, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return fmt.Errorf("follow the workers' histories: %w", err)
	}
	c.consume, err = consumer.Consume(func(m jetstream.Msg) { c.receive(m, sink) })
	if err != nil {
		return fmt.Errorf("follow the workers' histories: %w", err)
	}
	return nil
}

// receive hands a batch of events to the remote that sent it.
func (c *Coordinator) receive(m jetstream.Msg, sink func(r *Remote, e *history.Event)) {
	name := m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
	for _, r := range c.remotes {
		if r.Name == name {
			r.receive(m, sink)
		}
	}
}

// awaitReceived waits until everything that the workers recorded was received, except from
// workers that are lost.
func (c *Coordinator) awaitReceived(ctx context.Context) error {
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
		if r.intake != nil {
			errs = append(errs, r.intake.close())
		}
	}
	errs = append(errs, c.record.close())
	if err := c.js.DeleteStream(ctx, streamPrefix+c.run); err != nil {
		errs = append(errs, fmt.Errorf("remove the run's stream: %w", err))
	}
	return errors.Join(errs...)
}
