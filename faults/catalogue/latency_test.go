package catalogue_test

import (
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/link"
	"locktorture/faults/plan"
)

// drawn returns what a latency as told does to a link, of a TTL of two seconds.
func drawn(t *testing.T, s faults.Spec) link.Impairment {
	t.Helper()
	steps, err := plan.Build(catalogue.All(), []faults.Spec{s}, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return catalogue.ImpairmentOf(steps[0].Fault, 2*time.Second)
}

// No jitter means a constant delay, in every way in which it can be written down;
// jitter that is left out means some.
func TestNoJitterIsConstant(t *testing.T) {
	parsed, err := plan.Parse("latency:delay=40ms:jitter=0,latency:delay=40ms")
	if err != nil {
		t.Fatal(err)
	}
	var file []faults.Spec
	if err := yaml.Unmarshal([]byte("- {fault: latency, delay: 40ms, jitter: 0s}\n- {fault: latency, delay: 40ms}"), &file); err != nil {
		t.Fatal(err)
	}
	written, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	var again []faults.Spec
	if err := yaml.Unmarshal(written, &again); err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	for way, specs := range map[string][]faults.Spec{"command line": parsed, "file": file, "file written by Marshal": again} {
		if got := drawn(t, specs[0]); got.Delay != 40*time.Millisecond || got.Jitter != 0 {
			t.Errorf("%s: jitter 0 gives %+v", way, got)
		}
		if got := drawn(t, specs[1]); got.Jitter != 20*time.Millisecond {
			t.Errorf("%s: no jitter given makes %+v", way, got)
		}
	}
	steps, err := plan.Build(catalogue.All(), parsed[:1], time.Second)
	if err != nil {
		t.Fatal(err)
	}
	text, err := steps[0].MarshalJSON()
	var back faults.Spec
	if err == nil {
		err = back.UnmarshalJSON(text)
	}
	if err != nil || back.Jitter != faults.Constant || !strings.Contains(string(text), `"jitter":"0s"`) {
		t.Errorf("%s: %+v, %v", text, back, err)
	}
}
