package resolve

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/workload/history"
)

func TestMain(m *testing.M) { faulttest.Main(m) }

// A resolverRig is clients of a lock of SET NX and DEL, driven by hand, on
// nodes that one Resolver watches.
type resolverRig struct {
	*faulttest.Rig
	resolver *Resolver
	rdbs     map[string][]*redis.Client
	process  int
}

func newResolverRig(t *testing.T, nodes int) *resolverRig {
	r := &resolverRig{Rig: faulttest.EmbeddedRig(t, nodes, 2), rdbs: map[string][]*redis.Client{}}
	var names []string
	for _, n := range r.Testbed.Nodes() {
		names = append(names, n.Name())
	}
	r.resolver = New(names, history.Header{Quorum: r.Quorum, TTL: time.Minute})
	r.Rec.Attach(r.resolver)
	for _, c := range r.Clients {
		links := map[string]link.Link{}
		for _, n := range names {
			links[n] = r.Link(c.Name(), n)
			r.rdbs[c.Name()] = append(r.rdbs[c.Name()], r.Dial(t, c.Name(), n))
		}
		t.Cleanup(r.resolver.Watch(c.Name(), links))
	}
	return r
}

// do records an operation whose command goes to every node, and returns the
// index of its invocation.
func (r *resolverRig) do(t *testing.T, owner string, op history.Op, kind history.Kind) int {
	r.process++
	e := history.Event{Process: r.process, Kind: history.Invoke, Op: op, Key: "k", Owner: owner}
	of := r.Rec.Append(e)
	r.send(t, owner, op)
	e.Kind = kind
	r.Rec.Append(e)
	return of
}

// send sends the command of op to every node at once.
func (r *resolverRig) send(t *testing.T, client string, op history.Op) {
	ctx, cancel := context.WithTimeout(t.Context(), faulttest.Soon)
	defer cancel()
	var all sync.WaitGroup
	for _, rdb := range r.rdbs[client] {
		all.Go(func() {
			if op == history.Acquire {
				_ = rdb.SetNX(ctx, "k", client, time.Minute).Err()
			} else {
				_ = rdb.Del(ctx, "k").Err()
			}
		})
	}
	all.Wait()
}

// refuse makes every node of kind r say no to what is to come.
func (r *resolverRig) refuse(t *testing.T, kinds string, op history.Op) {
	for i, kind := range kinds {
		n := r.Testbed.Nodes()[i]
		switch {
		case kind != 'r':
		case op == history.Acquire:
			r.Put(t, n, "k", "another")
		default:
			if _, err := testbed.Do(t.Context(), n, "DEL", "k"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// impair impairs the client's links, one kind per node; empty is none.
func (r *resolverRig) impair(t *testing.T, client string, kinds []link.Kind) (heal func()) {
	var applied []link.Applied
	for i, n := range r.Testbed.Nodes() {
		if kinds[i] == "" {
			continue
		}
		a, err := r.Link(client, n.Name()).Impair(t.Context(), link.Impairment{Kind: kinds[i]})
		if err != nil {
			t.Fatal(err)
		}
		applied = append(applied, a)
	}
	return func() {
		for _, a := range applied {
			if _, err := a.Heal(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// resolved closes all connections and returns what is resolved, as
// "index:value".
func (r *resolverRig) resolved(t *testing.T) string {
	t.Helper()
	var all []string
	for _, rdbs := range r.rdbs {
		for _, rdb := range rdbs {
			_ = rdb.Close()
		}
	}
	// What a proxy has yet to end is undecided; it ends soon.
	undecided := func() bool {
		for _, l := range r.Links {
			for _, receipt := range l.(link.Receipter).Receipts() {
				if receipt.Outcome == link.Undecided {
					return true
				}
			}
		}
		return false
	}
	for undecided() {
		time.Sleep(time.Millisecond)
	}
	// Nothing that can be resolved is forgotten on the way, and all else is.
	for _, c := range r.resolver.clients {
		r.resolver.prune(c, time.Hour)
	}
	hopeful := len(r.resolver.unknown)
	defer func() {
		if len(all) != hopeful {
			t.Errorf("%d operations were kept, %d of them resolved", hopeful, len(all))
		}
		for _, c := range r.resolver.clients {
			r.resolver.prune(c, 0)
		}
		for _, l := range r.Links {
			if left := l.(link.Receipter).Receipts(); len(left) > 0 {
				t.Errorf("receipts that nobody wants are kept: %+v", left)
			}
		}
	}()
	for _, e := range r.resolver.Resolve() {
		t.Logf("receipt %s of %d: %s", e.Value, e.Of, e.Note)
		r.Rec.Append(e)
		all = append(all, fmt.Sprintf("%d:%s", e.Of, e.Value))
	}
	if err := history.Validate(r.Events.Events); err != nil {
		t.Error(err)
	}
	return strings.Join(all, " ")
}

func kinds(letters string) []link.Kind {
	var all []link.Kind
	for _, l := range letters {
		all = append(all, map[rune]link.Kind{'.': "", 'q': link.RequestLost, 's': link.ResponseLost, 'r': link.ResponseLost}[l])
	}
	return all
}

func TestResolver(t *testing.T) {
	const never, executed, unknown = history.NeverForwarded, history.Executed, ""
	for _, c := range []struct {
		name  string
		kinds string // of impairment, per node: q request lost, s reply lost, r lost and a no
		op    history.Op
		held  bool // by another, so that an acquire is refused
		again bool // the command is sent again after the heal
		want  string
	}{
		{"one node, request lost", "q", history.Acquire, false, false, never},
		{"one node, reply lost", "s", history.Acquire, false, false, executed},
		{"one node, refusal lost", "s", history.Acquire, true, false, unknown},
		{"one node, sent again", "q", history.Acquire, false, true, unknown},
		{"release never sent on", "q", history.Release, true, false, never},
		{"release carried out", "s", history.Release, true, false, executed},
		{"release repeated", "q", history.Release, true, true, unknown},
		{"too few nodes reached", "qqqss", history.Acquire, false, false, never},
		{"a quorum did it", "qqsss", history.Acquire, false, false, executed},
		{"a quorum did it, some known", "qq..s", history.Acquire, false, false, executed},
		{"neither way", "qqrss", history.Acquire, false, false, unknown},
		{"refused by all", "sssss", history.Acquire, true, false, unknown},
		{"no node was reached", "qqqqq", history.Release, true, false, never},
		{"a quorum holds, if all nodes had granted", "qqqss", history.Release, true, false, unknown},
		{"no quorum holds any more", "qqsss", history.Release, true, false, executed},
		{"perhaps a quorum holds", "qqrss", history.Release, true, false, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newResolverRig(t, len(c.kinds))
			r.do(t, "c00", history.Acquire, history.OK)
			r.do(t, "c01", history.Acquire, history.Fail)
			if r.do(t, "c00", history.Release, history.OK); c.held {
				r.do(t, "c00", history.Acquire, history.OK)
			}
			r.refuse(t, c.kinds, c.op)
			heal := r.impair(t, "c01", kinds(c.kinds))
			of := r.do(t, "c01", c.op, history.Info)
			heal()
			if c.again {
				r.send(t, "c01", c.op)
			}
			want := ""
			if c.want != "" {
				want = fmt.Sprintf("%d:%s", of, c.want)
			}
			if got := r.resolved(t); got != want {
				t.Errorf("%q; want %q", got, want)
			}
		})
	}
}

// An operation that sent nothing has not happened once its client is gone;
// until then the command may be on its way.
func TestResolverOfWhatWasNotSent(t *testing.T) {
	for _, c := range []struct {
		next string // who acts next for the client
		want string
	}{{"c00", ""}, {"c00.1", "0:never-forwarded"}, {"", "0:never-forwarded"}} {
		r := newResolverRig(t, 3)
		r.Rec.Append(history.Event{Process: 100, Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: "c00"})
		r.Rec.Append(history.Event{Process: 100, Kind: history.Info, Op: history.Acquire, Key: "k", Owner: "c00"})
		if c.next != "" {
			r.Rec.Append(history.Event{Process: 101, Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: c.next})
		}
		if got := r.resolved(t); got != c.want {
			t.Errorf("then %q: %q; want %q", c.next, got, c.want)
		}
	}
}

// Operations of one client at the same time share their windows: none of them
// is resolved.
func TestResolverOfWhatIsMixed(t *testing.T) {
	r := newResolverRig(t, 1)
	heal := r.impair(t, "c00", kinds("q"))
	for _, kind := range []history.Kind{history.Invoke, history.Info} {
		for i, key := range []string{"k", "k2"} {
			r.Rec.Append(history.Event{Process: i, Kind: kind, Op: history.Acquire, Key: key, Owner: "c00"})
		}
		if kind == history.Invoke {
			r.send(t, "c00", history.Acquire)
		}
	}
	heal()
	if got := r.resolved(t); got != "" {
		t.Error(got)
	}
}

// A synthetic is a client of three nodes whose commands a test makes up.
type synthetic struct {
	*Resolver
	c    *contender
	next int // index of the next event
	sent uint64
}

func newSynthetic() *synthetic {
	s := &synthetic{Resolver: New([]string{"n1", "n2", "n3"}, history.Header{Quorum: 2, TTL: time.Minute})}
	s.c = &contender{ttl: time.Minute, open: map[int]*operation{}}
	s.clients["c00"] = s.c
	return s
}

// event gives the Resolver an event of an acquire, and returns its index.
func (s *synthetic) event(kind history.Kind) int {
	s.Event(&history.Event{Index: s.next, Kind: kind, Op: history.Acquire, Key: "k", Owner: "c00"})
	s.next++
	return s.next - 1
}

// command sends one to every node.
func (s *synthetic) command() (request uint64) {
	s.sent++
	for i := range s.nodes {
		s.c.passed(i, &link.TapEvent{Command: "SET", Key: "k", Request: s.sent})
	}
	return s.sent
}

// answer lets every node answer a request.
func (s *synthetic) answer(request uint64) {
	for i := range s.nodes {
		s.c.passed(i, &link.TapEvent{Command: "SET", Key: "k", Request: request, Reply: true, Shape: link.Shape{Type: '+', Leaf: '$'}})
	}
}

func (s *synthetic) granted() {
	s.event(history.Invoke)
	s.answer(s.command())
	s.event(history.OK)
}

// A reply that comes when the client has gone on tells what became of the
// request all the same, and nothing of what the client did next.
func TestResolverOfLateReplies(t *testing.T) {
	s := newSynthetic()
	s.granted()
	of := s.event(history.Invoke)
	late := s.command()
	s.event(history.Info)
	s.event(history.Invoke)
	s.command() // never answered
	s.answer(late)
	s.event(history.Info)
	if got := s.Resolve(); len(got) != 1 || got[0].Of != of || got[0].Value != history.Executed {
		t.Errorf("%+v", got)
	}
	if len(s.c.owed) > 0 {
		t.Errorf("%d replies are waited for still", len(s.c.owed))
	}
}

// What an operation with too many commands did not do cannot be said, what it
// did can.
func TestResolverOfManyCommands(t *testing.T) {
	s := newSynthetic()
	s.granted()
	of := s.event(history.Invoke)
	s.answer(s.command())
	for range mostCommands {
		s.command()
	}
	s.event(history.Info)
	if got := s.Resolve(); len(got) != 1 || got[0].Of != of || got[0].Value != history.Executed {
		t.Errorf("%+v", got)
	}
}

// What a Resolver costs an operation on five nodes.
func BenchmarkResolver(b *testing.B) {
	nodes := []string{"n1", "n2", "n3", "n4", "n5"}
	r := New(nodes, history.Header{Quorum: 3, TTL: time.Minute})
	c := &contender{ttl: time.Minute, open: map[int]*operation{}}
	r.clients["c00"] = c
	e := history.Event{Op: history.Acquire, Key: "k", Owner: "c00"}
	sent := link.TapEvent{Client: "c00", Command: "EVALSHA", Key: "k", Script: strings.Repeat("a", 40)}
	b.ReportAllocs()
	for b.Loop() {
		e.Kind = history.Invoke
		r.Event(&e)
		sent.Request++
		for i := range nodes {
			sent.Reply = false
			c.passed(i, &sent)
		}
		for i := range nodes {
			sent.Reply, sent.Shape = true, link.Shape{Type: '*', Leaf: '+'}
			c.passed(i, &sent)
		}
		e.Kind = history.OK
		r.Event(&e)
	}
}
