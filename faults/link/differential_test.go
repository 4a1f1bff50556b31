package link

import (
	"context"
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// ownTreatment is an embedded port that leaves nothing to stock toxics.
type ownTreatment struct{ *embeddedPort }

func (p ownTreatment) add(ctx context.Context, s toxicSpec) error { return p.directionPort.add(ctx, s) }

// ways are who injects: this package's treatment, the stock toxic on a
// connection of the embedded fabric, the stock toxic as toxiproxy runs it.
var ways = []string{"own", "hosted", "toxiproxy"}

func rigFor(t *testing.T, way string) *rig {
	if way == "toxiproxy" {
		api, _ := startToxiproxy(t)
		return newRig(t, NewRemote(RemoteConfig{API: api, RunID: "diff", FirstPort: 25000, LastPort: 25999}))
	}
	r := newRig(t, NewEmbedded())
	if way == "own" {
		r.link.port = ownTreatment{r.link.port.(*embeddedPort)}
	}
	return r
}

// An outcome is what two commands, sent at once into an impaired link, and an
// idle connection beside them come to.
type outcome struct {
	during, after               string // what the client hears, "!" at the end of the connection
	appliedDuring, appliedAfter bool   // at the node
	idle                        string // what a PING on the idle connection is answered after the heal
}

const bothReplies = "+OK\r\n+OK\r\n"

// trial plays the same traffic on a link that suffers i. heard is how much the
// client hears while it does.
func trial(t *testing.T, way string, i Impairment, heard string) (o outcome) {
	r := rigFor(t, way)
	busy, idle := r.dial(), r.dial()
	a := r.impair(i)
	if _, err := busy.Write([]byte(command("SET", "k1", "v") + command("SET", "k2", "v"))); err != nil {
		t.Fatal(err)
	}
	o.during = busy.hear(heard)
	last := "k2"
	if i.Kind == FastLostReply { // the node may meet the end before it reads the second command
		last = "k1"
	}
	if _, up := recipes[i.Kind][Up]; !up { // requests pass
		r.awaitApplied(last)
	}
	o.appliedDuring = r.applied(last)
	r.heal(a)
	if !strings.HasSuffix(o.during, "!") && o.during != bothReplies {
		o.after = busy.hear(bothReplies)
	}
	if o.after == bothReplies || o.during == bothReplies {
		r.awaitApplied(last)
	}
	o.appliedAfter = r.applied(last)
	if way == "toxiproxy" && recipes[i.Kind].any() == lose { // a byte sent into a removed timeout strands a goroutine of toxiproxy
		o.idle = idle.hear("!")
		return o
	}
	idle.send(t, "PING")
	o.idle = idle.hear("+PONG\r\n")
	return o
}

// hear reads until it has heard want, or the end. Where nothing is to come it
// listens for a moment.
func (c *client) hear(want string) string {
	patience := 10 * time.Second
	if want == "" {
		patience = 30 * time.Millisecond
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	defer c.in.Reset(c.Conn)
	var got []byte
	for want == "" || len(got) < len(want) {
		b, err := c.in.ReadByte()
		var late net.Error
		switch {
		case errors.As(err, &late) && late.Timeout():
			return string(got)
		case err != nil:
			return string(got) + "!"
		}
		got = append(got, b)
	}
	return string(got)
}

// Who injects an impairment makes no difference to the bytes, their order, what
// is lost, what the client and the node see, or what the heal does; except where
// the case says what toxiproxy's own removal of its toxic does.
func TestStockToxicsDoTheSame(t *testing.T) {
	const closesIdle = "the removal closes every connection of the proxy, also those that have lost nothing"
	for _, c := range []struct {
		impair  Impairment
		heard   string
		differs string // of toxiproxy's own handling
	}{
		{impair: Impairment{Kind: BlackHole}, differs: closesIdle},
		{impair: Impairment{Kind: RequestLost}, differs: closesIdle},
		{impair: Impairment{Kind: ResponseLost}, differs: closesIdle},
		{impair: Impairment{Kind: Stall}},
		{impair: Impairment{Kind: Zombie}},
		{impair: Impairment{Kind: SlowReply}},
		{impair: Impairment{Kind: FastLostReply}, heard: "!"},
		{impair: Impairment{Kind: Delay, Delay: 5 * time.Millisecond}, heard: bothReplies},
		{impair: Impairment{Kind: Bandwidth, Rate: 2000}, heard: bothReplies},
		{impair: Impairment{Kind: Slicer, Bytes: 2, Delay: time.Millisecond}, heard: bothReplies},
		{impair: Impairment{Kind: LimitData, Bytes: 7}, heard: "+OK\r\n+O!"},
	} {
		t.Run(string(c.impair.Kind), func(t *testing.T) {
			seen := map[string]outcome{}
			for _, way := range ways {
				if treats := (&effect{treatment: recipes[c.impair.Kind].any()}); way != "own" || !treats.stockOnly() {
					seen[way] = trial(t, way, c.impair, c.heard)
				}
			}
			if own, known := seen["own"]; known && own != seen["hosted"] {
				t.Errorf("this package: %+v\nthe stock toxic: %+v", own, seen["hosted"])
			}
			stock := seen["toxiproxy"]
			if c.differs != "" {
				if stock.idle != "!" || seen["hosted"].idle != "+PONG\r\n" {
					t.Errorf("want as a difference that %s; got %+v", c.differs, seen)
				}
				stock.idle = seen["hosted"].idle
			}
			if stock != seen["hosted"] {
				t.Errorf("toxiproxy: %+v\nhosted: %+v", stock, seen["hosted"])
			}
		})
	}
}

// any returns the treatment of either direction.
func (r recipe) any() treatment {
	if t, ok := r[Up]; ok {
		return t
	}
	return r[Down]
}

// What keeps this package from leaving the toxics to toxiproxy's own chain: a
// second one on the same way interrupts the first, which lets go of what it held.
func TestNeighbourFreesWhatAStockToxicHolds(t *testing.T) {
	for _, way := range []string{"hosted", "toxiproxy"} {
		t.Run(way, func(t *testing.T) {
			var r *rig
			second := func() { r.impair(Impairment{Kind: Delay, Toward: Up, Delay: time.Millisecond}) }
			if way == "hosted" {
				r = rigFor(t, way)
			} else {
				api, server := startToxiproxy(t)
				r = newRig(t, NewRemote(RemoteConfig{API: api, RunID: "chain", FirstPort: 25000, LastPort: 25999}))
				second = func() {
					p, err := server.Collection.Get("locktorture.chain.c1.n1")
					if err != nil {
						t.Fatal(err)
					}
					if _, err := p.Toxics.AddToxicJson(strings.NewReader(`{"name":"second","type":"latency","stream":"upstream","attributes":{"latency":1}}`)); err != nil {
						t.Fatal(err)
					}
				}
			}
			conn := r.dial()
			held := r.impair(Impairment{Kind: Zombie})
			conn.send(t, "SET", "k", "v")
			conn.wantSilence(t)
			second()
			if way == "toxiproxy" {
				r.awaitApplied("k")
				return
			}
			conn.wantSilence(t)
			if r.applied("k") {
				t.Error("a held request slipped through when a neighbour came")
			}
			r.heal(held)
			conn.want(t, "+OK")
		})
	}
}

// What a stock toxic cannot express stays with this package.
func TestWhatStockToxicsCannotSay(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		treatment treatment
		impair    Impairment
		stock     bool
	}{
		{lag, Impairment{Delay: 5 * ms}, true},
		{lag, Impairment{Delay: 5*ms + 1}, false},
		{lag, Impairment{Delay: 300 * time.Microsecond}, false},
		{lag, Impairment{Delay: 5 * ms, Jitter: ms}, false},
		{pace, Impairment{Rate: 2000}, true},
		{pace, Impairment{Rate: 2001}, false},
		{pace, Impairment{Rate: 1}, false},
		{hold, Impairment{}, true},
		{lose, Impairment{}, true},
		{snap, Impairment{}, true},
	} {
		e := &effect{treatment: c.treatment, impair: c.impair}
		if got := e.faithful(); got != c.stock {
			t.Errorf("treatment %d of %+v: left to the stock toxic: %t", c.treatment, c.impair, got)
		}
	}
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[toxics.LatencyToxic]()) {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "Latency Jitter" {
		t.Errorf("a stock latency can be told %s: if that is a seed, jitter can be left to it", got)
	}
}
