package faults

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Fault: "latancy"}, `unknown fault "latancy": did you mean "latency"?`},
		{Spec{Fault: "earthquake"}, `unknown fault "earthquake": there are `},
		{Spec{Fault: "kill", On: "aquire-sent"}, `unknown moment "aquire-sent": did you mean "acquire-sent"?`},
		{Spec{Fault: "kill", On: "reply:"}, `unknown moment "reply:"`},
		{Spec{Fault: "kill", On: Bound}, "bound needs by"},
		{Spec{Fault: "kill", At: -1}, "must not be negative"},
		{Spec{Fault: "kill", Times: 3}, "times: 3 needs every"},
		{Spec{Fault: "kill", On: AcquireSent, Then: -1}, "renewal-due and expiry only"},
		{Spec{Fault: "latency", Params: Params{Delay: 1, Jitter: 2}}, "jitter"},
	} {
		_, err := Build(Catalogue(), []Spec{c.spec}, time.Second)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "fault 1: ") {
			t.Errorf("%+v: error %v, want one that says %q", c.spec, err, c.want)
		}
	}
}

func TestBuild(t *testing.T) {
	plan, err := Build(Catalogue(), []Spec{
		{At: 5 * second, Fault: "latency", Every: 10 * second, Times: 2, Params: Params{Delay: second}},
		{At: 7 * second, Fault: "pause-client"},
		{At: 6 * second, Fault: "pause-client", On: AtTime, For: second, Params: Params{Client: "c03"}},
	}, 2*second)
	if err != nil {
		t.Fatal(err)
	}
	want := Schedule{
		{Trigger{After: 5 * second}, 2 * second, newLatency("latency")(Params{Client: RoleAll, Node: RoleAny, Delay: second})},
		{Trigger{After: 6 * second}, second, pauseClient{Params{Client: "c03"}}},
		{Trigger{After: 7 * second, On: InSection}, 3 * second, pauseClient{Params{Client: RoleHolder}}},
		{Trigger{After: 15 * second}, 2 * second, newLatency("latency")(Params{Client: RoleAll, Node: RoleAny, Delay: second})},
	}
	if !reflect.DeepEqual(plan, want) {
		t.Errorf("plan\n%+v\nwant\n%+v", plan, want)
	}
	if got := plan.String(); got != "latency ×2  pause-client ×2" || plan.PhaseLocked() != 1 {
		t.Errorf("printed %q, %d phase-locked", got, plan.PhaseLocked())
	}
}

// What a plan prints makes the same plan again.
func TestPlanRoundTrip(t *testing.T) {
	var specs []Spec
	for name, e := range Catalogue() {
		s := Spec{Fault: name, At: 1500 * time.Millisecond}
		if e.On != "" {
			s.By, s.Within = "c01", time.Minute
		}
		specs = append(specs, s)
	}
	plan, err := Build(Catalogue(), specs, 2*second)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Plan{Steps: plan})
	if err != nil {
		t.Fatal(err)
	}
	var read struct{ Steps []Spec }
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := Build(Catalogue(), read.Steps, 2*second)
	if err != nil {
		t.Fatal(err)
	}
	if printed, _ := json.Marshal(Plan{Steps: again}); string(printed) != string(text) {
		t.Errorf("%s\nmakes another plan:\n%s", text, printed)
	}
	if !strings.Contains(string(text), `{"at":"1.5s","on":"in-section","by":"c01","within":"1m0s","fault":"pause-client","for":"3s","client":"holder"}`) {
		t.Errorf("unreadable: %s", text)
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("latency, kill:empty,pause-client:for=3s:on=renewal-due,partition-node:n2,cut:holder:node=n1+n3:at=5s,store-reply-lost,cut:that:on=reply:SETNX@n2:for=1s")
	if err != nil {
		t.Fatal(err)
	}
	want := []Spec{
		{Fault: "latency"},
		{Fault: "kill-empty"},
		{Fault: "pause-client", For: 3 * second, On: RenewalDue},
		{Fault: "partition-node", Params: Params{Node: "n2"}},
		{Fault: "cut", At: 5 * second, Params: Params{Client: RoleHolder, Node: "n1,n3"}},
		{Fault: "store-reply-lost"},
		{Fault: "cut", On: Reply("SETNX", "n2"), For: second, Params: Params{Node: RoleThat}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	for text, want := range map[string]string{
		"":                    "a name is missing",
		"latency,,kill":       "a name is missing",
		"latency:dealy=5ms":   `unknown setting "dealy": did you mean "delay"?`,
		"latency:delay=5":     "missing unit",
		"pause-client:times=": "invalid syntax",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %q", text, err, want)
		}
	}
}

func TestCatalogueExplains(t *testing.T) {
	for name, e := range Catalogue() {
		if e.New(e.Default).Name() != name {
			t.Errorf("%s makes %s", name, e.New(e.Default).Name())
		}
		for _, line := range []string{e.Wire, e.Survives} {
			if len(line) < 20 || len(line) > 160 || !strings.HasSuffix(line, ".") {
				t.Errorf("%s: explain it in a line: %q", name, line)
			}
		}
		if e.For == nil || e.For(second) < 0 {
			t.Errorf("%s: no length of its own", name)
		}
	}
}

// The guide's scenario is one.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no scenario in README.md")
	}
	var scenario struct{ Faults []Spec }
	if err := yaml.Unmarshal([]byte(text), &scenario); err != nil {
		t.Fatal(err)
	}
	plan, err := Build(Catalogue(), scenario.Faults, 2*second)
	if err != nil || plan.String() != "cut ×1  pause-client ×1  kill-empty ×1" || plan[1].For != 1500*time.Millisecond {
		t.Errorf("%v, %v", plan, err)
	}
	if got := plan[2].Spec(); got.By != "asleep" || got.Node != RoleSwing || got.On != Bound {
		t.Errorf("%+v", got)
	}
}
