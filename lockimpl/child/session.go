package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxLine bounds one line of a child, maxFindings what is told of one in words.
const (
	maxLine     = 1 << 20
	maxFindings = 20
)

// A session is the conversation with one child. Its reader ends with the
// child's output.
type session struct {
	*process
	grace   time.Duration
	hide    *strings.Replacer // in what the child says
	caps    map[string]bool
	trusted bool          // the child's clock is ours
	turn    chan struct{} // holds a token while a child that is not parallel is busy
	drained chan struct{} // closed when the child's output has ended
	wg      sync.WaitGroup

	mu       sync.Mutex
	next     uint64
	open     map[uint64]*exchange
	leases   map[string]*lease
	observer WriteObserver
	findings []string
	more     int    // findings beyond maxFindings
	broken   string // how its output broke off, which nothing can be read of any more
}

// An exchange is a request and its answer.
type exchange struct {
	id       uint64
	what     string
	budget   time.Duration // negative: no bound
	sent     int64
	sentAt   time.Time
	frozen   time.Duration // for how long the child had been stopped when it was sent
	lease    *lease        // of an acquire, registered by its grant
	serial   bool          // it holds the turn
	reply    chan *message
	reported bool // a finding about it has been made
	deserted bool // nobody waits for the answer
}

// String names the request.
func (x *exchange) String() string { return fmt.Sprintf("request %d (%s)", x.id, x.what) }

func newSession(p *process, grace time.Duration, hide *strings.Replacer) *session {
	s := &session{
		process: p, grace: grace, hide: hide, turn: make(chan struct{}, 1), drained: make(chan struct{}),
		open: make(map[uint64]*exchange), leases: make(map[string]*lease),
	}
	s.wg.Go(s.read)
	return s
}

// A call is a request to a child, and how its answer is awaited.
type call struct {
	what   string
	fields request
	budget time.Duration
	lease  *lease
	urgent bool // it does not wait for its turn
	prompt bool // once the context has ended, nobody waits for an answer any more
}

// ask sends one request and waits for the answer: until the budget and the
// grace are used up, or a grace beyond the end of ctx, which a prompt call does not wait.
func (s *session) ask(ctx context.Context, c call) (*message, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", c.what, context.Cause(ctx))
	}
	serial := !c.urgent && !s.caps["parallel"]
	if serial {
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the child's turn: %w", context.Cause(ctx))
		case <-s.drained:
			return nil, ErrGone
		}
	}
	x, err := s.send(c, serial)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, x, c.prompt)
}

func (s *session) send(c call, serial bool) (*exchange, error) {
	x := &exchange{what: c.what, budget: c.budget, lease: c.lease, serial: serial, reply: make(chan *message, 1)}
	line := request{"t": c.what}
	maps.Copy(line, c.fields)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	x.id, line["id"] = s.next, s.next
	s.open[x.id] = x
	if err := s.write(x, line); err != nil {
		s.remove(x)
		if errors.Is(err, syscall.EPIPE) {
			err = ErrGone
		}
		return nil, fmt.Errorf("write %s: %w", c.what, err)
	}
	return x, nil
}

// write stamps x and writes its line. The caller holds mu.
func (s *session) write(x *exchange, line request) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	x.frozen, _ = s.standstill()
	x.sent, x.sentAt = micros(), time.Now()
	if err := s.stdin.SetWriteDeadline(time.Now().Add(s.grace)); err != nil {
		return err
	}
	_, err = s.stdin.Write(append(data, '\n'))
	return err
}

// remove removes x from the open exchanges, and ends the child's turn if x had it. The caller
// holds mu.
func (s *session) remove(x *exchange) {
	delete(s.open, x.id)
	if x.serial {
		<-s.turn
	}
}

func (s *session) await(ctx context.Context, x *exchange, prompt bool) (*message, error) {
	done, timer := ctx.Done(), time.NewTimer(min(s.left(x), s.grace))
	defer timer.Stop()
	for {
		select {
		case m := <-x.reply:
			return m, nil
		case <-s.drained:
			select {
			case m := <-x.reply:
				return m, nil
			default:
				return nil, ErrGone
			}
		case <-done:
			if prompt {
				return nil, s.desert(ctx, x, false)
			}
			s.cancel(x)
			done = nil
			timer.Reset(s.grace)
		case <-timer.C:
			left := s.left(x)
			if ctx.Err() != nil || left <= 0 {
				return nil, s.desert(ctx, x, left <= 0)
			}
			timer.Reset(min(left, s.grace))
		}
	}
}

// desert gives up on an answer. Should the answer come after all, the reader undoes what it
// granted.
func (s *session) desert(ctx context.Context, x *exchange, late bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.deserted = true
	if late {
		s.reportLate(x, "has not been answered within its budget")
		return fmt.Errorf("%s: %w", x.what, ErrSilent)
	}
	return fmt.Errorf("%s: %w", x.what, context.Cause(ctx))
}

// cancel asks a child that can to give up an acquire in flight.
func (s *session) cancel(x *exchange) {
	if x.lease == nil || !s.caps["cancel"] {
		return
	}
	_, err := s.send(call{what: "cancel", fields: request{"target": x.id}, budget: -1}, false)
	if err != nil {
		s.find("cancel of %s: %v", x, err)
	}
}

// left is what an answer may still take: the budget and the grace, less the
// time that has passed while the child ran. A stopped child has all the time.
func (s *session) left(x *exchange) time.Duration {
	frozen, stopped := s.standstill()
	if x.budget < 0 || stopped {
		return time.Hour
	}
	return x.budget + s.grace + frozen - x.frozen - time.Since(x.sentAt)
}

func (s *session) find(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(fmt.Sprintf(format, args...))
}

// note keeps a finding. The caller holds mu.
func (s *session) note(finding string) {
	if len(s.findings) == maxFindings {
		s.more++
		return
	}
	s.findings = append(s.findings, s.hide.Replace(finding))
}

// reportLate records a finding that the answer to x is late, once per exchange. The caller
// holds mu.
func (s *session) reportLate(x *exchange, how string) {
	if !x.reported {
		x.reported = true
		s.note(fmt.Sprintf("%s %s of %v and %v of grace", x, how, x.budget, s.grace))
	}
}

// read handles the child's lines until its output ends.
func (s *session) read() {
	defer close(s.drained)
	lines := bufio.NewScanner(s.stdout)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		m, err := parse(lines.Bytes())
		m.Text, m.Why = s.hide.Replace(m.Text), s.hide.Replace(m.Why)
		switch {
		case err != nil:
			s.find("a line that is no message (%s): %.80q", unread(err), s.hide.Replace(lines.Text()))
		case m.T == "write":
			s.wrote(m)
		case m.T == "lost":
			s.lost(m)
		case m.T == "renewed":
			s.renewed(m)
		default:
			s.answered(m)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, os.ErrClosed) {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		s.find("its output broke off: %v", err)
		s.mu.Lock()
		s.broken = err.Error()
		s.mu.Unlock()
	}
}
