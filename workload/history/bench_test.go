package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"
)

// benchEvents is a history of pairs, writes between them, as the workload
// makes it: 100 keys, 64 processes.
func benchEvents(n int) []Event {
	events := make([]Event, 0, n)
	add := func(e Event) {
		e.Index = len(events)
		e.Time = 1_000_000_000 + 1_700*time.Duration(e.Index)
		events = append(events, e)
	}
	for cycle := 0; len(events) < n; cycle++ {
		process := cycle % 64
		base := Event{Process: process, Key: fmt.Sprintf("k%d", cycle%100), Owner: fmt.Sprintf("c%02d-%x", process, 0xabcdef+process)}
		for _, op := range []Op{Acquire, Write, Release} {
			e := base
			e.Kind, e.Op = Invoke, op
			if op == Write {
				e.Value = fmt.Sprintf("w%d", cycle)
			}
			add(e)
			e.Kind, e.Fence = OK, uint64(cycle+1)
			switch op {
			case Acquire:
				e.ValidUntil, e.Has = 2_000_000_000+1_700*time.Duration(len(events)), HasValidUntil
			case Write:
				e.Seq, e.Has = uint64(cycle+1), HasSeq
			}
			add(e)
		}
	}
	return events[:n]
}

func benchFile(b *testing.B, events []Event) []byte {
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range events {
		w.Event(&events[i])
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return file.Bytes()
}

const benchSize = 60_000

func BenchmarkDecode(b *testing.B) {
	file := benchFile(b, benchEvents(benchSize))
	b.ReportAllocs()
	var read, size int
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		var e Event
		for err = r.Next(&e); err == nil; err = r.Next(&e) {
			read++
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		size += len(file)
	}
	report(b, read)
	b.ReportMetric(float64(size)/float64(read), "B/event")
}

// BenchmarkDecodeLibrary is the yardstick: encoding/json into a struct of a
// hot event's fields.
func BenchmarkDecodeLibrary(b *testing.B) {
	file := benchFile(b, benchEvents(benchSize/10))
	_, file, _ = bytes.Cut(file, []byte("\n"))
	read := 0
	for b.Loop() {
		for line := range bytes.Lines(file) {
			var e struct {
				Index      int
				Time       int64 `json:"time_ns"`
				Process    int
				Kind, Op   string
				Key, Owner string
				Fence      uint64
				Value      string
				ValidUntil *int64 `json:"valid_until_ns"`
				Seq        *uint64
			}
			if err := json.Unmarshal(line, &e); err != nil {
				b.Fatal(err)
			}
			read++
		}
	}
	report(b, read)
}

func BenchmarkEncode(b *testing.B) {
	events := benchEvents(benchSize)
	b.ReportAllocs()
	var line []byte
	written := 0
	for b.Loop() {
		for i := range events {
			line = AppendEvent(line[:0], &events[i])
		}
		written += len(events)
	}
	report(b, written)
}

// BenchmarkRecorder is what one Append costs its caller: with no sink, and
// with one that writes JSON lines to nowhere.
func BenchmarkRecorder(b *testing.B) {
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		b.Fatal(err)
	}
	for name, sinks := range map[string][]Sink{"bare": nil, "json": {w}} {
		b.Run(name, func(b *testing.B) {
			events := benchEvents(4096)
			rec := NewRecorder(sinks...)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				rec.Append(events[n%len(events)])
				n++
			}
			report(b, n)
		})
	}
}

func report(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
