package link

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// CheckStock says what of i no stock toxic can express, and what it could: links
// of a toxiproxy server have no other, and refuse it. Jitter is drawn once there,
// for each link and direction, to the millisecond.
func CheckStock(i Impairment) error {
	const ms = time.Millisecond
	switch {
	case i.Kind == Delay && (i.Delay < ms || i.Jitter == 0 && i.Delay%ms != 0):
		below := max(i.Delay.Truncate(ms), ms)
		return fmt.Errorf("delay: %v: a toxiproxy server counts whole milliseconds: %v would do%s", i.Delay, below, unlessEqual(below, (i.Delay+ms-1).Truncate(ms)))
	case i.Kind == Delay && i.Jitter > 0 && i.Jitter < ms:
		return fmt.Errorf("jitter: %v: a toxiproxy server draws it once for each link, to the millisecond: 1ms would do, or 0 for none", i.Jitter)
	case i.Kind == Bandwidth && i.Rate%stockRate != 0:
		below := max(i.Rate/stockRate, 1) * stockRate
		return fmt.Errorf("rate: %d bytes per second: a toxiproxy server counts whole kB/s: %d would do", i.Rate, below)
	}
	return nil
}

func unlessEqual(a, b time.Duration) string {
	if a == b {
		return ""
	}
	return fmt.Sprintf(", or %v", b)
}

// stock translates an effect into a stock toxic, one that passes CheckStock or
// whose treatment is asked for alone.
func stock(e *effect) (kind string, toxic toxics.Toxic) {
	switch e.treatment {
	case hold:
		return "bandwidth", &toxics.BandwidthToxic{Rate: 0}
	case pace:
		return "bandwidth", &toxics.BandwidthToxic{Rate: max(1, e.impair.Rate/stockRate)}
	case lag:
		return "latency", &toxics.LatencyToxic{Latency: max(e.drawOnce().Round(time.Millisecond), time.Millisecond).Milliseconds()}
	case snap:
		return "limit_data", &toxics.LimitDataToxic{Bytes: 0}
	case limit:
		return "limit_data", &toxics.LimitDataToxic{Bytes: e.impair.Bytes}
	case slice:
		return "slicer", &toxics.SlicerToxic{AverageSize: int(e.impair.Bytes), Delay: int(e.impair.Delay.Microseconds())}
	case linger:
		return "slow_close", &toxics.SlowCloseToxic{Delay: e.impair.Delay.Milliseconds()}
	default:
		return "timeout", &toxics.TimeoutToxic{Timeout: 0}
	}
}

// stockRate is the unit of a stock bandwidth, in bytes per second.
const stockRate = 1000

// faithful reports whether the stock toxic does all that the effect asks for:
// stock delays are whole milliseconds, drawn from a generator without a seed;
// stock rates are whole kilobytes per second; stock toxics act on all
// connections of a proxy.
func (e *effect) faithful() bool {
	switch e.treatment {
	case hold:
		return !e.spares()
	case lag:
		return e.impair.Jitter == 0 && e.impair.Delay%time.Millisecond == 0
	case pace:
		return e.impair.Rate%stockRate == 0
	}
	return true
}

// stockOnly reports whether this package has no treatment of its own for it.
func (e *effect) stockOnly() bool {
	return e.treatment == slice || e.treatment == limit || e.treatment == linger
}

// attributes are a stock toxic's, by the names of toxiproxy's interface.
func attributes(toxic toxics.Toxic) (map[string]any, error) {
	text, err := json.Marshal(toxic)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	return all, json.Unmarshal(text, &all)
}

// checkPieces says what the kinds that only stock toxics inject cannot be told.
func (i Impairment) checkPieces() error {
	switch {
	case (i.Kind == Slicer || i.Kind == LimitData) && i.Bytes <= 0:
		return fmt.Errorf("%s of %d bytes: a positive number is needed", i.Kind, i.Bytes)
	case i.Kind == Slicer && i.Delay%time.Microsecond != 0:
		return fmt.Errorf("%s with a delay of %s: it counts whole microseconds", i.Kind, i.Delay)
	case i.Kind == SlowClose && (i.Delay <= 0 || i.Delay%time.Millisecond != 0):
		return fmt.Errorf("%s by %s: a positive number of whole milliseconds is needed", i.Kind, i.Delay)
	}
	return nil
}

// beyondStock says when the embedded fabric does not leave a treatment to its
// stock toxic, see faithful.
var beyondStock = map[treatment]string{
	lag:  "; with jitter, or not in whole milliseconds: our toxic",
	pace: "; not in whole kB/s: our toxic",
}

// InjectedBy says which code makes links suffer k: on the embedded fabric, and
// through a toxiproxy server.
func (k Kind) InjectedBy() (embedded, remote string) {
	switch k {
	case Cut:
		return "the proxy, stopped; its port is kept", "the proxy, stopped"
	case Reset:
		return "the client's end of the link, by RST", "the client's end of the link, by RST"
	case StuckConnection:
		return "our toxic, upstream: a stock toxic acts on all connections", "refused"
	case NotifyCut, NotifyLost:
		return "the client's end of the link", "the client's end of the link"
	}
	var toxic, beyond string
	var ways []string
	for _, toward := range []Direction{Up, Down} {
		t, ok := recipes[k][toward]
		if !ok {
			continue
		}
		kind, _ := stock(&effect{treatment: t})
		toxic, beyond, ways = kind, beyondStock[t], append(ways, string(toward))
	}
	remote = "stock `" + toxic + "`, " + strings.Join(ways, " and ")
	if k == BlackHole {
		return remote + "; dials: the dialer, and the proxy's listener for other processes (Linux)", remote + "; dials: the dialer, of this process alone"
	}
	return remote + beyond, remote
}
