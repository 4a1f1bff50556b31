package gallery

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// transcriptTTL leaves a second until the first renewal of a watchdog.
const transcriptTTL = 3 * time.Second

// TestTranscripts holds what every recipe sends, as MONITOR tells it, against the
// order in which its text publishes the steps. Tokens and the hashes of scripts
// are written as such; clocks stand still, so that stamps are always the same.
func TestTranscripts(t *testing.T) {
	for _, r := range Recipes() {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join("testdata", "transcripts", r.ID+".txt")
			got := transcript(t, r)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("sent:\n%s\npublished (%s):\n%s", got, golden, want)
			}
		})
	}
}

// TestNoTranscriptIsLeft finds transcripts of recipes that there are not.
func TestNoTranscriptIsLeft(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".txt")
		if !slices.ContainsFunc(Recipes(), func(r Recipe) bool { return r.ID == id }) {
			t.Errorf("%s: no such recipe", f)
		}
	}
}

// transcript plays one operation of each kind that the recipe has.
func transcript(t *testing.T, r Recipe) string {
	m := listen(t, r.Nodes)
	build := func(now time.Duration) lockimpl.Locker {
		f := r.Factory
		if r.WithClock != nil {
			f = r.WithClock(at(now))
		}
		return open(t, f, m.nodes)
	}
	a, b := build(0), build(0)
	var lease lockimpl.Lease
	acquire := func(l lockimpl.Locker) error {
		got, err := l.Acquire(t.Context(), "k", transcriptTTL)
		if err == nil {
			lease = got
		}
		return err
	}
	m.step(t, "acquire", acquire(a))
	_ = acquire(b)
	m.step(t, "refused", nil)
	m.renewal(t, r, lease)
	m.step(t, "release", lease.Release(t.Context()))
	if shared, can := a.(lockimpl.SharedLocker); can {
		reading, err := shared.AcquireShared(t.Context(), "k", transcriptTTL)
		m.step(t, "acquire shared", err)
		m.step(t, "release shared", reading.Release(t.Context()))
	}
	if r.WithClock != nil && r.ID != "token-host-time" {
		_ = acquire(a)
		late := build(time.Hour)
		m.step(t, "", nil)
		m.step(t, "acquire after the stamp has passed", acquire(late))
	}
	if w, can := a.(lockimpl.WaitLocker); can && !r.Subscribes {
		_ = acquire(b)
		m.step(t, "", nil)
		_, _ = w.AcquireWait(t.Context(), "k", transcriptTTL)
		m.step(t, "wait until given up", nil)
	}
	return m.text.String()
}

// renewal waits for one round of renewal, of every master that renews by itself.
func (m *monitors) renewal(t *testing.T, r Recipe, lease lockimpl.Lease) {
	switch l := lease.(type) {
	case lockimpl.Renewer:
		seen := rounds(t, lease)
		for range m.nodes {
			<-seen
		}
		l.Renew(nil)
	default:
		if !r.Extends {
			return
		}
		if err := lease.Extend(t.Context(), transcriptTTL); err != nil {
			t.Fatalf("extend: %v", err)
		}
	}
	m.step(t, "renewal", nil)
}

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

// step writes down what was sent since the last step; without a name it forgets it.
func (m *monitors) step(t *testing.T, name string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
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
		return
	}
	busy := slices.DeleteFunc(sent, func(lines []string) bool { return lines == nil })
	if len(m.clients) > 1 {
		name += fmt.Sprintf(", on each of %d masters out of %d", len(busy), len(m.clients))
	}
	fmt.Fprintln(&m.text, name)
	for i, lines := range busy {
		if i > 0 && slices.Equal(lines, busy[0]) {
			continue
		}
		fmt.Fprintln(&m.text, "  "+strings.Join(lines, "\n  "))
	}
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
	if slices.Contains([]string{`"hello"`, `"ping"`, `"client"`, `"info"`, `"script"`}, strings.ToLower(name)) {
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
