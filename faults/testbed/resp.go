package testbed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A replyError is an error that the server itself answered with.
type replyError string

func (e replyError) Error() string { return string(e) }

// A session speaks just enough RESP2 to look after a server: one command at a
// time, replies as string, int64, []any, or nil.
type session struct {
	conn net.Conn
	in   *bufio.Reader
	stop func() bool // undoes the watch on the context
}

// open connects to n directly. Until close, the session ends when ctx ends.
func open(ctx context.Context, n Node) (*session, error) {
	conn, err := n.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return newSession(ctx, conn), nil
}

func newSession(ctx context.Context, conn net.Conn) *session {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return &session{conn: conn, in: bufio.NewReader(conn), stop: stop}
}

func (s *session) close() {
	s.stop()
	_ = s.conn.Close()
}

// do sends one command and reads its reply.
func (s *session) do(args ...string) (any, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(s.conn, b.String()); err != nil {
		return nil, fmt.Errorf("send %s: %w", args[0], err)
	}
	v, err := s.read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return v, nil
}

func (s *session) read() (any, error) {
	line, err := s.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("empty reply line")
	}
	switch line[0] {
	case '+':
		return line[1:], nil
	case '-':
		return nil, replyError(line[1:])
	}
	n, err := strconv.ParseInt(line[1:], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("parse reply %q: %w", line, err)
	}
	switch {
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		return s.bulk(int(n))
	case line[0] == '*':
		return s.array(int(n))
	}
	return nil, fmt.Errorf("parse reply %q: unknown type", line)
}

func (s *session) bulk(n int) (any, error) {
	body := make([]byte, n+2)
	if _, err := io.ReadFull(s.in, body); err != nil {
		return nil, err
	}
	return string(body[:n]), nil
}

func (s *session) array(n int) (any, error) {
	all := make([]any, n)
	for i := range all {
		v, err := s.read()
		if err != nil {
			return nil, err
		}
		all[i] = v
	}
	return all, nil
}

// Do sends one command to n past every link, on a connection of its own, and
// returns the reply as string, int64, []any, or nil.
func Do(ctx context.Context, n Node, args ...string) (any, error) {
	s, err := open(ctx, n)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.do(args...)
}

// info returns the fields of INFO.
func info(ctx context.Context, n Node) (map[string]string, error) { return infoOf(ctx, n, "INFO") }

// infoAll returns the fields of INFO with what it says of every command and
// error.
func infoAll(ctx context.Context, n Node) (map[string]string, error) {
	return infoOf(ctx, n, "INFO", "all")
}

func infoOf(ctx context.Context, n Node, command ...string) (map[string]string, error) {
	v, err := Do(ctx, n, command...)
	if err != nil {
		return nil, err
	}
	text, _ := v.(string)
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[k] = v
		}
	}
	return fields, nil
}

// serverVersion reads "redis 7.0.15" or "valkey 8.1.0" out of INFO.
func serverVersion(fields map[string]string) string {
	if v := fields["valkey_version"]; v != "" {
		return "valkey " + v
	}
	return "redis " + fields["redis_version"]
}
