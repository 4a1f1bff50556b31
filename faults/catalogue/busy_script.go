package catalogue

import (
	"context"
	"strings"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

var busyScriptEntry = Entry{
	Name:     "busy-script",
	Wire:     "A script runs for ever; the server answers BUSY to everybody until it is killed.",
	Survives: "BUSY is a definite no from that node. A minority of such nodes costs nothing else.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
	New: server(serverFault{name: "busy-script", commands: []string{"CONFIG", "SCRIPT"}, apply: busyScript}),
}

// busyScript runs a script that never ends. The server answers BUSY to
// everybody until it is killed.
func busyScript(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	if _, err := configure(ctx, s, n, "busy-reply-threshold", "10"); err != nil {
		return "", err
	}
	s.Background(n.Name()+" runs an endless script", func(ctx context.Context) error {
		_, err := testbed.Do(ctx, n, "EVAL", "while true do end", "0")
		if err != nil && (ctx.Err() != nil || strings.Contains(err.Error(), "killed")) {
			return nil
		}
		return err
	}, func() string { return "" })
	s.OnHeal(n.Name()+" runs an endless script", "redis-cli SCRIPT KILL on "+n.Addr(), func(ctx context.Context) (string, error) {
		if err := administer(ctx, n, "SCRIPT", "KILL"); err != nil && !strings.Contains(err.Error(), "NOTBUSY") {
			return "", err
		}
		_, err := testbed.Do(ctx, n, "PING")
		return "", err
	})
	for wait.For(ctx, 5*time.Millisecond) {
		_, err := testbed.Do(ctx, n, "PING")
		if err != nil && strings.Contains(err.Error(), "BUSY") {
			return "PING is answered BUSY", nil
		}
	}
	return "", ctx.Err()
}
