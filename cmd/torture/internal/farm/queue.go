package farm

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"locktorture/cmd/torture/internal/periodic"
)

// A queue is what tasks of an ability are taken from, as it was at a time.
type queue struct {
	consumer jetstream.Consumer
	since    time.Time
}

// next takes a task out of a queue, if there is one soon.
func (w *Worker) next(ctx context.Context) jetstream.Msg {
	asked := int(w.asked.Load())
	for i := range w.Abilities {
		at := (asked + 1 + i) % len(w.Abilities) // the one that was asked for last comes last: it starves nobody
		wait := glance
		if at == asked {
			wait = look
		}
		if m := w.fetch(ctx, w.Abilities[at], wait); m != nil {
			w.asked.Store(int64(at))
			return m
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// fetch takes a task of an ability, if there is one within wait.
func (w *Worker) fetch(ctx context.Context, ability string, wait time.Duration) jetstream.Msg {
	queue, err := w.queue(ctx, ability)
	var m jetstream.Msg
	if err == nil {
		m, err = fetchOne(ctx, queue, wait)
	}
	if err != nil {
		w.opening.Lock()
		delete(w.queues, ability)
		w.opening.Unlock()
		periodic.Sleep(ctx, time.Second/2)
	}
	return m
}

// fetchOne fetches a message from a queue; nil if none comes within wait. It withdraws its
// request before it stops listening, and returns a message that is under way by then,
// however late it arrives: one that nobody received would count as delivered, and be
// delivered again only after the time that a dead worker's message is. After the end of ctx
// it waits for such a message for look only.
func fetchOne(ctx context.Context, from jetstream.Consumer, wait time.Duration) (jetstream.Msg, error) {
	messages, err := from.Messages(jetstream.PullMaxMessages(1), jetstream.PullExpiry(requestFor))
	if err != nil {
		return nil, err
	}
	defer messages.Stop()
	m, err := messages.Next(jetstream.NextMaxWait(wait))
	if !errors.Is(err, nats.ErrTimeout) {
		return m, err
	}
	messages.Drain()
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(look, cancel) })()
	m, err = messages.Next(jetstream.NextContext(late))
	if m == nil && (late.Err() != nil || errors.Is(err, jetstream.ErrMsgIteratorClosed) && !errors.Is(err, jetstream.ErrConnectionClosed)) {
		return nil, nil // withdrawn, and nothing came
	}
	return m, err
}

// requestFor is how long the server keeps a request for a task whose worker vanished
// unnoticed: long beside look, so that none is asked for twice.
const requestFor = 30 * time.Second

// queueFor is how long a queue is taken for granted: another server may be there, which
// knows of none and answers nothing.
const queueFor = 5 * time.Second

// queue is what tasks of an ability are taken from. It is made where it is not there.
func (w *Worker) queue(ctx context.Context, ability string) (jetstream.Consumer, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if q := w.queues[ability]; q.consumer != nil && time.Since(q.since) < queueFor {
		return q.consumer, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := w.stores.tasks.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: w.Build.token() + "-" + ability, FilterSubject: taskPrefix + w.Build.token() + "." + ability + ".>",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxDeliver: -1, MaxAckPending: -1,
	})
	if err == nil {
		w.queues[ability] = queue{q, time.Now()}
	}
	return q, err
}

// hold keeps a task with this worker until held is closed.
func hold(m jetstream.Msg, held chan struct{}) {
	tick := time.NewTicker(ackWait / 3)
	defer tick.Stop()
	for {
		select {
		case <-held:
			return
		case <-tick.C:
			_ = m.InProgress()
		}
	}
}
