package node

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A server is one node at a time: another may be it when its connection has ended for so
// long that nothing is under way any more to which it has answered as the first.
func TestAServerIsOneNodeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Identities{Pause: time.Second}
		meet := func(i int, run string, want error) {
			t.Helper()
			if err := s.Meeter(i)(run); !errors.Is(err, want) {
				t.Errorf("node %d meets %s: %v, want %v", i, run, err, want)
			}
		}
		meet(0, "a", nil)
		meet(1, "b", nil)
		time.Sleep(time.Hour)
		meet(1, "a", ErrSameServer)
		s.Parter(0)()
		meet(1, "a", errMoved)
		time.Sleep(time.Second)
		meet(1, "a", errMoved)
		s.Parter(0)() // a second word of the same end does not begin it anew
		time.Sleep(time.Millisecond)
		meet(1, "a", nil)
		meet(0, "a", ErrSameServer)
		meet(0, "b", nil)
	})
}

// What is permanent is told from what a server may take back.
func TestCommandsThatAServerDoesNotKnowArePermanent(t *testing.T) {
	for text, want := range map[string]bool{
		"ERR unknown command 'EVALSHA', with args beginning with: ":                                  true,
		"ERR Unknown Redis command called from script script: 1f, on @user_script:3.":                true,
		"OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:3.":     false,
		"LOADING Redis is loading the dataset in memory":                                             false,
		"READONLY You can't write against a read only replica. script: 1f, on @user_script:3.":       false,
		"NOPERM this user has no permissions to run the 'info' command":                              true,
		"ERR The user executing the script can't run this command or subcommand script: 1f, on @u:3": true,
	} {
		if got := IsPermanent(ServerError(text)); got != want {
			t.Errorf("%s: permanent %v", text, got)
		}
	}
}
