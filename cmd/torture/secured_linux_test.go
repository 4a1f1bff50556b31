package main_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/redistest"
)

// Five masters that speak TLS alone, and to one user: a run on them finds
// nothing wrong, its link faults take effect, and the password, which was given in the worst place, on the
// command line, is in no file, on no screen and in no list of processes.
func TestPasswordIsNowhere(t *testing.T) {
	t.Parallel()
	password := redistest.Password(t)
	certs := redistest.NewCertificates(t)
	acl := redistest.ACL(t, "kim", password)
	var urls []string
	for range 5 {
		port := redistest.FreePort(t)
		redistest.Serve(t, "tcp", "127.0.0.1:"+port, append(certs.TLS(port, certs.Server), acl...)...)
		urls = append(urls, "rediss://kim:"+password+"@127.0.0.1:"+port)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	torture := filepath.Join(dir, "torture") // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	out := filepath.Join(dir, "runs")
	cmd := exec.CommandContext(ctx, torture, "run", "calm", "--lock", "redlock", "--redis="+strings.Join(urls, ","), "--out", out,
		"--tls-ca", certs.Authority, "--tls-cert", certs.Client.Cert, "--tls-key", certs.Client.Key, "--tls-server-name", redistest.ServerName,
		"--clients", "4", "--duration", "6s", "--seed", "11", "--faults", "latency:for=500ms,request-lost:for=500ms")
	said := &watched{first: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	<-said.first
	for looks := 0; ; looks++ {
		if pid := showsInProcessList(t, password); pid != "" {
			t.Fatalf("process %s shows the password", pid)
		}
		select {
		case err = <-ended:
			if looks == 0 {
				t.Error("the run ended before anybody looked")
			}
		case <-time.After(200 * time.Millisecond):
			continue
		}
		break
	}
	// A busy machine leaves times unproved; faults must have taken effect there too.
	if code := cmd.ProcessState.ExitCode(); code != checker.Pass.Exit() && code != checker.Inconclusive.Exit() || !strings.Contains(said.String(), "4 begun, 4 took effect, 4 healed") {
		t.Errorf("exit %d (%v):\n%s", code, err, said)
	}
	if strings.Contains(said.String(), password) {
		t.Errorf("it was printed:\n%s", said)
	}
	files := 0
	err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(password)) {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

// showsInProcessList returns a process whose command line has text in it.
func showsInProcessList(t *testing.T, text string) string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Fatalf("no list of processes: %v", err)
	}
	for _, line := range lines {
		if words, _ := os.ReadFile(line); bytes.Contains(words, []byte(text)) {
			return filepath.Base(filepath.Dir(line))
		}
	}
	return ""
}

// A watched is a buffer that says when something is written first.
type watched struct {
	mu    sync.Mutex
	text  bytes.Buffer
	once  sync.Once
	first chan struct{}
}

// Write implements io.Writer.
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.once.Do(func() { close(w.first) })
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
