package history

import "testing"

// TestOfNetwork tells errors of links and servers from what somebody answered.
func TestOfNetwork(t *testing.T) {
	for text, want := range map[string]bool{
		"dial tcp 127.0.0.1:1: connect: connection refused": true, "Timeout reading from socket": true, "context deadline exceeded": true, "unexpected EOF": true,
		"NOSCRIPT No matching script. Please use EVAL.": false, "lease lost": false, "READONLY You can't write against a read only replica.": false,
	} {
		if got := OfNetwork(text); got != want {
			t.Errorf("%q of the network: %t", text, got)
		}
	}
}
