package lockimpl_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/lockimpl"
)

func BenchmarkPairs(b *testing.B) {
	for _, n := range []int{1, 5} {
		nodes := serverNodes(b, n)
		bootstrapped(b, nodes, lockimpl.Config{})
		for _, g := range []int{1, 16, 64, 256} {
			b.Run(fmt.Sprintf("nodes=%d/goroutines=%d", n, g), func(b *testing.B) {
				l := client(b, nodes, lockimpl.Config{})
				b.ReportAllocs()
				b.SetParallelism((g + 1) / 2)
				var id atomic.Int64
				b.RunParallel(func(pb *testing.PB) {
					key := fmt.Sprintf("k%d", id.Add(1))
					for pb.Next() {
						lease, err := l.Acquire(b.Context(), key, 5*time.Second)
						if err != nil {
							b.Error(err)
							return
						}
						if err := lease.Release(b.Context()); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}
