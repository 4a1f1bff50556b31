package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Trace is arrivals as they were recorded somewhere, in the order of time.
type Trace []Arrival

// An Arrival is one request of a trace.
type Arrival struct {
	At  time.Duration // since the first one
	Key string        // empty: drawn from the keys of the load
}

// The most that a trace may hold.
const (
	mostArrivals = 1_000_000
	longestTrace = 24 * time.Hour
	longestKey   = 512 // bytes
)

const traceTimes = "seconds such as 12.5, a duration such as 12.5s, or a time such as 2026-01-02T15:04:05.5Z"

// maxTrace is how many bytes a trace may have: some million arrivals.
const maxTrace = 64 << 20

// ReadTrace reads arrivals from CSV: a line for each, with its time and, in a second
// column, its key where there is one. Times are seconds, durations or RFC 3339, do not
// go backwards, and count from the first one; a first line that calls them
// time is a head, and lines that begin with # are left out. name is that of the file, for errors, which name
// the line too.
func ReadTrace(in io.Reader, name string) (Trace, error) {
	whole := &io.LimitedReader{R: in, N: maxTrace}
	r := csv.NewReader(whole)
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = '#', -1, true
	var out Trace
	var first, last time.Duration
	keyed := false
	for head := true; ; head = false {
		fields, err := r.Read()
		var wrong *csv.ParseError
		switch {
		case whole.N == 0:
			return nil, fmt.Errorf("%s: longer than %d bytes: a trace is a line for each arrival, time,key", name, maxTrace)
		case errors.Is(err, io.EOF) && len(out) < 2:
			return nil, fmt.Errorf("%s: it holds %d arrivals: want 2 at least, a line for each: time,key", name, len(out))
		case errors.Is(err, io.EOF):
			if out[len(out)-1].At == 0 {
				return nil, fmt.Errorf("%s: all %d arrivals have the same time, so that there is no rate", name, len(out))
			}
			return out, nil
		case errors.As(err, &wrong):
			return nil, fmt.Errorf("%s:%d: %w", name, wrong.Line, wrong.Err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		bad := func(format string, args ...any) (Trace, error) {
			return nil, fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
		}
		at, ok := traceTime(strings.TrimSpace(strings.TrimPrefix(fields[0], "\ufeff")))
		if head && len(fields) <= 2 && slices.Contains(heads, strings.ToLower(strings.TrimSpace(strings.TrimPrefix(fields[0], "\ufeff")))) {
			continue
		}
		a := Arrival{}
		if len(fields) > 1 {
			a.Key = strings.TrimSpace(fields[1])
		}
		switch {
		case !ok:
			return bad("%q is no time: want %s%s", fields[0], traceTimes, orHead(head))
		case len(fields) > 2:
			return bad("%d columns: want time, or time,key", len(fields))
		case len(out) > 0 && at < last:
			return bad("%q lies before the arrival above it: want times in order", fields[0])
		case len(out) > 0 && keyed != (a.Key != ""):
			return bad("a key in some lines and none in others: want one in every line, or in none")
		case len(a.Key) > longestKey:
			return bad("a key of %d bytes: want up to %d", len(a.Key), longestKey)
		case len(out) == mostArrivals:
			return bad("more than %d arrivals: cut the trace to the busiest part", mostArrivals)
		}
		if len(out) == 0 {
			first, keyed = at, a.Key != ""
		}
		if a.At, last = at-first, at; a.At > longestTrace {
			return bad("%v after the first arrival: want a trace of up to %v", a.At, longestTrace)
		}
		out = append(out, a)
	}
}

// heads are what a first line may call its times.
var heads = []string{"time", "times", "timestamp", "ts", "t", "at", "arrival", "seconds", "due"}

func orHead(first bool) string {
	if !first {
		return ""
	}
	return "; or a head: time, or time,key"
}

// traceTime reads a time, since any moment.
func traceTime(text string) (time.Duration, bool) {
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		whole, part := math.Modf(s) // seconds since 1970 leave a float's nanoseconds too little room to be scaled at once
		return time.Duration(whole)*time.Second + time.Duration(math.Round(part*1e9)), s >= 0 && s < 1e10
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return time.Duration(t.UnixNano()), err == nil && t.Year() >= 1970 && t.Year() < 2262 // what nanoseconds can tell
}

// Span is from the first arrival to the last.
func (t Trace) Span() time.Duration { return t[len(t)-1].At }

// Rate is how many arrivals come per second, on average.
func (t Trace) Rate() float64 { return float64(len(t)-1) / t.Span().Seconds() }

// Peak is the most arrivals per second over any stretch of that width.
func (t Trace) Peak(width time.Duration) float64 {
	most, from := 0, 0
	for i, a := range t {
		for a.At-t[from].At >= width {
			from++
		}
		most = max(most, i-from+1)
	}
	return float64(most) / width.Seconds()
}

// Keys are those that the trace names, in the order in which they come first.
func (t Trace) Keys() (keys []string) {
	seen := map[string]bool{}
	for _, a := range t {
		if a.Key != "" && !seen[a.Key] {
			seen[a.Key] = true
			keys = append(keys, a.Key)
		}
	}
	return keys
}

// Hottest is the share of arrivals that want the most popular key; 0 without keys.
func (t Trace) Hottest() float64 {
	most, count := 0, map[string]int{}
	for _, a := range t {
		if a.Key != "" {
			count[a.Key]++
			most = max(most, count[a.Key])
		}
	}
	return float64(most) / float64(len(t))
}
