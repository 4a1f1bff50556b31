package catalogue

import (
	"net/http/httptest"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// The links of a toxiproxy server bear one impairment at a time: a second fault
// waits for the first one's end instead of failing.
func TestFaultsTakeTurnsOnRemoteLinks(t *testing.T) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	api := httptest.NewServer(server.Routes())
	t.Cleanup(api.Close)
	bed, err := testbed.StartEmbedded(t.Context(), testbed.EmbeddedConfig{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := rigOn(t, bed, 1, link.NewRemote(link.RemoteConfig{API: api.Listener.Addr().String(), RunID: "r", FirstPort: 25000, LastPort: 25999}))
	steps := faults.Schedule{{For: 200 * time.Millisecond}, {For: time.Millisecond}, {For: time.Millisecond}}
	for i, name := range []string{"latency", "response-lost", "request-lost"} {
		entry := All()[name]
		steps[i].Fault = entry.New(faults.Params{Client: "c00", Node: "n1"}.Or(entry.Default))
		steps[i].When.After = time.Duration(i) * 50 * time.Millisecond
	}
	res, err := r.Run(t.Context(), steps...)
	if err != nil || res.Started() != 3 || res.Healed() != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, later := range res.Steps[1:] {
		if first := res.Steps[0]; later.Started < first.Ended {
			t.Errorf("%s began at %v, while %s lasted until %v", later.Fault, later.Started, first.Fault, first.Ended)
		}
	}
	if err := faulttest.Set(t, r.Dial(t, "c00", "n1"), 5*time.Second, "k", "v"); err != nil {
		t.Errorf("when all is over: %v", err)
	}
}
