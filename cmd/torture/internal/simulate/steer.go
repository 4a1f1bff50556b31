package simulate

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/testbed/virtual"
	"locktorture/workload/history"
)

// A move is what can be done next with the messages that are on the way.
type move struct {
	kind moveKind
	msg  link.Message // whose node it is that restarts; none where time passes
}

type moveKind string

// The moves.
const (
	deliver      moveKind = "arrives"                // of those that are not held back, the first by its connection
	wait         moveKind = "time passes"            // until somebody sends something
	hold         moveKind = "is held back"           // with all that follows it on its connection, until …
	release      moveKind = "arrives late"           // … now
	lose         moveKind = "is lost"                // with its connection
	restart      moveKind = "restarts with its data" // and loses its connections
	restartEmpty moveKind = "restarts without its data"
)

// deviates reports whether a move is none that a healthy network makes.
func (k moveKind) deviates() bool { return k == hold || k == lose || k == restart || k == restartEmpty }

// isFault reports whether a move is a fault.
func (k moveKind) isFault() bool { return k == lose || k == restart || k == restartEmpty }

// A left is what may still be done in a schedule.
type left struct{ deviations, faults, moves int }

func (l left) covers(m left) bool {
	return l.deviations >= m.deviations && l.faults >= m.faults && l.moves >= m.moves
}

func (l left) after(k moveKind) left {
	l.moves--
	if k.deviates() {
		l.deviations--
	}
	if k.isFault() {
		l.faults--
	}
	return l
}

// A point is a moment of a schedule.
type point struct {
	state uint64
	left  left
}

// A steering decides for one round which message arrives next. It follows prefix, and
// then what a healthy network does: the first message, by its connection, arrives.
type steering struct {
	prefix []byte // of options, one for each point at which there were several
	left   left   // at the beginning
	empty  bool   // nodes may lose their data

	// lenient has a choice that is not there be what a healthy network does.
	lenient bool

	// seen is asked at each moment beyond prefix; when it reports true the round ends.
	seen func(point) bool

	options []int  // how many there were, one for each point
	taken   []byte // of options, one for each point
	moves   []string
	err     error // the round did not follow prefix
	cut     bool  // ended by seen

	manual *link.Manual
	bed    *virtual.Bed
	stop   func() // ends the load
	warm   warmth
	held   map[link.Flow]bool
	told   map[string]*strings.Builder // what has arrived at each client, and when, since the first point
	began  time.Time                   // the first point
	script *script
}

// moveTime passes after each move: the instants of all who act have passed then.
const moveTime = 5 * grain

// coarse is how exactly times are compared when two states are: what differs by less is
// taken for the same.
const coarse = 5 * time.Millisecond

// run moves messages until ctx ends, then lets everything arrive until done ends.
func (s *steering) run(ctx, done context.Context) {
	s.held, s.told, s.script = map[link.Flow]bool{}, map[string]*strings.Builder{}, newScript()
	for done.Err() == nil {
		switch free, late := s.waiting(); {
		case len(free) == 0 && len(late) == 0:
			s.await(done)
		case len(free) == 0 && !s.choosing(ctx):
			s.releaseAll(late)
		default:
			s.next(ctx, done)
			awaitQuiescence()
		}
	}
}

// releaseAll ends all holding back: nobody would any more.
func (s *steering) releaseAll(late []link.Message) {
	told := map[link.Flow]bool{}
	for _, m := range late {
		if !told[m.Flow] {
			told[m.Flow] = true
			s.moves = append(s.moves, move{release, m}.String())
		}
		s.script.release(m.Flow)
	}
	clear(s.held)
}

// awaitQuiescence waits until every goroutine has reacted to the last move and blocks again,
// also those that react at the same instant.
func awaitQuiescence() {
	time.Sleep(moveTime)
	synctest.Wait()
}

// await waits until something was sent, or done ends.
func (s *steering) await(done context.Context) {
	select {
	case <-s.manual.News():
		awaitQuiescence()
	case <-done.Done():
	}
}

// waiting lists the messages that are on the way, and of those the ones held back.
func (s *steering) waiting() (free, late []link.Message) {
	for _, m := range s.inOrder() {
		if s.held[m.Flow] {
			late = append(late, m)
		} else {
			free = append(free, m)
		}
	}
	return free, late
}

// inOrder lists the messages that are on the way, by their connections: an order that does
// not depend on what was sent first, so that two states with the same messages on the way
// are the same.
func (s *steering) inOrder() []link.Message {
	all := s.manual.Waiting()
	slices.SortFunc(all, func(a, b link.Message) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), cmp.Compare(a.Conn, b.Conn), cmp.Compare(a.Toward, b.Toward))
	})
	return all
}

// choosing reports whether there is anything to choose at present.
func (s *steering) choosing(ctx context.Context) bool {
	return ctx.Err() == nil && s.warm.is() && s.left.moves > 0 && !s.cut && s.err == nil
}

// next makes one move.
func (s *steering) next(ctx, done context.Context) {
	free, late := s.waiting()
	if len(free) > 0 && !eligible(free[0]) || !s.choosing(ctx) {
		if len(free) > 0 {
			s.deliver(free[0])
		}
		return
	}
	options := s.possible(free, late)
	if len(options) == 0 {
		return
	}
	chosen := s.choose(options)
	if s.cut || s.err != nil {
		s.stop()
		return
	}
	s.make(done, chosen)
}

// eligible reports whether it is tried out when a message arrives: those between locks and
// masters are, unless they are the end of a connection.
func eligible(m link.Message) bool {
	_, node, _ := strings.Cut(m.Link, ".")
	return m.Data != nil && node != faults.StoreNode
}

// possible are the moves that there are, what a healthy network does first.
func (s *steering) possible(free, late []link.Message) (all []move) {
	switch {
	case len(free) > 0:
		all = append(all, move{deliver, free[0]})
	case len(late) > 0:
		all = append(all, move{kind: wait})
	}
	for _, m := range late {
		all = append(all, move{release, m})
	}
	if len(free) == 0 || s.left.deviations == 0 {
		return all
	}
	first := free[0]
	all = append(all, move{hold, first})
	if s.left.faults == 0 {
		return all
	}
	all = append(all, move{lose, first}, move{restart, first})
	if s.empty {
		all = append(all, move{restartEmpty, first})
	}
	return all
}

// choose decides between moves. Where there is but one, nothing is chosen, but the state
// may be known all the same.
func (s *steering) choose(options []move) move {
	if s.began.IsZero() {
		s.began = time.Now()
	}
	n, chosen := len(s.taken), byte(0)
	if n >= len(s.prefix) && s.seen(point{state: s.state(), left: s.left}) {
		s.cut = true
		return move{}
	}
	if len(options) == 1 {
		return options[0]
	}
	if n < len(s.prefix) {
		chosen = s.prefix[n]
	}
	if int(chosen) >= len(options) && !s.lenient {
		s.err = fmt.Errorf("a schedule was not repeated: at its point %d there were %d moves, and now there are %d", n, chosen+1, len(options))
		return move{}
	}
	if int(chosen) >= len(options) {
		chosen = 0
	}
	s.options, s.taken = append(s.options, len(options)), append(s.taken, chosen)
	return options[chosen]
}

// make makes a move.
func (s *steering) make(done context.Context, m move) {
	s.left = s.left.after(m.kind)
	if m.kind != wait {
		s.moves = append(s.moves, m.String())
		s.script.note(m)
	}
	switch m.kind {
	case deliver:
		s.deliver(m.msg)
	case wait:
		s.await(done)
	case hold:
		s.held[m.msg.Flow] = true
	case release:
		delete(s.held, m.msg.Flow)
		s.deliver(m.msg)
	case lose:
		s.manual.Break(m.msg)
	case restart, restartEmpty:
		how := testbed.WithData
		if m.kind == restartEmpty {
			how = testbed.Empty
		}
		_, node, _ := strings.Cut(m.msg.Link, ".")
		i := slices.IndexFunc(s.bed.Nodes(), func(n testbed.Node) bool { return n.Name() == node })
		k := s.bed.Nodes()[i].(testbed.Killer)
		if _, s.err = k.Kill(done); s.err == nil {
			_, s.err = k.Restart(done, how)
		}
	}
}

// deliver lets a message arrive.
func (s *steering) deliver(m link.Message) {
	s.script.observe(m)
	client, node, _ := strings.Cut(m.Link, ".")
	if m.Toward == link.Down && !s.began.IsZero() {
		b := s.told[client]
		if b == nil {
			b = &strings.Builder{}
			s.told[client] = b
		}
		fmt.Fprintf(b, "%s.%d@%d %s\n", node, m.Conn, time.Since(s.began)/coarse, m.Data)
	}
	s.manual.Deliver(m)
}

// String is a move for people.
func (m move) String() string {
	client, node, _ := strings.Cut(m.msg.Link, ".")
	who, what := client+" → "+node, text(m.msg)
	if m.msg.Toward == link.Down {
		who = node + " → " + client
	}
	if m.msg.Conn > 0 {
		who += fmt.Sprintf(" (connection %d)", m.msg.Conn+1)
	}
	if m.kind == restart || m.kind == restartEmpty {
		who, what = node, ""
	}
	return strings.TrimSpace(fmt.Sprintf("%-24s %s %s", m.kind, who, what))
}

// text is a message on one short line.
func text(m link.Message) string {
	const longest = 60
	words := strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, string(m.Data)))
	line := strings.Join(words, " ")
	if len(line) > longest {
		line = line[:longest] + "…"
	}
	return line
}

// state is the same for two moments from which the same can follow: what the masters
// store, what is on the way and held back, and what each client has been told so far, and
// when. Names that were drawn count by where they come up first, and long numbers, such as
// times and tokens that follow clocks, by their order.
func (s *steering) state() uint64 {
	var b strings.Builder
	fmt.Fprintln(&b, time.Since(s.began)/coarse)
	b.WriteString(s.bed.Dump(coarse))
	for _, m := range s.inOrder() {
		fmt.Fprintf(&b, "%v %v %s\n", m.Flow, s.held[m.Flow], m.Data)
	}
	for _, client := range slices.Sorted(maps.Keys(s.told)) {
		b.WriteString(client)
		b.WriteString(s.told[client].String())
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(canonical(b.String())))
	return h.Sum64()
}

// A warmth tells when every client has once taken the lock and given it back: by then its
// connections are open, and its scripts are known.
type warmth struct {
	mu      sync.Mutex
	clients int
	done    map[string]bool
}

// Event implements history.Sink.
func (w *warmth) Event(e *history.Event) {
	if e.Process < 0 || e.Kind == history.Invoke || e.Op != history.Release {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil {
		w.done = map[string]bool{}
	}
	w.done[e.Owner] = true
}

func (w *warmth) is() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.done) >= w.clients
}
