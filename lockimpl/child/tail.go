package child

import (
	"io"
	"strings"
	"sync"
)

// tailSize is how much of a child's log is kept for an error.
const tailSize = 2 << 10

// A tail passes a child's log on and keeps its end.
type tail struct {
	next io.Writer // nil drops
	hide *strings.Replacer

	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-tailSize):]
	t.mu.Unlock()
	if t.next == nil {
		return len(p), nil
	}
	return t.next.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.hide.Replace(string(t.kept)))
}
