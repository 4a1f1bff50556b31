package waiting

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A client that tries to write under many names keeps none of them for long.
func TestIntentsThatHaveEndedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Intents
		for i := range 100_000 {
			s.Set(fmt.Sprint("key-", i), time.Now().Add(500*time.Millisecond))
			time.Sleep(time.Millisecond)
		}
		if kept := len(s.byKey); kept > 2000 {
			t.Errorf("%d intents are kept, of which 500 are alive", kept)
		}
		s.Set("alive", time.Now().Add(time.Second))
		if !s.Alive("alive") || s.Alive("key-1") {
			t.Error("the wrong ones are alive")
		}
	})
}
