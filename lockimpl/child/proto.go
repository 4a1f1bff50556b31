package child

import (
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A request is one line to the child; "t" and "id" are added when it is sent.
type request map[string]any

// A message is one line of the child. Pointers tell an absent number from zero.
type message struct {
	T        string `json:"t"`
	Re       uint64 `json:"re"`
	Handle   string `json:"h"`
	US0      *int64 `json:"us0"`
	US1      *int64 `json:"us1"`
	US       *int64 `json:"us"`
	Until    *int64 `json:"until_us"`
	Fence    uint64 `json:"fence"`
	N        uint64 `json:"n"`
	Held     bool   `json:"held"`
	Definite bool   `json:"definite"`
	Why      string `json:"why"`
	Text     string `json:"text"`
	Caps     string `json:"caps"`
	Clock    string `json:"clock"`

	recv  int64 // when the harness had read it
	began time.Time
	ended time.Time
}

func parse(line []byte) (*message, error) {
	m := &message{recv: micros()}
	return m, json.Unmarshal(line, m)
}

// abilities is the set of words in an init_ok's caps.
func abilities(caps string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.FieldsFunc(caps, func(r rune) bool { return r == ',' || r == ' ' }) {
		set[word] = true
	}
	return set
}

// micros is CLOCK_MONOTONIC in microseconds: one origin for all processes of a
// machine.
func micros() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("read the monotonic clock: " + err.Error()) // it cannot fail on a kernel that runs Go
	}
	return ts.Nano() / 1000
}

// instant turns CLOCK_MONOTONIC microseconds into a time of this process.
func instant(us int64) time.Time {
	return time.Now().Add(time.Duration(us-micros()) * time.Microsecond)
}

// place sets when the operation began and ended: by the child's stamps where sent ≤ us0 ≤ us1 ≤
// recv, and otherwise the wider [sent, recv]. It reports whether the child's stamps counted.
func (m *message) place(sent int64, trusted bool) bool {
	us0, us1, ok := sent, m.recv, false
	if trusted && m.US0 != nil && m.US1 != nil {
		ok = sent <= *m.US0 && *m.US0 <= *m.US1 && *m.US1 <= m.recv
	}
	if ok {
		us0, us1 = *m.US0, *m.US1
	}
	m.began, m.ended = instant(us0), instant(us1)
	return ok
}
