package plan

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/watch"
)

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		spec faults.Spec
		want string
	}{
		{faults.Spec{Fault: "latancy"}, `unknown fault "latancy": did you mean "latency"?`},
		{faults.Spec{Fault: "earthquake"}, `unknown fault "earthquake": there are `},
		{faults.Spec{Fault: "kill", On: "aquire-sent"}, `unknown moment "aquire-sent": did you mean "acquire-sent"?`},
		{faults.Spec{Fault: "kill", On: "reply:"}, `unknown moment "reply:"`},
		{faults.Spec{Fault: "kill", On: faults.Bound}, "bound needs by"},
		{faults.Spec{Fault: "kill", On: watch.RenewalSent, Else: watch.ReleaseSent}, `else: "release-sent" needs within`},
		{faults.Spec{Fault: "kill", On: watch.RenewalSent, Within: second, Else: watch.ReleaseMidway}, `else: "release-midway" needs within, and one of the moments [acquire-sent`},
		{faults.Spec{Fault: "kill", At: -1}, "must not be negative"},
		{faults.Spec{Fault: "kill", Times: 3}, "times: 3 needs every"},
		{faults.Spec{Fault: "kill", On: watch.AcquireSent, Then: -1}, "possible with [renewal-due next-renewal-due expiry] only"},
		{faults.Spec{Fault: "latency", Params: faults.Params{Delay: 1, Jitter: 2}}, "jitter"},
	} {
		_, err := Build(catalogue.All(), []faults.Spec{c.spec}, time.Second)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "fault 1: ") {
			t.Errorf("%+v: error %v, want one that says %q", c.spec, err, c.want)
		}
	}
}

func TestBuild(t *testing.T) {
	plan, err := Build(catalogue.All(), []faults.Spec{
		{At: 5 * second, Fault: "latency", Every: 10 * second, Times: 2, Params: faults.Params{Delay: second}},
		{At: 7 * second, Fault: "pause-client"},
		{At: 6 * second, Fault: "pause-client", On: faults.AtTime, For: second, Params: faults.Params{Client: "c03"}},
	}, 2*second)
	if err != nil {
		t.Fatal(err)
	}
	want := faults.Schedule{
		{When: faults.Trigger{After: 5 * second}, For: 2 * second, Fault: catalogue.All()["latency"].New(faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Delay: second})},
		{When: faults.Trigger{After: 6 * second}, For: second, Fault: catalogue.All()["pause-client"].New(faults.Params{Client: "c03"})},
		{When: faults.Trigger{After: 7 * second, On: watch.InSection}, For: 3 * second, Fault: catalogue.All()["pause-client"].New(faults.Params{Client: faults.RoleHolder})},
		{When: faults.Trigger{After: 15 * second}, For: 2 * second, Fault: catalogue.All()["latency"].New(faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Delay: second})},
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
	var specs []faults.Spec
	for name, e := range catalogue.All() {
		s := faults.Spec{Fault: name, At: 1500 * time.Millisecond}
		if e.On != "" {
			s.By, s.Within = "c01", time.Minute
		}
		specs = append(specs, s)
	}
	plan, err := Build(catalogue.All(), specs, 2*second)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Plan{Steps: plan})
	if err != nil {
		t.Fatal(err)
	}
	var read struct{ Steps []faults.Spec }
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := Build(catalogue.All(), read.Steps, 2*second)
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
	got, err := Parse("latency, kill:empty,pause-client:for=3s:on=renewal-due,partition-node:n2,cut:holder:node=n1+n3:at=5s,store-reply-lost,cut:that:on=reply:SETNX@n2:for=1s,stall:on=in-section:until=acquire-replied")
	if err != nil {
		t.Fatal(err)
	}
	want := []faults.Spec{
		{Fault: "latency"},
		{Fault: "kill-empty"},
		{Fault: "pause-client", For: 3 * second, On: watch.RenewalDue},
		{Fault: "partition-node", Params: faults.Params{Node: "n2"}},
		{Fault: "cut", At: 5 * second, Params: faults.Params{Client: faults.RoleHolder, Node: "n1,n3"}},
		{Fault: "store-reply-lost"},
		{Fault: "cut", On: faults.Reply("SETNX", "n2"), For: second, Params: faults.Params{Node: faults.RoleThat}},
		{Fault: "stall", On: watch.InSection, Until: watch.AcquireReplied},
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
	for name, e := range catalogue.All() {
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
	guide, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no scenario in README.md")
	}
	var scenario struct{ Faults []faults.Spec }
	if err := yaml.Unmarshal([]byte(text), &scenario); err != nil {
		t.Fatal(err)
	}
	plan, err := Build(catalogue.All(), scenario.Faults, 2*second)
	if err != nil || plan.String() != "cut ×1  pause-client ×1  kill-empty ×1" || plan[1].For != 1500*time.Millisecond {
		t.Errorf("%v, %v", plan, err)
	}
	if got := plan[2].Spec(); got.By != "asleep" || got.Node != faults.RoleSwing || got.On != faults.Bound {
		t.Errorf("%+v", got)
	}
}
