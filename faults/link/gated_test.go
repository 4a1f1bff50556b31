package link

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"locktorture/faults/link/gate"
)

func TestGateUnderLoad(t *testing.T) {
	r := newRig(t, NewEmbedded())
	g := gate.New()
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for g.Wait(t.Context()) == nil {
				c, err := g.Dial(t.Context(), r.link.Dial)
				for range 20 {
					if err == nil {
						_, err = c.Write([]byte(command("PING")))
					}
					if err == nil {
						_, err = c.Read(make([]byte, 64))
					}
				}
				if c != nil {
					_ = c.Close()
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		g.Pause()
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
		g.Resume()
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
	}
	g.Pause()
	g.Sever()
	workers.Wait()
}
