package history

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxProse bounds err, receipt and note, so that a stray reply of megabytes
// cannot make a line that no reader accepts.
const maxProse = 16 << 10

// AppendEvent appends e as one line of a history, newline included.
func AppendEvent(dst []byte, e *Event) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(e.Index), 10)
	dst = append(dst, `,"time_ns":`...)
	dst = strconv.AppendInt(dst, int64(e.Time), 10)
	dst = append(dst, `,"process":`...)
	dst = strconv.AppendInt(dst, int64(e.Process), 10)
	dst = append(dst, `,"kind":"`...)
	dst = append(dst, e.Kind.String()...)
	dst = append(dst, `","op":"`...)
	dst = append(dst, e.Op.String()...)
	dst = append(dst, '"')
	dst = appendText(dst, `,"key":`, e.Key)
	dst = appendText(dst, `,"owner":`, e.Owner)
	dst = appendText(dst, `,"host":`, e.Host)
	if e.Mode != Exclusive {
		dst = appendText(dst, `,"mode":`, e.Mode.String())
	}
	if e.Fence != 0 {
		dst = append(dst, `,"fence":`...)
		dst = strconv.AppendUint(dst, e.Fence, 10)
	}
	if e.Has&HasValidUntil != 0 {
		dst = append(dst, `,"valid_until_ns":`...)
		dst = strconv.AppendInt(dst, int64(e.ValidUntil), 10)
	}
	dst = appendText(dst, `,"value":`, e.Value)
	if e.Has&^HasValidUntil != 0 {
		dst = appendNumbers(dst, e)
	}
	dst = appendHarness(dst, e)
	dst = appendText(dst, `,"err":`, clip(e.Err))
	dst = appendText(dst, `,"note":`, clip(e.Note))
	return append(dst, '}', '\n')
}

// appendNumbers appends the optional numbers that few events have.
func appendNumbers(dst []byte, e *Event) []byte {
	dst = appendUint(dst, `,"seq":`, e.Seq, e.HasAll(HasSeq))
	dst = appendUint(dst, `,"base":`, e.Base, e.HasAll(HasBase))
	dst = appendInt(dst, `,"of":`, int64(e.Of), e.HasAll(HasOf))
	dst = appendInt(dst, `,"pttl_ms":`, e.PTTL, e.HasAll(HasPTTL))
	dst = appendInt(dst, `,"intended_ns":`, int64(e.Intended), e.HasAll(HasIntended))
	dst = appendInt(dst, `,"began_ns":`, int64(e.Began), e.HasAll(HasBegan))
	dst = appendInt(dst, `,"ended_ns":`, int64(e.Ended), e.HasAll(HasEnded))
	return appendInt(dst, `,"lag_ns":`, int64(e.Lag), e.HasAll(HasLag))
}

func appendInt(dst []byte, name string, v int64, present bool) []byte {
	if !present {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), v, 10)
}

func appendUint(dst []byte, name string, v uint64, present bool) []byte {
	if !present {
		return dst
	}
	return strconv.AppendUint(append(dst, name...), v, 10)
}

// appendHarness appends what the harness's own processes say.
func appendHarness(dst []byte, e *Event) []byte {
	dst = appendText(dst, `,"fault":`, e.Fault)
	if e.Target != nil {
		dst = append(append(dst, `,"target":`...), e.Target.String()...)
	}
	if e.Instant {
		dst = append(dst, `,"instant":true`...)
	}
	dst = appendText(dst, `,"receipt":`, clip(e.Receipt))
	dst = appendText(dst, `,"node":`, e.Node)
	return appendText(dst, `,"holder":`, e.Holder)
}

func appendText(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return appendString(append(dst, name...), s)
}

// appendString appends s in quotes. What is not UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		if !plain[s[i]] {
			return append(appendEscaped(append(dst, s[:i]...), s[i:]), '"')
		}
	}
	return append(append(dst, s...), '"')
}

func appendEscaped(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r < ' ' || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

func clip(s string) string { return Cut(s, maxProse+len("…"), "…") }

// Cut returns s, or where it is longer than most bytes as much of its beginning
// as fits, whole characters, with the mark behind it.
func Cut(s string, most int, mark string) string {
	if len(s) <= most {
		return s
	}
	keep := max(most-len(mark), 0)
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return s[:keep] + mark
}

// AppendHeader appends h as the first line of a history, newline included.
// Type and Version are set to what this package writes, and a monotonic
// reading of Began is dropped.
func AppendHeader(dst []byte, h Header) ([]byte, error) {
	h.Type, h.Version = headerType, Version
	if !h.Began.IsZero() {
		h.Began = h.Began.UTC().Round(0).Truncate(time.Microsecond)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return dst, err
	}
	return append(append(dst, line...), '\n'), nil
}
