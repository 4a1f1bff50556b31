package unit

import (
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ got, want string }{
		{Count(18402), "18 402"}, {Count(-1234567), "-1 234 567"}, {Count(999), "999"}, {Count(uint64(0)), "0"},
		{Latency(0), "0 ms"}, {Latency(420), "420 ns"}, {Latency(7100), "7.1 µs"}, {Latency(87 * time.Microsecond), "87 µs"},
		{Latency(310 * time.Microsecond), "0.31 ms"}, {Latency(300 * time.Microsecond), "0.3 ms"}, {Latency(2600 * time.Microsecond), "2.6 ms"},
		{Latency(11900 * time.Microsecond), "11.9 ms"}, {Latency(250 * ms), "250 ms"}, {Latency(1020 * ms), "1.02 s"},
		{Latency(999600 * time.Microsecond), "1.00 s"}, {Latency(-11900 * time.Microsecond), "-11.9 ms"}, {Latency(2 * time.Minute), "120.0 s"},
		{Span(4800 * ms), "4.8 s"}, {Span(time.Minute), "60.0 s"}, {Span(750 * time.Second), "12 min 30 s"}, {Span(185 * time.Minute), "3 h 05 min"},
		{Millis(1501900 * time.Microsecond), "1 501 ms"}, {Millis(900 * time.Microsecond), "0.9 ms"},
		{Seconds(76247 * ms), "76.247"},
		{Setting(2 * time.Second), "2 s"}, {Setting(20 * ms), "20 ms"}, {Setting(0), "0 s"}, {Setting(5 * time.Minute), "5 min"},
		{Setting(1500 * ms), "1.5 s"}, {Setting(250 * time.Microsecond), "250 µs"},
		{Rate(412.3), "412/s"}, {Rate(0.8), "0.8/s"}, {Rate(1234.5), "1 235/s"}, {Rate(12.34), "12.3/s"},
		{Percent(0.0081), "0.81 %"}, {Percent(0), "0 %"}, {Percent(0.00001), "0.001 %"},
		{Seed(0x9f3c21), "0x9f3c21"}, {Number(1e18), "1e+18"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
