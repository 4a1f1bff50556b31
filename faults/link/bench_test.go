package link

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// BenchmarkRoundTrip tells what a link costs: one SET at a time on one
// connection, straight to the node, through a link, through a tapped link and
// through a link with an idle impairment.
func BenchmarkRoundTrip(b *testing.B) {
	redis := miniredis.NewMiniRedis()
	if err := redis.Start(); err != nil {
		b.Fatal(err)
	}
	defer redis.Close()
	f := NewEmbedded()
	defer func() { _ = f.Close() }()
	open := func(client string) *proxyLink {
		l, err := f.Open(b.Context(), client, "n1", redis.Addr())
		if err != nil {
			b.Fatal(err)
		}
		return l.(*proxyLink)
	}
	direct := &proxyLink{addr: redis.Addr(), conns: map[*conn]struct{}{}}
	tapped, impaired := open("tapped"), open("impaired")
	tapped.Tap(func(TapEvent) {})
	if _, err := impaired.Impair(b.Context(), Impairment{Kind: Delay, Delay: time.Nanosecond}); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		link *proxyLink
	}{{"direct", direct}, {"link", open("plain")}, {"tapped", tapped}, {"delayed by nothing", impaired}} {
		b.Run(c.name, func(b *testing.B) {
			conn, err := c.link.Dial(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			request, reply := []byte(command("SET", "key", "value", "NX", "PX", "1000")), make([]byte, 64)
			for b.Loop() {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := conn.Read(reply); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
