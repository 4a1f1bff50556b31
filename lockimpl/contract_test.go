package lockimpl_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"locktorture/lockimpl"
	"locktorture/lockimpl/locktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	eachSize(t, func(t *testing.T, nodes []lockimpl.Node) {
		t.Parallel()
		contract(t, nodes, lockimpl.Config{NodeTimeout: 2 * time.Second})
	})
}

func TestContractWithoutHints(t *testing.T) {
	contract(t, embeddedNodes(t, 5), lockimpl.Config{
		NodeTimeout: 2 * time.Second, NoProposals: true, NoGossip: true,
	})
}

func contract(t *testing.T, nodes []lockimpl.Node, cfg lockimpl.Config) {
	locktest.TestLock(t, locktest.Config{
		Factory: lockimpl.NewFactory(cfg), Nodes: nodes, TTL: 4 * time.Second, Fenced: true,
	})
}
