package memredis

import (
	"time"
)

// Before has f look at every command that a client sends, its name first, before it is executed.
// What f returns, if it returns anything, is the error that the client is told in its place. f must
// not call the server.
func (s *Server) Before(f func(args []string) (failure string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// Promote lets the server go on with another history, as a replica that has become a master
// does. Its sessions go on.
func (s *Server) Promote(history string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history, s.readOnly = history, false
}

// Elapse takes d from the time that is left to every key, and leaves the time of day.
func (s *Server) Elapse(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.keys {
		if e.expires == 0 {
			continue
		}
		if e.expires -= d.Milliseconds(); e.expires <= s.ms() {
			delete(s.keys, key)
		}
	}
}

// Delete removes keys.
func (s *Server) Delete(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.keys, key)
	}
}
