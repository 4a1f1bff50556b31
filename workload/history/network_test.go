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

// TestUnanswered tells servers that did not answer from a key that is held.
func TestUnanswered(t *testing.T) {
	for text, want := range map[string]bool{
		"dial tcp 127.0.0.1:1: connect: connection refused": true, "Timeout reading from socket": true, "unexpected EOF": true, "no such host": true,
		"no quorum of nodes granted the lock: node n2: read tcp 127.0.0.1:1->127.0.0.1:2: i/o timeout": true, "not sent: the caller is gone": true,
		"": false, "held": false, "lock not obtained": false, "refused": false, "timed out waiting for the lock": false, "context deadline exceeded": false,
	} {
		if got := Unanswered(text); got != want {
			t.Errorf("%q unanswered: %t", text, got)
		}
	}
}
