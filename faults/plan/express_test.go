package plan

import (
	"strings"
	"testing"
	"time"

	"locktorture/faults/catalogue"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// What no stock toxic can express is refused before the run where links are a
// toxiproxy server's, and had where they are not.
func TestRemoteLinksRefuseWhatTheyCannotExpress(t *testing.T) {
	w := faulttest.New(3, 2)
	w.Link = func(string, string) link.Link { return nil }
	w.Testbed = testbed.Specimen(testbed.KindProcess)
	for text, want := range map[string]string{
		"latency:delay=400us:jitter=0":        "delay: 400µs: a toxiproxy server counts whole milliseconds: 1ms would do",
		"latency:delay=400us":                 "1ms would do",
		"latency:delay=2500us:jitter=0":       "2ms would do, or 3ms",
		"latency:delay=5ms:jitter=300us":      "jitter: 300µs: a toxiproxy server draws it once for each link, to the millisecond: 1ms would do",
		"latency-heavy-tail:delay=999us":      "1ms would do",
		"bandwidth:rate=999":                  "rate: 999 bytes per second: a toxiproxy server counts whole kB/s: 1000 would do",
		"bandwidth:rate=2500":                 "2000 would do",
		"bandwidth:rate=5000":                 "",
		"latency":                             "",
		"latency:delay=3ms:jitter=0":          "",
		"latency:delay=1500us:jitter=1ms":     "",
		"slicer:delay=7us":                    "",
		"slow-close:delay=3ms,limit-data,cut": "",
	} {
		specs, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Build(catalogue.All(), specs, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		f := plan[0].Fault
		w.Fabric = link.NewRemote(link.RemoteConfig{})
		if err := f.Supports(w.Target); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s on remote links: %v, want %q", text, err, want)
		}
		w.Fabric = link.NewVirtual(0, link.Pace{}, nil)
		if err := f.Supports(w.Target); err != nil {
			t.Errorf("%s on links of this process: %v", text, err)
		}
	}
}

// The end of a connection that comes late comes within the step.
func TestDelaysEndWithTheirStep(t *testing.T) {
	for text, want := range map[string]string{
		"slow-close:delay=3s:for=1s":          "slow-close: delay: 3s is not shorter than the step, which lasts 1s: for: 6s would do",
		"slow-close:delay=1s":                 "not shorter than the step, which lasts 500ms",
		"latency:delay=2s:jitter=0:for=1s":    "not shorter",
		"cancel-context:delay=1s:for=500ms":   "not shorter",
		"slow-close:delay=300ms:for=1s":       "",
		"slow-close:for=100ms,slow-node:n1":   "",
		"slow-close:for=3ms,slow-close":       "",
		"slow-close:delay=5ms:for=5ms":        "not shorter",
		"slicer:delay=1s:for=1s,slow-close":   "not shorter",
		"slow-node:delay=90ms:for=80ms:at=1s": "not shorter",
	} {
		specs, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Build(catalogue.All(), specs, time.Second)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		for _, s := range plan {
			if d := s.Spec().Delay; s.Fault.Name() == "slow-close" && (d <= 0 || d >= s.For || d%time.Millisecond != 0) {
				t.Errorf("%s: a delay of %v in a step of %v", text, d, s.For)
			}
		}
	}
}
