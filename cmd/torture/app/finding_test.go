package app

import (
	"strings"
	"testing"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/simulate"
)

const contended = `{"schema":1,"lock":"exists-set","nodes":1,"hash":"0","finding":{"id":"S1"},"round":{
	"seed":5,"clients":4,"ttl_ns":400000000,"duration_ns":1500000000,"origin":"shrunk","steps":[],
	"load":{"keys":1,"hold":"30ms","think":"10ms","writes":2,"mode":"exclusive"}}}`

// A finding, given as text, fails on the lock that it is of, and not on a sound one;
// what is no finding is said to be none.
func TestReplayOfAFinding(t *testing.T) {
	if _, err := replayFinding(t.Context(), nil, contended); err == nil || !strings.Contains(err.Error(), "why  ") {
		t.Errorf("the flawed lock: %v", err)
	}
	single, err := catalogue.Builtin().Find("single")
	if err != nil {
		t.Fatal(err)
	}
	said, err := replayFinding(t.Context(), single.Factory(config.Config{}), contended)
	if err != nil || !strings.Contains(said, "the finding was S1") {
		t.Errorf("a sound lock: %q, %v", said, err)
	}
	for text, want := range map[string]string{
		`{"schema":1}`: "want schema 1, a lock and a round",
		"no-such-file": "no such file",
		strings.Replace(contended, "exists-set", "no", 1): `"no"`,
	} {
		if _, err := replayFinding(t.Context(), nil, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: error %v, want %q", text, err, want)
		}
	}
}

// The test that a replay prints names the lock's factory and holds the finding.
func TestGoTestOfAFinding(t *testing.T) {
	file, err := readFinding(contended)
	if err != nil {
		t.Fatal(err)
	}
	for given, factory := range map[bool]string{false: "app.Replay(t, nil ", true: "app.Replay(t, yours "} {
		test, err := file.GoTest(given)
		if err != nil || !strings.Contains(test, factory) || !strings.Contains(test, "func TestNoS1(t *testing.T)") {
			t.Fatalf("%v: %s", err, test)
		}
		_, text, _ := strings.Cut(test, "`")
		text, _, _ = strings.Cut(text, "`")
		again, err := simulate.ParseReplay("the test", []byte(text))
		if err != nil || again.Round.Seed != file.Round.Seed || again.Lock != file.Lock {
			t.Errorf("%v: read back %+v", err, again)
		}
	}
}
