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
	for name, cfg := range map[string]lockimpl.Config{
		"hints":    {NodeTimeout: time.Second},
		"no hints": {NodeTimeout: time.Second, NoProposals: true, NoGossip: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachSize(t, func(t *testing.T, nodes []lockimpl.Node) {
				locktest.TestLock(t, locktest.Config{
					Factory: lockimpl.NewFactory(cfg), Nodes: nodes, Fenced: true,
				})
			})
		})
	}
}
