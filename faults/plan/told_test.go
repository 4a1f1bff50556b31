package plan

import (
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"locktorture/faults"
	"locktorture/faults/catalogue"
)

// What a fault is told and has no use for is refused, on the command line and in
// files, with what it takes.
func TestUselessSettingsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"pause-client:rate=5":                       "it has no use for rate: it takes client, at, on,",
		"pause-client:node=n1":                      "it has no use for node",
		"kill:delay=5ms":                            "it has no use for delay: it takes client, node, at",
		"latency:rate=1000":                         "it takes client, node, delay, jitter, spread, direction, at",
		"bandwidth:jitter=5ms":                      "it has no use for jitter: it takes client, node, rate, direction, at",
		"slicer:direction=request":                  "it has no use for direction",
		"starve-cpu:client=c00":                     "it has no use for client",
		"server-pause:jump=1s":                      "it has no use for jump",
		"kill:every=5s":                             "every: 5s needs times",
		"kill:by=c01":                               "by: c01 needs on",
		"kill:within=1s":                            "within: 1s needs on",
		"kill:then=1s":                              "then: 1s needs on",
		"pause-client:on=time:by=c01":               "by: c01 needs on",
		"stall:until=release-replied":               "until: release-replied needs on: a moment of the key",
		"stall:on=command:SET:until=in-section":     "until: in-section needs on: a moment of the key",
		"stall:on=time:until=expiry":                `until: "expiry" is none of the moments that are seen: [acquire-sent`,
		"stall:on=in-section:until=late-release":    `until: "late-release" is none of the moments`,
		"flushall:on=in-section:until=release-sent": "until: release-sent ends nothing",
		"latency-heavy-tail:jitter=0":               "leaves nothing to spread heavy-tail",
		"cancel-context:delay=5ms:bytes=3":          "it takes client, delay, at, on, by, then, within, else, for, until, every, times",
		"client-clock:jump=5ms:direction=x":         "direction",
	} {
		specs, err := Parse(text)
		if err == nil {
			_, err = Build(catalogue.All(), specs, time.Second)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	var specs []faults.Spec
	if err := yaml.Unmarshal([]byte("- {fault: pause-client, rate: 5}"), &specs); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(catalogue.All(), specs, time.Second); err == nil || !strings.Contains(err.Error(), "fault 1: pause-client: it has no use for rate") {
		t.Errorf("in a file: %v", err)
	}
}

// What each fault does without being told is among what it takes, as far as the
// catalogue knows.
func TestSettingsCoverDefaults(t *testing.T) {
	for name, e := range catalogue.All() {
		f := e.New(e.Default)
		if _, ok := f.(interface{ Settings() []string }); !ok {
			t.Errorf("%s does not say what it takes", name)
		}
		if err := e.Default.Unused(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A zero that was written down is honoured or refused, and never taken for a
// setting that was left out.
func TestZerosAreNotAbsent(t *testing.T) {
	for _, key := range []string{"delay", "for", "within", "every", "times", "rate", "bytes", "jump", "on", "by", "client", "node", "spread", "direction"} {
		value := map[string]string{"delay": "0", "for": "0s", "within": "0s", "every": "0s", "times": "0", "rate": "0", "bytes": "0", "jump": "0s"}[key]
		want := key + ": is zero or empty: "
		if _, err := Parse("latency:" + key + "=" + value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s on the command line: %v", key, err)
		}
		if value == "" {
			value = `""`
		} else if value == "0" && key == "delay" {
			value = "0s"
		}
		var specs []faults.Spec
		err := yaml.Unmarshal([]byte("- fault: latency\n  "+key+": "+value), &specs)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s in a file: %v", key, err)
		}
	}
	if _, err := Parse("kill:at=0s"); err == nil || !strings.Contains(err.Error(), "at=1ms") {
		t.Errorf("at=0s: %v", err)
	}
	if _, err := Parse("latency:jitter=-1ns"); err == nil || !strings.Contains(err.Error(), "must not be negative") {
		t.Errorf("jitter=-1ns: %v", err)
	}
}
