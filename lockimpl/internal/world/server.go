package world

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"locktorture/faults/testbed/memredis"
)

// A server is one Redis in memory, and what is wrong with it.
type server struct {
	redis    *memredis.Server
	stopped  atomic.Pointer[time.Time] // what its clock shows; nil while it goes
	failure  atomic.Pointer[string]    // answered to every command; nil or empty while it works
	refused  atomic.Pointer[string]    // the command that its users may not call; nil: none
	demoted  atomic.Bool
	commands atomic.Int64
}

func newServer() *server {
	s := &server{}
	s.redis = memredis.New(s.now, random(), random())
	s.redis.Before(s.refusal)
	return s
}

func (s *server) now() time.Time {
	if at := s.stopped.Load(); at != nil {
		return *at
	}
	return time.Now()
}

// refusal is what the server says in place of executing a command, if anything. A replica
// runs no script that writes.
func (s *server) refusal(args []string) string {
	s.commands.Add(1)
	if told := s.failure.Load(); told != nil && *told != "" {
		return *told
	}
	if command := s.refused.Load(); command != nil && strings.EqualFold(args[0], *command) {
		return "NOPERM this user has no permissions to run the '" + *command + "' command"
	}
	if s.demoted.Load() && strings.HasPrefix(strings.ToUpper(args[0]), "EVAL") {
		return "READONLY You can't write against a read only replica."
	}
	return ""
}

// restart lets the server go on as another process, with its data.
func (s *server) restart() {
	s.demoted.Store(false)
	s.redis.Restart(random(), random(), false)
}

// promote lets the server go on as after a promotion: the same process, another history.
func (s *server) promote() {
	s.demoted.Store(false)
	s.redis.Promote(random())
}

// serve takes over the server's end of a connection.
func (s *server) serve(c net.Conn) {
	session := s.redis.Accept(func(reply []byte) { _, _ = c.Write(reply) }, func() { _ = c.Close() })
	go func() {
		defer session.Gone()
		buf := make([]byte, 16<<10)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			session.Request(buf[:n])
		}
	}()
}

// do is what a command is answered.
func (s *server) do(args ...string) (reply string) {
	session := s.redis.Accept(func(b []byte) { reply += string(b) }, func() {})
	defer session.Gone()
	request := fmt.Sprintf("*%d\r\n", len(args))
	for _, a := range args {
		request += fmt.Sprintf("$%d\r\n%s\r\n", len(a), a)
	}
	session.Request([]byte(request))
	return reply
}

func random() string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
