package server

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

// A ReplyError is an error that the server itself answered with.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// A Session speaks just enough RESP2 to look after a server: one command at a
// time, replies as string, int64, []any, or nil.
type Session struct {
	ctx  context.Context
	conn net.Conn
	in   *bufio.Reader
	stop func() bool // undoes the watch on the context
}

// NewSession returns a session over conn, which ends when ctx ends. Close closes
// conn.
func NewSession(ctx context.Context, conn net.Conn) *Session {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return &Session{ctx: ctx, conn: conn, in: bufio.NewReader(conn), stop: stop}
}

// Close ends the connection.
func (s *Session) Close() {
	s.stop()
	_ = s.conn.Close()
}

// Do sends one command and reads its reply. An error that the end of the context made
// of the connection is the context's.
func (s *Session) Do(args ...string) (any, error) {
	v, err := s.do(args)
	if err == nil || errors.As(err, new(ReplyError)) || s.ctx.Err() == nil {
		return v, err
	}
	return nil, fmt.Errorf("%s: %w", args[0], s.ctx.Err())
}

func (s *Session) do(args []string) (any, error) {
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

// Accepts sees whether the server takes commands, for this user and on these keys, without
// having any carried out. Within a transaction a server looks at each command as it comes,
// and refuses it there and then; what it accepts is discarded. After an error the session is
// of no use.
func (s *Session) Accepts(commands [][]string) error {
	if _, err := s.Do("MULTI"); err != nil {
		return err
	}
	for _, c := range commands {
		reply, err := s.Do(c...)
		if err != nil {
			return err
		}
		if reply != "QUEUED" {
			return fmt.Errorf("%s in a transaction: unexpected reply %v", c[0], reply)
		}
	}
	_, err := s.Do("DISCARD")
	return err
}

func (s *Session) read() (any, error) {
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
		return nil, ReplyError(line[1:])
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

func (s *Session) bulk(n int) (any, error) {
	body := make([]byte, n+2)
	if _, err := io.ReadFull(s.in, body); err != nil {
		return nil, err
	}
	return string(body[:n]), nil
}

func (s *Session) array(n int) (any, error) {
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
