//go:build !linux

package workload

import (
	"context"
	"time"

	"locktorture/workload/history"
)

// threads knows what the kernel says of threads, where it says anything.
type threads struct{}

func newThreads(func() []int) *threads { return nil }

func (*threads) watch(context.Context, *history.Recorder, time.Duration) {}
