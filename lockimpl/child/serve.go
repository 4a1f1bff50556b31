package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// Serve is the whole of a wrapper in Go: the process in which it runs is a child
// that answers the harness with the lock of factory. It returns when the harness
// has ended the conversation. Nothing else may write to standard output.
//
// The nodes that factory gets have no Dial: it connects to Addr, and logs in with
// what the node says.
func Serve(factory lockimpl.Factory) error {
	return serve(os.Stdin, os.Stdout, os.Getenv(nodesVariable), factory)
}

// A server is the child's end of a conversation.
type server struct {
	factory lockimpl.Factory
	nodes   []lockimpl.Node
	io      time.Duration
	locker  lockimpl.Locker
	running sync.WaitGroup
	staying context.Context // ends when the child leaves, and with it whoever waits for a lock

	mu   sync.Mutex
	out  io.Writer
	held map[string]*holding
}

// A holding is a lease and the goroutine that writes while it is held.
type holding struct {
	lease lockimpl.Lease
	stop  context.CancelFunc
	ended chan struct{} // closed when nothing is written any more
}

// An order is one line of the harness.
type order struct {
	T     string `json:"t"`
	ID    uint64 `json:"id"`
	H     string `json:"h"`
	Key   string `json:"key"`
	Mode  string `json:"mode"`
	Owner string `json:"owner"`
	TTL   int64  `json:"ttl_ms"`
	Wait  int64  `json:"wait_ms"`
	Every int64  `json:"every_ms"`
	IO    int64  `json:"io_ms"`

	Sentinel string `json:"sentinel"`
}

func serve(in io.Reader, out io.Writer, nodes string, factory lockimpl.Factory) (err error) {
	s := &server{factory: factory, out: out, held: map[string]*holding{}}
	if s.nodes, err = nodesOf(nodes); err != nil {
		return err
	}
	staying, leave := context.WithCancel(context.Background())
	s.staying = staying
	defer func() {
		leave()
		s.running.Wait()
		s.stopAll()
		if s.locker != nil {
			err = errors.Join(err, s.locker.Close())
		}
	}()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("a line that is no message: %w", err)
		}
		switch o.T {
		case "init":
			s.answer(o, micros(), s.init(o))
		case "quit":
			s.answer(o, micros(), request{"t": "bye"})
			return nil
		default:
			s.running.Go(func() { s.obey(o) })
		}
	}
	return lines.Err()
}

// nodesOf reads the nodes that the harness gives a child.
func nodesOf(text string) (all []lockimpl.Node, err error) {
	for i, one := range strings.Split(text, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("node %d of %s cannot be read: is this process run by torture?", i+1, nodesVariable)
		}
		n := lockimpl.Node{Name: "n" + strconv.Itoa(i+1), Addr: u.Host, Username: u.User.Username()}
		n.Password, _ = u.User.Password()
		if n.DB, err = strconv.Atoi(strings.Trim(u.Path, "/")); err != nil {
			return nil, fmt.Errorf("node %d of %s names no database", i+1, nodesVariable)
		}
		all = append(all, n)
	}
	return all, nil
}

func (s *server) init(o order) request {
	s.io = time.Duration(o.IO) * time.Millisecond
	var err error
	if o.Sentinel != "" {
		s.nodes = watchedBy(s.nodes, o.Sentinel)
	}
	if s.locker, err = s.factory(s.nodes); err != nil {
		return request{"t": "error", "definite": true, "text": err.Error()}
	}
	caps := []string{"ttl", "extend", "until", "fence", "parallel"}
	if _, can := s.locker.(lockimpl.SharedLocker); can {
		caps = append(caps, "rw")
	}
	if _, can := s.locker.(lockimpl.ReentrantLocker); can {
		caps = append(caps, "reentrant")
	}
	answer := request{"t": "init_ok", "lib": "Go", "caps": strings.Join(caps, ","), "clock": "monotonic"}
	if lister, can := s.locker.(lockimpl.KeyLister); can {
		if said, right := saidKeys(lister); right {
			answer["keys"] = said
		}
	}
	return answer
}

// saidKeys is what init_ok says of a lock's keys. It is not right for names that are made of the
// resource's in another way than with it as it is, by a hash for one, or have a comma in them.
func saidKeys(lister lockimpl.KeyLister) (said string, right bool) {
	const other = "k1"
	said = strings.Join(lister.LeaseKeys(keyMark), ",")
	names, err := leaseKeys(said)
	return said, err == nil && slices.Equal(names(other), lister.LeaseKeys(other))
}

// watchedBy is the name under which the Sentinels at nodes know their master.
func watchedBy(nodes []lockimpl.Node, name string) []lockimpl.Node {
	n := nodes[0]
	n.Name, n.Addr, n.Sentinel = name, "", &lockimpl.Sentinel{Master: name, Addrs: strings.Split(addresses(nodes), ",")}
	return []lockimpl.Node{n}
}

// obey carries out o, and answers.
func (s *server) obey(o order) {
	s.mu.Lock()
	h := s.held[o.H]
	s.mu.Unlock()
	began := micros()
	switch {
	case o.T == "acquire":
		lease, err := s.acquire(o)
		if err != nil {
			s.answer(o, began, refusal("acquire_no", err, lockimpl.ErrHeld))
			return
		}
		ctx, stop := context.WithCancel(context.Background())
		h := &holding{lease: lease, stop: stop, ended: make(chan struct{})}
		s.mu.Lock()
		s.held[o.H] = h
		s.mu.Unlock()
		s.answer(o, began, promise(request{"t": "acquire_ok", "fence": lease.Fence()}, lease))
		go s.write(ctx, o, h)
	case h == nil:
		s.answer(o, began, request{"t": "error", "definite": true, "text": o.T + " of what is not held"})
	case o.T == "release":
		h.stop()
		<-h.ended
		s.mu.Lock()
		delete(s.held, o.H)
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), s.io)
		defer cancel()
		began = micros()
		err := h.lease.Release(ctx)
		if err == nil {
			s.answer(o, began, request{"t": "release_ok"})
			return
		}
		s.answer(o, began, refusal("release_no", err, lockimpl.ErrLost))
	case o.T == "extend":
		ctx, cancel := context.WithTimeout(context.Background(), s.io)
		defer cancel()
		if err := h.lease.Extend(ctx, time.Duration(o.TTL)*time.Millisecond); err != nil {
			if errors.Is(err, lockimpl.ErrLost) { // its user knows now that it has lost it
				h.stop()
				<-h.ended
			}
			s.answer(o, began, refusal("extend_no", err, lockimpl.ErrLost))
			return
		}
		s.answer(o, began, promise(request{"t": "extend_ok"}, h.lease))
	default:
		s.answer(o, began, request{"t": "error", "definite": true, "text": "unknown: " + o.T})
	}
}

// retryPause is how long one who waits for a lock that cannot wait pauses between
// two tries.
const retryPause = 50 * time.Millisecond

func (s *server) acquire(o order) (lockimpl.Lease, error) {
	ctx := s.staying
	if o.Wait >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.io+time.Duration(o.Wait)*time.Millisecond)
		defer cancel()
	}
	ttl := time.Duration(o.TTL) * time.Millisecond
	w, waits := s.locker.(lockimpl.WaitLocker)
	switch {
	case o.Mode == "r":
		return s.locker.(lockimpl.SharedLocker).AcquireShared(ctx, o.Key, ttl)
	case o.Owner != "":
		return s.locker.(lockimpl.ReentrantLocker).AcquireAs(ctx, o.Owner, o.Key, ttl)
	case o.Wait == 0:
		return s.locker.Acquire(ctx, o.Key, ttl)
	case waits:
		return w.AcquireWait(ctx, o.Key, ttl)
	}
	for began := time.Now(); ; {
		lease, err := s.locker.Acquire(ctx, o.Key, ttl)
		if !errors.Is(err, lockimpl.ErrHeld) || o.Wait > 0 && time.Since(began) > time.Duration(o.Wait)*time.Millisecond {
			return lease, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(retryPause):
		}
	}
}

// write writes until the holding ends: by its release, or because the lock reports its loss.
func (s *server) write(ctx context.Context, o order, h *holding) {
	defer close(h.ended)
	if o.Every <= 0 {
		return
	}
	tick := time.NewTicker(time.Duration(o.Every) * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if until := h.lease.ValidUntil(); !until.IsZero() && !time.Now().Before(until) {
			return
		}
		s.send(request{"t": "write", "h": o.H, "n": n, "us": micros(), "fence": h.lease.Fence()})
	}
}

func (s *server) stopAll() {
	for _, h := range s.held {
		h.stop()
		<-h.ended
	}
}

// promise adds until when the lease holds according to the lock.
func promise(r request, l lockimpl.Lease) request {
	if until := l.ValidUntil(); !until.IsZero() {
		r["until_us"] = micros() + time.Until(until).Microseconds()
	}
	return r
}

// refusal is the message for err: "no" for a definite refusal, else an error.
func refusal(no string, err, definite error) request {
	if errors.Is(err, definite) {
		return request{"t": no, "why": err.Error()}
	}
	sure := errors.Is(err, lockimpl.ErrNoQuorum) || errors.Is(err, errors.ErrUnsupported)
	return request{"t": "error", "definite": sure, "text": err.Error()}
}

func (s *server) answer(o order, began int64, r request) {
	r["re"], r["h"], r["us0"], r["us1"] = o.ID, o.H, began, micros()
	s.send(r)
}

func (s *server) send(r request) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // numbers and texts alone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(line, '\n')) // a harness that is gone has closed standard input too
}
