package plan

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

var update = flag.Bool("update", false, "accept the plans that are drawn now")

// drawnPlans holds the digest of each plan of TestSeedDrawsTheSamePlan.
const drawnPlans = "testdata/drawn.txt"

// A seed that was printed once draws the same plan for ever: of every kind, on
// a testbed that can suffer the whole catalogue and on one that cannot.
// go test ./faults/plan -run TestSeedDrawsTheSamePlan -update accepts a change.
func TestSeedDrawsTheSamePlan(t *testing.T) {
	var drawn strings.Builder
	for _, bed := range []string{testbed.KindProcess, testbed.KindEmbedded} {
		target := drawingTarget(bed)
		for kind, draw := range drawings {
			for seed := range uint64(8) {
				plan, err := draw(target, rand.New(rand.NewPCG(seed, 5)))
				var misfit *MisfitError
				if err != nil && !errors.As(err, &misfit) {
					t.Logf("%s on %s: %v", drawingNames[kind], bed, err)
				}
				text, marshalled := json.Marshal(plan)
				if marshalled != nil {
					t.Fatal(marshalled)
				}
				fmt.Fprintf(&drawn, "%s %s %d: %d steps %x %v\n", bed, drawingNames[kind], seed, len(plan.Steps), sha256.Sum256(text), err != nil)
			}
		}
	}
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(drawnPlans, []byte(drawn.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(drawnPlans)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(drawn.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d of %s was\n%s\nand now is\n%s", i+1, drawnPlans, line, strings.Join(got[min(i, len(got)-1):min(i+1, len(got))], ""))
		}
	}
}

// drawings draw one plan each, in the order of drawingNames.
var drawings = []func(t *faults.Target, rng *rand.Rand) (Plan, error){
	func(t *faults.Target, rng *rand.Rand) (Plan, error) {
		return Standard(StandardConfig{Main: time.Minute}, t, rng)
	},
	func(t *faults.Target, rng *rand.Rand) (Plan, error) {
		return Standard(StandardConfig{Main: 20 * time.Second, AtOnce: true}, t, rng)
	},
	func(t *faults.Target, rng *rand.Rand) (Plan, error) {
		return Random(Budget{Main: time.Minute}, t, rng)
	},
	func(t *faults.Target, rng *rand.Rand) (Plan, error) {
		return Random(Budget{Main: 2 * time.Minute, Lanes: 2, Beyond: true}, t, rng)
	},
	func(t *faults.Target, rng *rand.Rand) (Plan, error) {
		specs, err := Parse("latency:jitter=0,kill:empty,pause-client:for=3s,cut:holder:node=n1+n3:at=5s:every=9s:times=3,slicer:delay=7us,bandwidth:rate=999:direction=request,client-clock:jump=-3s")
		if err != nil {
			return Plan{}, err
		}
		return Named(catalogue.All(), specs, time.Minute, t, rng)
	},
	func(t *faults.Target, rng *rand.Rand) (Plan, error) { return Restarts(time.Minute, t, rng) },
	func(t *faults.Target, _ *rand.Rand) (Plan, error) { return Forgetful(time.Minute, false, t) },
	func(t *faults.Target, _ *rand.Rand) (Plan, error) { return Forgetful(time.Minute, true, t) },
}

var drawingNames = []string{"standard", "standard-short", "random", "random-beyond", "named", "restarts", "forgetful", "forgetful-late"}

// drawingTarget is a target of five nodes that do not run and of four clients.
func drawingTarget(kind string) *faults.Target {
	t := &faults.Target{
		Testbed: testbed.SpecimenOf(testbed.Config{Kind: kind, Nodes: 5, Persist: true, Fsync: testbed.FsyncSecond, FakeClock: true}),
		Quorum:  3, TTL: 2 * time.Second, Quarantine: 3 * time.Second, Notifies: true,
		Link:   func(string, string) link.Link { return nil },
		Fabric: link.NewVirtual(0, link.Pace{}, nil),
	}
	for i := range 4 {
		t.Clients = append(t.Clients, drawingClient{name: fmt.Sprintf("c%02d", i)})
	}
	return t
}

// drawingClient is a client of which plans ask what it is and no more.
type drawingClient struct {
	faults.Client
	name string
}

func (c drawingClient) Name() string                        { return c.name }
func (drawingClient) Cancel() int                           { return 0 }
func (drawingClient) WallClock() (*faults.WallClock, error) { return &faults.WallClock{}, nil }
