package app

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

func TestRemind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := remind(&out, "judging a\nb")
		time.Sleep(2*reminderEvery + time.Second)
		stop()
		stop()
		if got, want := out.String(), "judging a\\nb: for 10 s\njudging a\\nb: for 20 s\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
