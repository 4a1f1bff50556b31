package simulate

import (
	"strings"
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
)

// onServers are the faults that come closest, on real servers, to a move that deviates:
// of a message to a node, and of its reply.
var onServers = map[moveKind]map[link.Direction]string{
	hold:         {link.Up: "stuck-connection", link.Down: "slow-reply"},
	lose:         {link.Up: "reset", link.Down: "fast-lost-reply"},
	restart:      {link.Up: "kill", link.Down: "kill"},
	restartEmpty: {link.Up: "kill-empty", link.Down: "kill-empty"},
}

// lead is how much earlier than here a fault on real servers begins to wait for its moment:
// less than there is between two operations of a client, and more than clients and servers
// are late there.
const lead = 50 * time.Millisecond

// A script is a schedule as faults on real servers, each locked to the command that it hit
// here.
type script struct {
	began time.Time            // the load
	asked map[link.Flow]string // the last command, by the direction of its reply
	steps []faults.Spec
	held  map[link.Flow]int // step that holds back what is on the way
}

func newScript() *script {
	return &script{began: time.Now(), asked: map[link.Flow]string{}, held: map[link.Flow]int{}}
}

// observe notes a message that a node is about to get.
func (s *script) observe(m link.Message) {
	if m.Toward == link.Up && m.Data != nil {
		s.asked[reply(m.Flow)] = commandIn(m.Data)
	}
}

func reply(f link.Flow) link.Flow {
	f.Toward = link.Down
	return f
}

// commandIn is the first word of a request.
func commandIn(data []byte) string {
	if lines := strings.Split(string(data), "\r\n"); len(lines) > 2 {
		return strings.ToUpper(lines[2])
	}
	return ""
}

// note takes in a move.
func (s *script) note(m move) {
	now := time.Since(s.began)
	if m.kind == release {
		s.release(m.msg.Flow)
	}
	fault := onServers[m.kind][m.msg.Toward]
	if fault == "" {
		return
	}
	s.observe(m.msg)
	_, node, _ := strings.Cut(m.msg.Link, ".")
	x := faults.Spec{Fault: fault, At: now, On: faults.Command(s.asked[reply(m.msg.Flow)], node), Params: faults.Params{Node: node}}
	if m.kind == hold || m.kind == lose {
		x.Client = faults.RoleAny // the one that sent the command
	}
	if m.kind == hold {
		s.held[m.msg.Flow] = len(s.steps)
	}
	s.steps = append(s.steps, x)
}

// release ends what holds messages of a flow back, at the end of the load at the latest.
func (s *script) release(f link.Flow) {
	if i, ok := s.held[f]; ok {
		s.steps[i].For = (min(time.Since(s.began), smallMain) - s.steps[i].At).Truncate(time.Millisecond)
		delete(s.held, f)
	}
}

// all are the steps, each early enough for its moment.
func (s *script) all() []faults.Spec {
	for i := range s.steps {
		s.steps[i].At = max(time.Millisecond, (s.steps[i].At - lead).Round(time.Millisecond))
	}
	return s.steps
}
