package sample

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/workload/history"
	"locktorture/workload/store"
)

// A sampler watches one node, on a connection of its own.
type sampler struct {
	Config
	node Node
	rec  *history.Recorder
	rdb  *redis.Client

	seen   []sight // by key
	silent bool    // the last look was not answered
}

// A sight is what a look found under one key.
type sight struct {
	known   bool
	there   bool
	text    string
	expires time.Time // zero without expiry
	kind    string    // its type; empty is not known, and taken for a string
	told    time.Time // recorded last
}

func newSampler(c Config, n Node, rec *history.Recorder) *sampler {
	return &sampler{Config: c, node: n, rec: rec, rdb: store.Connect(n.Dial), seen: make([]sight, len(c.Keys))}
}

func (l *sampler) watch(ctx context.Context) error {
	defer l.rdb.Close()
	tick := time.NewTicker(l.Every())
	defer tick.Stop()
	for {
		err := l.sample(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case forbidden(err):
			l.fail(err)
			return &ForbiddenError{l.node.Name(), err}
		case err != nil:
			l.fail(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// sample reads all keys at one instant, in a transaction.
func (l *sampler) sample(ctx context.Context) error {
	if into, can := l.node.(Looker); can {
		return l.sampleInto(into)
	}
	ctx, cancel := context.WithTimeout(ctx, 4*l.Every())
	defer cancel()
	pipe := l.rdb.TxPipeline()
	ttls, reads := make([]*redis.DurationCmd, len(l.Keys)), make([]redis.Cmder, len(l.Keys))
	for i, k := range l.Keys {
		ttls[i], reads[i] = pipe.PTTL(ctx, k.Name), store.Read(ctx, pipe, l.seen[i].kind, k.Name)
	}
	began := time.Now()
	_, err := pipe.Exec(ctx)
	if len(ttls) == 0 || ttls[0].Err() != nil {
		return l.reason(ctx, err)
	}
	l.silent = false
	for i := range l.Keys {
		if strings.HasPrefix(textOf(reads[i].Err()), "WRONGTYPE") {
			l.seen[i].kind, l.seen[i].known = l.rdb.Type(ctx, l.Keys[i].Name).Val(), false
			continue // it is read by the next look
		}
		l.saw(i, began, ttls[i].Val(), store.Text(reads[i]))
	}
	return nil
}

// reason is why a transaction failed. A server that refuses a command of one says at its end only
// that it did, be it for good, or while it loads its data.
func (l *sampler) reason(ctx context.Context, err error) error {
	if !strings.HasPrefix(textOf(err), "EXECABORT") {
		return err
	}
	key := l.Keys[0].Name
	for _, alone := range []error{l.rdb.PTTL(ctx, key).Err(), store.Read(ctx, l.rdb, l.seen[0].kind, key).Err()} {
		if alone != nil && !errors.Is(alone, redis.Nil) {
			return alone
		}
	}
	return err // it has come to an end meanwhile
}

// sampleInto looks into a node that needs no connection for that.
func (l *sampler) sampleInto(n Looker) error {
	now := time.Now()
	for i, k := range l.Keys {
		left, text, err := n.Look(k.Name)
		if err != nil {
			return err
		}
		l.silent = false
		l.saw(i, now, left, text)
	}
	return nil
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// expirySlack is by how much an expiry may seem to move because servers count
// milliseconds.
const expirySlack = 2 * time.Millisecond

// saw records what was found under the i-th key, if that is new, or was told long
// ago.
func (l *sampler) saw(i int, began time.Time, left time.Duration, text string) {
	now, was := time.Now(), &l.seen[i]
	s := sight{known: true, there: left != store.Absent, text: text, kind: was.kind, told: was.told}
	if s.there && left != store.NoExpiry {
		s.expires = began.Add(left)
	}
	same := was.known && was.there == s.there && was.text == s.text && was.expires.IsZero() == s.expires.IsZero()
	moved := s.expires.Sub(was.expires).Abs() > expirySlack+now.Sub(began)
	if same && !moved {
		s.expires = was.expires
	}
	if same && !moved && now.Sub(was.told) < l.TTL/toldPerTTL {
		return
	}
	s.told = now
	*was = s
	l.rec.Append(history.Event{
		Process: history.Witness, Kind: history.OK, Op: history.Key, Key: l.Keys[i].Resource, Node: l.node.Name(),
		PTTL: millis(left), Holder: text, Note: l.Keys[i].Name, Value: history.Sample, Began: max(l.rec.Since(began), 0), Has: history.HasPTTL | history.HasBegan,
	})
}

func millis(d time.Duration) int64 {
	if d < 0 {
		return int64(d)
	}
	return d.Milliseconds()
}

// fail records that the node did not answer, once: nobody knows then what it
// stores.
func (l *sampler) fail(err error) {
	if l.silent {
		return
	}
	l.silent = true
	for i := range l.seen {
		l.seen[i].known = false
	}
	l.rec.Append(history.Event{
		Process: history.Witness, Kind: history.Fail, Op: history.Key, Node: l.node.Name(), Value: history.Sample,
		Err: history.OneLine(err.Error()),
	})
}
