package testbed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locktorture/faults/testbed/server"
)

// open connects to n directly. Until close, the session ends when ctx ends.
func open(ctx context.Context, n Node) (*server.Session, error) {
	conn, err := n.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return server.NewSession(ctx, conn), nil
}

// Do sends one command to n past every link, on a connection of its own, and
// returns the reply as string, int64, []any, or nil.
func Do(ctx context.Context, n Node, args ...string) (any, error) {
	s, err := open(ctx, n)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Do(args...)
}

// Refuses reports whether an error of Do is an answer of the server; else the server was not
// reached, or did not answer.
func Refuses(err error) bool {
	var reply server.ReplyError
	return errors.As(err, &reply)
}

// info returns the fields of INFO.
func info(ctx context.Context, n Node) (map[string]string, error) { return infoOf(ctx, n, "INFO") }

// infoAll returns the fields of INFO, including those about single commands and errors.
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

func administer(ctx context.Context, n Node, args []string) (any, error) {
	reply, err := Do(ctx, n, args...)
	if err != nil {
		return nil, fmt.Errorf("administer %s: %w", n.Name(), err)
	}
	return reply, nil
}
