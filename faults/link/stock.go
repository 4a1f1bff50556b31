package link

import (
	"encoding/json"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// stock translates an effect into a stock toxic. It rounds what the toxic
// cannot express: see faithful.
func stock(e *effect) (kind string, toxic toxics.Toxic) {
	switch e.treatment {
	case hold:
		return "bandwidth", &toxics.BandwidthToxic{Rate: 0}
	case pace:
		return "bandwidth", &toxics.BandwidthToxic{Rate: max(1, e.impair.Rate/stockRate)}
	case lag:
		return "latency", &toxics.LatencyToxic{Latency: e.drawOnce().Milliseconds()}
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
