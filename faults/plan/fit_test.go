package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locktorture/faults/catalogue"
	"locktorture/faults/internal/faulttest"
)

// What was asked for and cannot take place is refused, with the fault, the
// reason, and what would do.
func TestMisfits(t *testing.T) {
	for _, c := range []struct {
		faults string
		main   time.Duration
		want   string // empty: it fits
	}{
		{"pause-client:for=3s", 3 * second, "fault pause-client: with the time to recover, 4s of faults do not fit into a duration of 3s; --duration 5.8s would do"},
		{"pause-client:for=3s", 6 * second, ""},
		{"kill,partition-node,flushall,evict", 4 * second, "partition-node, flushall, evict"},
		{"kill:at=5s:for=1s", 3 * second, "--duration 6s would do"},
		{"kill:at=1s:for=1s:times=3:every=2s", 5 * second, "--duration 6s would do"},
		{"kill:at=1s:for=1s:times=3:every=2s", 6 * second, ""},
		{"kill:on=expiry:then=3s:at=1s:for=1s", 4 * second, "--duration 5s would do"},
		{"kill:node=n9", 20 * second, `node "n9" does not exist`},
		{"kill:node=store", 20 * second, `node "store" does not exist`},
		{"latency:node=store", 20 * second, ""},
		{"pause-client:client=c77", 20 * second, `client "c77" does not exist`},
		{"pause-client:client=any as a,crash-client:client=a", 20 * second, ""},
		{"kill:node=any as a,pause-node:node=a", 20 * second, ""},
		{"pause-client:holder:on=time:at=1s:for=2s,pause-client:holder:on=time:at=2s:for=1s", 20 * second, ""}, // of two holders
		{"pause-client:on=bound:by=nobody", 20 * second, `by "nobody" does not exist`},
		{"kill:on=command:SET@store", 20 * second, ""},
		{"kill:on=command:SET@n1+n2", 20 * second, `on "n1,n2" does not exist`}, // one, or any
		{"pause-client:on=acquire-sent:by=c00+c01", 20 * second, `by "c00,c01" does not exist`},
		{"pause-client:on=acquire-sent:by=c01", 20 * second, ""},
		{"kill:on=command:SET@n9", 20 * second, `on "n9" does not exist`},
		{"kill:node=that", 20 * second, `node "that" does not exist`},
		{"kill:node=n1:at=1s:for=2s,pause-node:node=n1:at=2s:for=1s", 20 * second, "at 2s kill has n1 until 3s; at=3s would do"},
		{"kill:node=n2+ n1:at=1s:for=2s,pause-node:node=n1:at=2s:for=1s", 20 * second, "at 2s kill has n1 until 3s; at=3s would do"},
		{"pause-node:node=n1 as a:at=2s:for=1s,kill:node= n3 + n1 as b:at=1s:for=2s", 20 * second, "fault pause-node: at 2s kill has n1 until 3s; at=3s would do"},
		{"kill:node=n1:at=1s:for=2s,pause-node:node=n2:at=2s:for=1s", 20 * second, ""},
		{"kill:node=n1:at=1s:for=2s,pause-node:node=n1:at=3s:for=1s", 20 * second, ""},
		{"kill:node=n1:at=1s:for=2s,pause-node:node=n1:on=in-section:at=2s:for=1s", 20 * second, ""}, // whenever that is
		{"kill:node=n1:on=in-section:at=1s:for=2s,pause-node:node=n1:at=2s:for=1s", 20 * second, ""},
	} {
		specs, err := Parse(c.faults)
		if err != nil {
			t.Fatal(err)
		}
		err = FitNamed(catalogue.All(), specs, c.main, faulttest.New(5, 2).Target)
		var misfit *MisfitError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s in %v: %v", c.faults, c.main, err)
		case c.want != "" && (!errors.As(err, &misfit) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s in %v: %v, want %q", c.faults, c.main, err, c.want)
		}
	}
}

// The duration that a refusal proposes is enough.
func TestProposedDurationIsEnough(t *testing.T) {
	specs, err := Parse("kill,partition-node,flushall,evict,pause-client:for=7s")
	if err != nil {
		t.Fatal(err)
	}
	w := faulttest.New(5, 2)
	var misfit *MisfitError
	if !errors.As(FitNamed(catalogue.All(), specs, second, w.Target), &misfit) {
		t.Fatal("it fits into a second")
	}
	words := strings.Fields(misfit.Would)
	enough, err := time.ParseDuration(words[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := FitNamed(catalogue.All(), specs, enough, w.Target); err != nil {
		t.Errorf("in %v: %v", enough, err)
	}
}
