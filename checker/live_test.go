package checker

import "testing"

// TestLiveBoundaries counts violations as they are proved, and not before: a hold may
// end within the clocks' uncertainty yet, and a write is placed as soon as no open one
// can precede it.
func TestLiveBoundaries(t *testing.T) {
	const two = `
		 0ms a invoke acquire k
		 1ms a ok acquire k until 100ms
		 9ms b invoke acquire k
		10ms b ok acquire k until 109ms
		11ms c invoke acquire l
		11ms c ok acquire l until 100ms
		12ms d invoke acquire l
		13ms d ok acquire l until 109ms`
	const stale = `
		 0ms a invoke acquire k
		 1ms a ok acquire k fence 1 until 2ms
		 2ms b invoke acquire k
		 3ms b ok acquire k fence 2 until 103ms
		 4ms b invoke write k fence 2 value b1
		 5ms b ok write k fence 2 value b1 seq 5
		 6ms a invoke write k fence 1 value a1`
	for _, c := range []struct {
		name, header, history string
		want                  int
	}{
		{"two pairs, and nothing has passed", "ttl 100ms epsilon 5ms", two, 0},
		{"when the first one's uncertainty ends", "ttl 100ms epsilon 5ms", two + "\n15ms e invoke acquire m", 0},
		{"and it is released then", "ttl 100ms epsilon 5ms", two + "\n15ms a invoke release k\n16ms a ok release k", 0},
		{"just behind it", "ttl 100ms epsilon 5ms", two + "\n15.000001ms e invoke acquire m", 1},
		{"when the second one's ends", "ttl 100ms epsilon 5ms", two + "\n17ms e invoke acquire m\n18ms c invoke release l\n19ms c ok release l", 1},
		{"the second released when its own ends, the first one's over", "ttl 100ms epsilon 5ms", two + "\n18ms c invoke release l\n19ms c ok release l", 1},
		{"just behind that", "ttl 100ms epsilon 5ms", two + "\n17ms e invoke acquire m\n18.000001ms e fail acquire m", 2},
		{"both at once", "ttl 100ms epsilon 5ms", two + "\n19ms e invoke acquire m", 2},
		{"a stale write, and one open that comes later", "ttl 100ms fenced", stale + `
			 7ms b0 invoke write k owner b fence 2 value b2
			 8ms a ok write k fence 1 value a1 seq 6`, 0},
		{"a stale write that lies before", "ttl 100ms fenced", `
			 0ms x invoke acquire x
			 0ms x ok acquire x until 100ms
			 0ms x invoke write x value x1` + stale + `
			 6ms x ok write x value x1 seq 6
			 7ms b0 invoke write k owner b fence 2 value b2
			 8ms a ok write k fence 1 value a1 seq 6`, 1},
	} {
		h := parse(t, c.header, c.history)
		j := New(h.Header, Options{})
		for i := range h.Events[:len(h.Events)-1] {
			j.Event(&h.Events[i])
		}
		if got := j.Live().Violations; got != c.want {
			t.Errorf("%s: %d violations, want %d", c.name, got, c.want)
		}
	}
}
