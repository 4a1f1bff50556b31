package gallery

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
)

// scripts are all scripts of the gallery: the servers know them beforehand, so
// that no transcript has them in full.
var scripts = []*redis.Script{
	deleteScript, expireScript, setNXExpireScript, hashTake, hashLeave, hashRenew, twoKeysRead, twoKeysWrite, stampTake, stampLeave,
}

// monitors hear every command that reaches some servers.
type monitors struct {
	nodes   []lockimpl.Node
	clients []*redis.Client
	heard   []*bufio.Scanner
	text    strings.Builder
}

func listen(t *testing.T, n int) *monitors {
	t.Helper()
	m := &monitors{}
	for i := range n {
		rdb := redistest.Start(t)
		for _, s := range scripts {
			if err := s.Load(t.Context(), rdb).Err(); err != nil {
				t.Fatal(err)
			}
		}
		addr := rdb.Options().Addr
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
			t.Fatal(err)
		}
		heard := bufio.NewScanner(conn)
		if !heard.Scan() || heard.Text() != "+OK" {
			t.Fatalf("MONITOR: %q, %v", heard.Text(), heard.Err())
		}
		m.nodes = append(m.nodes, lockimpl.Node{Name: fmt.Sprintf("n%d", i+1), Addr: addr})
		m.clients, m.heard = append(m.clients, rdb), append(m.heard, heard)
	}
	return m
}

// replicate gives every server a replica, and returns when these have caught up.
func (m *monitors) replicate(t *testing.T) {
	t.Helper()
	for _, rdb := range m.clients {
		if err := rdb.ConfigSet(t.Context(), "repl-diskless-sync-delay", "0").Err(); err != nil {
			t.Fatal(err)
		}
		host, port, err := net.SplitHostPort(rdb.Options().Addr)
		if err != nil {
			t.Fatal(err)
		}
		redistest.Start(t, "--replicaof", host, port)
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			said, err := rdb.Info(t.Context(), "replication").Result()
			if err == nil && strings.Contains(said, "state=online") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("no replica: %s, %v", said, err)
			}
		}
	}
	_ = m.step(t, "", nil)
}

// step writes down what was sent since the last step, which ended with err;
// without a name it forgets it.
func (m *monitors) step(t *testing.T, name string, err error) error {
	t.Helper()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sent := make([][]string, len(m.clients)) // by server
	for i, rdb := range m.clients {
		if err := rdb.Do(t.Context(), "ECHO", "end of step").Err(); err != nil {
			t.Fatal(err)
		}
		for m.heard[i].Scan() && !strings.Contains(m.heard[i].Text(), "end of step") {
			if said := told(m.heard[i].Text()); said != "" {
				sent[i] = append(sent[i], said)
			}
		}
	}
	if name == "" {
		return nil
	}
	busy := slices.DeleteFunc(sent, func(lines []string) bool { return lines == nil })
	if len(m.clients) > 1 {
		name += fmt.Sprintf(", on each of %d masters out of %d", len(busy), len(m.clients))
	}
	fmt.Fprintln(&m.text, name)
	if len(busy) == 0 {
		fmt.Fprintln(&m.text, "  nothing is sent")
	}
	for i, lines := range busy {
		if i > 0 && slices.Equal(lines, busy[0]) {
			continue
		}
		fmt.Fprintln(&m.text, "  "+strings.Join(lines, "\n  "))
	}
	return nil
}

var (
	monitored = regexp.MustCompile(`^\+\S+ \[\d+ (\S+)\] (.*)$`)
	scriptSum = regexp.MustCompile(`^"evalsha" "[0-9a-f]{40}"`)
	tokenText = regexp.MustCompile(`[0-9a-f]{40}`)
)

// told is a line of MONITOR without what differs from run to run, or "" for what
// is the connection's own.
func told(line string) string {
	parts := monitored.FindStringSubmatch(line)
	if parts == nil {
		return "not understood: " + line
	}
	who, command := parts[1], parts[2]
	name, _, _ := strings.Cut(command, " ")
	if slices.Contains([]string{`"hello"`, `"ping"`, `"client"`, `"info"`, `"script"`, `"replconf"`, `"psync"`}, strings.ToLower(name)) {
		return ""
	}
	command = strings.ToLower(name) + strings.TrimPrefix(command, name)
	command = scriptSum.ReplaceAllString(command, `"evalsha" <script>`)
	command = tokenText.ReplaceAllString(command, "<token>")
	command = strings.ReplaceAll(command, host(), "<host>")
	if who == "lua" {
		return "in the script: " + command
	}
	return command
}
