package historyfile

import (
	"path/filepath"
	"testing"

	"locktorture/workload/history"
)

// BenchmarkRecorder is what one Append costs its caller, the compression in
// the background included where cores are short.
func BenchmarkRecorder(b *testing.B) {
	for _, name := range []string{"history.jsonl", Name} {
		b.Run(name, func(b *testing.B) {
			f, err := Create(filepath.Join(b.TempDir(), name), testHeader)
			if err != nil {
				b.Fatal(err)
			}
			rec := history.NewRecorder(f)
			events := make([]history.Event, 4096)
			for i := range events {
				events[i] = event(i)
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				rec.Append(events[n%len(events)])
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
