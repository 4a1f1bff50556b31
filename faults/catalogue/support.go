package catalogue

import (
	"context"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// Support says why a fault of the catalogue cannot be injected on a kind of testbed, started in
// the way that supports most faults; nil where it can. Clients and links are those of a run
// whose lock uses its clients' wall clocks and notifications.
func Support(e Entry, kind string) error {
	return e.New(e.Default).Supports(&faults.Target{
		Testbed: testbed.Specimen(kind), Clients: []faults.Client{model{}}, Notifies: true,
		Link:   func(string, string) link.Link { return nil },
		Fabric: link.NewVirtual(0, link.Pace{}, nil),
	})
}

// A model is a client of which only the type matters.
type model struct{}

func (model) Name() string                            { return "c00" }
func (model) Pause(context.Context) (string, error)   { return "", nil }
func (model) Resume(context.Context) (string, error)  { return "", nil }
func (model) Crash(context.Context) (string, error)   { return "", nil }
func (model) Restart(context.Context) (string, error) { return "", nil }
func (model) Cancel() int                             { return 0 }
func (model) WallClock() (*faults.WallClock, error)   { return &faults.WallClock{}, nil }
