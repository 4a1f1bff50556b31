package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A hangingDisk takes one batch from since on, and never has it.
type hangingDisk struct {
	since time.Time

	mu   sync.Mutex
	gave error
}

func (d *hangingDisk) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gave
}

func (d *hangingDisk) Stalled() time.Duration { return time.Since(d.since) }

func (d *hangingDisk) GiveUp(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gave = why
}

// A disk that hangs ends the run after ten seconds, and not before: until then
// it may be busy.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &hangingDisk{since: time.Now()}
		var noted []incident
		running, stop := context.WithCancelCause(t.Context())
		watching, end := context.WithCancel(t.Context())
		w := &watchdog{file: disk, note: func(m incident) { noted = append(noted, m) }, stop: stop, end: end, known: map[string]bool{}}
		w.running.Go(func() { w.repeat(watching, look{"history", watchEvery, w.disk}) })
		time.Sleep(9900 * time.Millisecond)
		if running.Err() != nil || disk.Err() != nil {
			t.Fatalf("ended after 9.9 s: %v", context.Cause(running))
		}
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if !errors.Is(context.Cause(running), errMishap) || disk.Err() == nil {
			t.Fatalf("after 10.2 s: %v, given up for %v", context.Cause(running), disk.Err())
		}
		time.Sleep(time.Minute)
		if all := w.close(); len(all) != 1 || len(noted) != 1 || noted[0].lock || !strings.Contains(noted[0].err.Error(), "the disk has been taking one batch for 10s") {
			t.Errorf("noted %+v, all %+v", noted, all)
		}
	})
}

// What befell one thing is one mishap, however each look at it words it; what
// befell another one, or one of several, is a mishap more.
func TestOneMishapPerThing(t *testing.T) {
	for name, c := range map[string]struct {
		things []string
		want   []string
	}{
		"one server":     {[]string{"toxiproxy"}, []string{"toxiproxy, look 1"}},
		"two nodes":      {[]string{"node n1", "node n2"}, []string{"node n1, look 1", "node n2, look 1"}},
		"many at a look": {[]string{""}, []string{", look 1", ", look 2", ", look 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				watching, end := context.WithCancel(t.Context())
				var mu sync.Mutex
				var noted []string
				note := func(m incident) {
					mu.Lock()
					defer mu.Unlock()
					noted = append(noted, m.err.Error())
				}
				w := &watchdog{note: note, stop: func(error) {}, end: end, known: map[string]bool{}}
				for i, thing := range c.things {
					looked := 0
					at := func(context.Context) error {
						looked++
						return fmt.Errorf("%s, look %d", thing, looked)
					}
					w.running.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						w.repeat(watching, look{thing, watchEvery, at})
					})
				}
				time.Sleep(2*watchEvery + watchEvery/2)
				if all := w.close(); len(all) != len(c.want) || !slices.Equal(noted, c.want) {
					t.Errorf("noted %q, %d in all, want %q", noted, len(all), c.want)
				}
			})
		})
	}
}
