package load

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
)

func TestTraceIsReadInEveryForm(t *testing.T) {
	want := Trace{{0, "a"}, {1500 * time.Millisecond, "b"}, {1500 * time.Millisecond, "a"}, {4 * time.Second, "a"}}
	for name, text := range map[string]string{
		"seconds":           "0,a\n1.5,b\n1.5,a\n4,a\n",
		"head and comments": "\ufefftime,key\n# of a Tuesday\n10, a\n11.5, b\n\n11.5,a\n14,a",
		"durations":         "2s,a\n3500ms,b\n3.5s,a\n6s,a\n",
		"times":             "2026-01-02T15:04:05Z,a\n2026-01-02T15:04:06.5Z,b\n2026-01-02T16:04:06.5+01:00,a\n2026-01-02T15:04:09Z,a\n",
		"since 1970":        "1767366245,a\n1767366246.5,b\n1767366246.5,a\n1767366249,a\n",
	} {
		got, err := ReadTrace(strings.NewReader(text), "trace.csv")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if want.Rate() != 0.75 || want.Peak(time.Second) != 2 || want.Hottest() != 0.75 || !slices.Equal(want.Keys(), []string{"a", "b"}) {
		t.Errorf("rate %v, peak %v, hottest %v, keys %v", want.Rate(), want.Peak(time.Second), want.Hottest(), want.Keys())
	}
}

func TestTraceErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "trace.csv: it holds 0 arrivals",
		"time,key\n":                         "it holds 0 arrivals",
		"1,a\n":                              "it holds 1 arrivals",
		"1\n1\n1\n":                          "all 3 arrivals have the same time",
		"0,a\nsoon,b\n":                      `trace.csv:2: "soon" is no time: want seconds such as 12.5`,
		"at\n# x\n0\n-1\n":                   `trace.csv:4: "-1" is no time`,
		"0,a\n2,b\n1,c\n":                    `trace.csv:3: "1" lies before`,
		"0,a\n1\n":                           "trace.csv:2: a key in some lines",
		"0,a,b\n":                            "trace.csv:1: 3 columns",
		"0,\"a\n":                            "trace.csv:",
		"0\n90000\n":                         "trace.csv:2: 25h0m0s after the first arrival",
		"0,a\n1," + strings.Repeat("k", 513): "trace.csv:2: a key of 513 bytes",
		"soon,a\n1,b\n2,c\n":                 `trace.csv:1: "soon" is no time: want seconds such as 12.5, a duration such as 12.5s, or a time such as 2026-01-02T15:04:05.5Z; or a head: time, or time,key`,
		"-1,a\n2,b\n3,c\n":                   `trace.csv:1: "-1" is no time`,
		"1e18,a\n2,b\n3,c\n":                 `trace.csv:1: "1e18" is no time`,
		"0\nNaN\n":                           `trace.csv:2: "NaN" is no time`,
		"0\nInf\n":                           `trace.csv:2: "Inf" is no time`,
		"2026-01-01T00:00:00Z\n9999-01-01T00:00:00Z\n": `trace.csv:2: "9999-01-01T00:00:00Z" is no time`,
	} {
		if got, err := ReadTrace(strings.NewReader(text), "trace.csv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, got, err, want)
		}
	}
}

// A trace comes at its own times, or faster, and with its own keys.
func TestOpenLoopFollowsATrace(t *testing.T) {
	trace := Trace{{0, "a"}, {100 * time.Millisecond, "b"}, {900 * time.Millisecond, "a"}, {2 * time.Second, "c"}}
	for _, pace := range []float64{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			l := newSlow(time.Millisecond)
			span := time.Duration(float64(trace.Span())/pace) + 1
			r, err := Open(t.Context(), []lockimpl.Locker{l}, Arrivals{Trace: trace, Pace: pace, Limit: 10}, Task{TTL: time.Second}, Window{Measure: span})
			if err != nil || r.Offered != 4 {
				t.Fatalf("%+v, %v", r, err)
			}
			var want []time.Duration
			for _, a := range trace {
				want = append(want, time.Duration(float64(a.At)/pace))
			}
			slices.Sort(r.Due)
			if !slices.Equal(r.Due, want) {
				t.Errorf("at ×%v: due %v, want %v", pace, r.Due, want)
			}
		})
	}
	if _, err := Open(t.Context(), nil, Arrivals{Trace: trace, Limit: 1, Keys: []string{"k"}}, Task{}, Window{}); err == nil || !strings.Contains(err.Error(), "pace is 0") {
		t.Errorf("without a pace: %v", err)
	}
}
