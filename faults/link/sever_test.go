package link

import (
	"testing"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// What a connection held when it was severed is destroyed, though the hold was lifted before the
// connection heard of either: a busy machine lets both happen first.
func TestSeveredBeforeTheLiftIsNeverForwarded(t *testing.T) {
	for range 200 { // a select picks one of those that are ready at random
		number, d := newDirection(nil)
		t.Cleanup(func() { directions.Delete(number) })
		in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk, 1)
		stub := toxics.NewToxicStub(in, out)
		f := (&toxic{Direction: number}).NewState().(*flow)
		stub.State = f
		d.lay("stall", &effect{treatment: hold})
		f.receive(&stream.StreamChunk{Data: []byte("SET k v")})
		changed, _ := f.advance()
		select {
		case <-changed:
			t.Fatal("changed before anything was")
		default:
		}

		d.sever()
		d.remove("stall")
		close(in)
		new(toxic).Pipe(stub)

		if chunk := <-out; chunk != nil {
			t.Fatalf("forwarded %q", chunk.Data)
		}
		if p := f.pair.progress.Load(); p.outcome(1, 7) != NeverForwarded {
			t.Errorf("outcome %s", p.outcome(1, 7))
		}
	}
}
