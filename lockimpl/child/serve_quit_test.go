package child

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
)

// A waiting lock is never free; who waits for it does so until its context ends.
type waitingLock struct{}

func (waitingLock) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	return nil, lockimpl.ErrHeld
}
func (waitingLock) AcquireWait(ctx context.Context, _ string, _ time.Duration) (lockimpl.Lease, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (waitingLock) Close() error { return nil }

// Who waits for a lock does not keep a child from leaving when it is told to, or at the end
// of its input.
func TestServeLeavesWhileItWaits(t *testing.T) {
	for name, last := range map[string]string{"quit": `{"t":"quit","id":9}` + "\n", "end of input": ""} {
		for _, wait := range []string{"-1", "600000"} {
			t.Run(name+" "+wait, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					in, orders := io.Pipe()
					began, left := time.Now(), make(chan error)
					go func() {
						left <- serve(in, io.Discard, "redis://127.0.0.1:1/0", func([]lockimpl.Node) (lockimpl.Locker, error) { return waitingLock{}, nil })
					}()
					for _, line := range []string{`{"t":"init","id":1,"io_ms":1000}`, `{"t":"acquire","id":2,"h":"h1","key":"k","ttl_ms":1000,"wait_ms":` + wait + `}`} {
						if _, err := io.WriteString(orders, line+"\n"); err != nil {
							t.Fatal(err)
						}
					}
					synctest.Wait()
					_, _ = io.WriteString(orders, last)
					_ = orders.Close()
					select {
					case err := <-left:
						if took := time.Since(began); err != nil || took > time.Second {
							t.Errorf("left after %v: %v", took, err)
						}
					case <-time.After(time.Hour):
						t.Fatal("it never left")
					}
				})
			})
		}
	}
}
