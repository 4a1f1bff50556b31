package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Format renders e as one line for people, such as
//
//	c07 acquire k3 → ok, token 4117, valid until 78.2 ms
//
// Times are milliseconds since the run began. The event's own index and time
// are left to the caller's layout.
func Format(e *Event) string {
	var b strings.Builder
	b.WriteString(ProcessName(e.Process))
	b.WriteByte(' ')
	b.WriteString(e.Op.String())
	for _, object := range []string{e.Key, e.Fault} {
		if object != "" {
			b.WriteString(" " + object)
		}
	}
	if e.Op == Phase || e.Op == Receipt {
		b.WriteString(" " + e.Value)
	}
	if len(e.Target) > 0 {
		b.WriteString(" on " + targetText(e.Target))
	}
	if e.Kind != Invoke && e.Op != Phase {
		b.WriteString(" → " + e.Kind.String())
	}
	for _, d := range details(e) {
		b.WriteString(", " + d)
	}
	return b.String()
}

// ProcessName is how people know a process: c07, or the harness's part.
func ProcessName(process int) string {
	for name, n := range harnessNames {
		if n == process {
			return name
		}
	}
	return fmt.Sprintf("c%02d", process)
}

// details lists what an event says beyond its outcome.
func details(e *Event) (list []string) {
	add := func(present bool, format string, arg any) {
		if present {
			list = append(list, fmt.Sprintf(format, arg))
		}
	}
	add(e.Owner != "" && e.Owner != ProcessName(e.Process), "as %s", e.Owner)
	add(e.Host != "", "on host %s", e.Host)
	add(e.Mode == Shared, "%s", "shared")
	add(e.Fence != 0, "token %d", e.Fence)
	add(e.Value != "" && e.Op != Phase && e.Op != Receipt, "value %s", e.Value)
	add(e.HasAll(HasSeq), "seq %d", e.Seq)
	add(e.HasAll(HasBase), "based on seq %d", e.Base)
	add(e.HasAll(HasValidUntil), "valid until %s", Millis(e.ValidUntil))
	add(e.HasAll(HasIntended), "due at %s", Millis(e.Intended))
	add(e.HasAll(HasBegan), "began at %s", Millis(e.Began))
	add(e.HasAll(HasEnded), "ended at %s", Millis(e.Ended))
	add(e.HasAll(HasOf), "of event %d", e.Of)
	add(e.Node != "", "at %s", e.Node)
	add(e.Op == Key && e.Holder != "", "held by %s", e.Holder)
	add(e.HasAll(HasPTTL), "%s", pttlText(e.PTTL))
	add(e.HasAll(HasLag), "lag %s", Millis(e.Lag))
	add(e.Instant, "%s", "instant")
	add(e.Receipt != "", "receipt: %s", e.Receipt)
	add(e.Err != "", "error: %s", e.Err)
	add(e.Note != "", "note: %s", e.Note)
	return list
}

// Millis renders d in milliseconds with one decimal, or two below 1 ms.
func Millis(d time.Duration) string {
	decimals := 1
	if d.Abs() < time.Millisecond {
		decimals = 2
	}
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', decimals, 64) + " ms"
}

func pttlText(ms int64) string {
	switch ms {
	case -2:
		return "absent"
	case -1:
		return "without expiry"
	}
	return fmt.Sprintf("%d ms left", ms)
}

// targetText drops the quotes of a target that is a text.
func targetText(raw []byte) string {
	d := decoder{buf: raw}
	if d.peek() != '"' {
		return string(raw)
	}
	if text, err := d.text(); err == nil {
		return string(text)
	}
	return string(raw)
}
