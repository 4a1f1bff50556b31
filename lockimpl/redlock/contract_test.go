package redlock_test

import (
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locktorture/lockimpl"
	"locktorture/lockimpl/locktest"
	"locktorture/lockimpl/redlock"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // nodes in memory make much garbage and keep little
	goleak.VerifyTestMain(m)
}

func TestContract(t *testing.T) {
	eachSize(t, func(t *testing.T, nodes []lockimpl.Node) {
		t.Parallel()
		contract(t, nodes, redlock.Config{NodeTimeout: 2 * time.Second})
	})
}

func TestContractWithoutHints(t *testing.T) {
	contract(t, embeddedNodes(t, 5), redlock.Config{
		NodeTimeout: 2 * time.Second, NoProposals: true, NoGossip: true,
	})
}

func contract(t *testing.T, nodes []lockimpl.Node, cfg redlock.Config) {
	cfg.FirstTime = true
	locktest.TestLock(t, locktest.Config{
		Factory: redlock.NewFactory(cfg), Nodes: nodes, TTL: 4 * time.Second, Fenced: true,
	})
}
