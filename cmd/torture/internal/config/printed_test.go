package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestConfigPrints: run.json has durations as a scenario file has them, and a run
// of before, which has nanoseconds, can still be replayed.
func TestConfigPrints(t *testing.T) {
	c := Config{TTL: 2 * time.Second, Duration: time.Minute, Load: Load{Keys: 3, Wait: 50 * time.Millisecond}, Faults: Faults{Plan: "standard"}, Seed: 1<<64 - 1}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ttl":"2s"`, `"duration":"1m0s"`, `"final":"0s"`, `"wait":"50ms"`, `"keys":3`, `"faults":"standard"`, `"seed":18446744073709551615`} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("%s lacks %s", text, want)
		}
	}
	var again Config
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	again.Load.Hold, again.Load.Think = c.Load.Hold, c.Load.Think // "0s" reads as a shape of its own
	if !reflect.DeepEqual(again, c) {
		t.Errorf("read back as %+v, want %+v", again, c)
	}
	var old Config
	if err := json.Unmarshal([]byte(`{"ttl":2000000000,"load":{"wait":5000000}}`), &old); err != nil || old.TTL != 2*time.Second || old.Load.Wait != 5*time.Millisecond {
		t.Errorf("a run of before: %+v, %v", old, err)
	}
	for _, bad := range []string{`{"ttl":"soon"}`, `{"ttl":true}`, `{"load":{"wait":"5"}}`} {
		if err := json.Unmarshal([]byte(bad), &old); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
