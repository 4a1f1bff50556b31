package simulate

import (
	"testing"

	"locktorture/cmd/torture/internal/search"
)

// BenchmarkRounds plays the rounds that a search of one seed draws, and tells how much
// virtual time and how many attempts a second of processor time buys.
func BenchmarkRounds(b *testing.B) {
	for _, id := range []string{"redlock", "single"} {
		b.Run(id, func(b *testing.B) {
			p := player(b, id)
			s := search.New(p.space(Job{}), 1, search.Log{})
			var virtual, attempts float64
			before := processorTime()
			for range b.N {
				r := draw(s)
				res := p.Play(b.Context(), r)
				if res.Err != nil {
					b.Fatal(res.Err)
				}
				s.Record(r, res.Outcome)
				virtual, attempts = virtual+res.Virtual.Seconds(), attempts+float64(res.Attempts)
			}
			used := (processorTime() - before).Seconds()
			b.ReportMetric(virtual/used, "virtual-s/cpu-s")
			b.ReportMetric(attempts/used, "attempts/cpu-s")
		})
	}
}
