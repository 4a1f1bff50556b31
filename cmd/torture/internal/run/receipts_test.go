package run

import (
	"errors"
	"io"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// A client whose requests, or their replies, are lost for longer than it waits
// for them knows nothing; the links do, and the judge hears of it.
func TestReceiptsResolveUnknownOutcomes(t *testing.T) {
	for fault, want := range map[string]string{"request-lost": history.NeverForwarded, "response-lost": history.Executed} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Base("standard")
			if err != nil {
				t.Fatal(err)
			}
			// A lock that does not repeat its releases, each of which would stay
			// unknown.
			cfg.Lock, cfg.Testbed, cfg.Clients, cfg.Load.Keys, cfg.Out = "token-lua", "embedded", 4, 8, t.TempDir()
			cfg.TTL, cfg.Load.Timeout = 500*time.Millisecond, 100*time.Millisecond
			cfg.Load.Wait, cfg.Load.Rate, cfg.Load.LongHold = 0, 0, 0
			cfg.Duration, cfg.Floors, cfg.PerMinute = 6*time.Second, nil, nil
			// Only what goes out on a connection that is there already is lost; a
			// new one is not greeted. So each client has one chance each time.
			step := faults.Spec{At: time.Second, Fault: fault, For: 300 * time.Millisecond, Every: 800 * time.Millisecond, Times: 6}
			step.Client, step.Node = faults.RoleAll, faults.RoleAll
			cfg.Faults = config.Faults{Steps: []faults.Spec{step}}
			run, err := Run(t.Context(), cfg, lock(t, cfg.Lock), Options{})
			if err != nil || len(run.Harness) > 0 {
				t.Fatal(err, run.Harness)
			}
			values := receipts(t, run.Dir)
			if e := run.Report.Evidence; values[want] == 0 || e.ByReceipts == 0 || e.ByReceipts > e.Unknown {
				t.Errorf("receipts %v, evidence %+v", values, e)
			}
		})
	}
}

// receipts counts those of links in a stored history, by value.
func receipts(t *testing.T, dir string) map[string]int {
	r, closer, err := historyfile.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	all := map[string]int{}
	for {
		var e history.Event
		if err := r.Next(&e); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Op == history.Receipt {
			all[e.Value]++
		}
	}
}
