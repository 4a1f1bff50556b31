// Package unit writes numbers the way every artefact of a run shows them:
// thousands grouped by a space, three significant figures, the unit after a
// space.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count groups thousands: 18402 is "18 402".
func Count[N ~int | ~int64 | ~uint64](n N) string {
	s := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return sign + s
}

// Plural is the noun for n of what: "fault", "faults", "processes".
func Plural(n int, what string) string {
	switch {
	case n == 1:
		return what
	case strings.HasSuffix(what, "s"), strings.HasSuffix(what, "sh"):
		return what + "es"
	}
	return what + "s"
}

// Counted is how many of what there are: "1 fault", "18 402 faults".
func Counted[N ~int | ~int64](n N, what string) string { return Count(n) + " " + Plural(int(n), what) }

// Latency writes a short duration in the unit that suits it, with about three
// significant figures: "7.1 µs", "0.31 ms", "11.9 ms", "1.02 s".
func Latency(d time.Duration) string {
	switch abs := d.Abs(); {
	case d == 0:
		return "0 ms"
	case abs < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case abs < 9950*time.Nanosecond:
		return decimals(float64(d)/1e3, 1) + " µs"
	case abs < 99500*time.Nanosecond:
		return decimals(float64(d)/1e3, 0) + " µs"
	case abs < 995*time.Microsecond:
		return trim(decimals(float64(d)/1e6, 2)) + " ms"
	case abs < 99950*time.Microsecond:
		return decimals(float64(d)/1e6, 1) + " ms"
	case abs < 999500*time.Microsecond:
		return decimals(float64(d)/1e6, 0) + " ms"
	case abs < 100*time.Second:
		return decimals(d.Seconds(), 2) + " s"
	default:
		return Span(d)
	}
}

// Span writes how long something lasted, for prose: "180 ms", "4.8 s",
// "60.0 s", "12 min 30 s", "3 h 05 min".
func Span(d time.Duration) string {
	switch abs := d.Abs(); {
	case abs < 999500*time.Microsecond:
		return Latency(d)
	case abs < 10*time.Minute:
		return decimals(d.Seconds(), 1) + " s"
	case abs < 2*time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	default:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
	}
}

// Millis writes whole milliseconds, grouped, rounded down, so that "at least"
// stays true: "1 501 ms".
func Millis(d time.Duration) string {
	if d.Abs() < 10*time.Millisecond {
		return Latency(d)
	}
	return Count(d.Milliseconds()) + " ms"
}

// Seconds writes a moment of a run as seconds with three decimals: "76.247".
func Seconds(d time.Duration) string { return decimals(d.Seconds(), 3) }

// Setting writes a configured duration as it was meant: "2 s", "20 ms", "5 min".
func Setting(d time.Duration) string {
	switch {
	case d == 0:
		return "0 s"
	case d%time.Minute == 0 && d.Abs() > 2*time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d.Abs() >= time.Second:
		return trim(decimals(d.Seconds(), 3)) + " s"
	case d.Abs() >= time.Millisecond:
		return trim(decimals(float64(d)/1e6, 3)) + " ms"
	default:
		return trim(decimals(float64(d)/1e3, 3)) + " µs"
	}
}

// Rate writes something per second: "412/s", "0.8/s".
func Rate(perSecond float64) string { return Number(perSecond) + "/s" }

// Number writes a number with three significant figures at most, grouped.
func Number(x float64) string {
	switch abs := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "–"
	case abs >= 1e15:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case abs >= 99.5:
		return Count(int64(math.Round(x)))
	case abs >= 9.95:
		return trim(decimals(x, 1))
	case abs >= 0.01 || abs == 0:
		return trim(decimals(x, 2))
	default:
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
}

// Percent writes a ratio: 0.0081 is "0.81 %".
func Percent(ratio float64) string { return Number(100*ratio) + " %" }

// Change writes by how much something grew or fell: -0.264 is "-26 %".
func Change(ratio float64) string { return fmt.Sprintf("%+.0f %%", math.Round(100*ratio)+0) } // never -0

// Seed writes a seed as it is given on the command line: "0x9f3c21".
func Seed(seed uint64) string { return fmt.Sprintf("0x%x", seed) }

func decimals(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }

// trim drops the zeros that a fraction ends with.
func trim(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
