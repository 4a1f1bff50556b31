package app

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// Whoever offers the runs to more than this machine is told so.
func TestServeWarnsBeyondLoopback(t *testing.T) {
	for addr, warns := range map[string]bool{"127.0.0.1:0": false, "[::1]:0": false, "0.0.0.0:0": true} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := newServe()
		out, w := io.Pipe()
		var warnings bytes.Buffer
		cmd.SetArgs([]string{"--addr", addr, "--out", t.TempDir()})
		cmd.SetOut(w)
		cmd.SetErr(&warnings)
		done := make(chan error, 1)
		go func() {
			done <- cmd.ExecuteContext(ctx)
			_ = w.Close()
		}()
		first := make([]byte, 7)
		_, err := io.ReadFull(out, first)
		go func() { _, _ = io.Copy(io.Discard, out) }()
		cancel()
		if ended := <-done; err != nil || ended != nil {
			if strings.HasPrefix(addr, "[") {
				continue // no IPv6 here
			}
			t.Fatalf("%s: %v, %v\n%s", addr, err, ended, warnings.String())
		}
		if string(first) != "http://" || strings.Contains(warnings.String(), "warning: everybody") != warns {
			t.Errorf("%s: %s\n%s", addr, first, warnings.String())
		}
	}
}
