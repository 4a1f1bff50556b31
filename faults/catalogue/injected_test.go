package catalogue

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"locktorture/faults"
	"locktorture/faults/link"
)

var update = flag.Bool("update", false, "rewrite the table of who injects what in the README")

const (
	injectedBegin = "<!-- who injects what -->\n"
	injectedEnd   = "<!-- end of who injects what -->\n"
)

// injectedBy says which code injects a fault: with links in this process, and
// with those of a toxiproxy server.
func injectedBy(t *testing.T, name string, f faults.Fault) (embedded, remote string) {
	if f, ok := f.(interface{ impairment() link.Impairment }); ok {
		embedded, remote = f.impairment().Kind.InjectedBy()
		if name == "slow-close" {
			const kills = "server command `CLIENT KILL`, "
			return kills + embedded, kills + remote
		}
		return embedded, remote
	}
	var by string
	switch f := f.(type) {
	case kill:
		by = "signal to the server: SIGKILL, and a restart"
	case pauseNode:
		by = "signal to the server: SIGSTOP, SIGCONT"
	case failover:
		by, _ = link.Stall.InjectedBy()
		by += ", on the replica's link; then SIGKILL and `REPLICAOF`, or Redis Sentinel or Cluster"
	case failoverIsolated:
		by, _ = link.Stall.InjectedBy()
		by += ", on the link of the master's peers; then Redis Sentinel"
	case clusterFailover:
		by = "server command `CLUSTER FAILOVER`"
	case migrateSlot:
		by = "server commands `CLUSTER SETSLOT`, `MIGRATE`"
	case serverFault:
		if by = "server command `" + strings.Join(f.commands, "`, `") + "`"; len(f.commands) == 0 {
			by = "server command, a script"
		}
	case clockJump, clockDrift:
		by = "the server's libfaketime, by its file"
	case pauseClient, crashClient:
		by = "the gate of the client's connections, or a signal to its process"
	case cancelContext:
		by = "the contexts of the client's operations"
	case clientClock, clientClockStuck:
		by = "the client's clock"
	case starveCPU:
		by = "this process: goroutines that spin"
	default:
		t.Errorf("nobody says who injects %s (%T)", name, f)
	}
	return by, by
}

// The README's table of who injects what says what the catalogue and the links
// say; go test ./faults/catalogue -run TestReadmeInjected -update rewrites it.
func TestReadmeInjected(t *testing.T) {
	var table strings.Builder
	table.WriteString("| fault | links in this process | links of a toxiproxy server |\n|---|---|---|\n")
	catalogue := All()
	for _, name := range slices.Sorted(maps.Keys(catalogue)) {
		e := catalogue[name]
		embedded, remote := injectedBy(t, name, e.New(e.Default))
		if remote == embedded {
			remote = "the same"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", name, embedded, remote)
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), injectedBegin)
	is, after, ended := strings.Cut(rest, injectedEnd)
	switch {
	case !found || !ended:
		t.Fatalf("README.md has no table between %q and %q", injectedBegin, injectedEnd)
	case is == table.String():
	case !*update:
		t.Fatal("README.md is out of date: go test ./faults/catalogue -run TestReadmeInjected -update")
	default:
		if err := os.WriteFile("../README.md", []byte(before+injectedBegin+table.String()+injectedEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
