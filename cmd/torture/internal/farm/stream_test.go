package farm

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// TestStreamIsMadeWhileTheLastIsDeleted: a server removes the folder of its streams when
// the last one is gone, which may be while the next one is made.
func TestStreamIsMadeWhileTheLastIsDeleted(t *testing.T) {
	h, err := OpenHub(Access{URL: address(t)}, t.TempDir(), 0, "test", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	js, err := jetstream.New(h.Conn)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		name := string(rune('a' + i%2))
		if _, err := MakeStream(t.Context(), js, jetstream.StreamConfig{Name: name, Subjects: []string{name}, Storage: jetstream.FileStorage}); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
		if err := js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}
