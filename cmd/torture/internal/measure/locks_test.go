package measure

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
	"locktorture/lockimpl/peers/rueidislock"
)

// Rivals are measured as their descriptions say, which every report prints: the versions
// are those that are built in, they poll as often, and take as many keys.
func TestRivalsAreSetAsTheyAreDescribed(t *testing.T) {
	mod, err := os.ReadFile("../../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	server := miniredis.RunT(t)
	const ms = time.Millisecond
	for id, want := range map[string]struct {
		says        []string
		least, most time.Duration // between two tries; 0: it waits for notices
		keys        int
	}{
		"redsync":             {[]string{"as it comes", "polls every 50 to 250 ms"}, 50 * ms, 250 * ms, 1},
		"redsync-fast":        {[]string{"WithFailFast", "polls every 1 ms"}, ms, ms, 1},
		"redislock":           {[]string{"polls every 1 ms"}, ms, ms, 1},
		"rueidislock":         {[]string{"KeyMajority 1, NoLoopTracking", "one key"}, 0, 0, 1},
		"rueidislock-default": {[]string{"two of three keys"}, 0, 0, 3},
	} {
		i := slices.IndexFunc(Contestants, func(c Contestant) bool { return c.ID == id })
		if i < 0 {
			t.Fatalf("%s is not measured", id)
		}
		c := Contestants[i]
		for _, words := range want.says {
			if !strings.Contains(c.About, words) {
				t.Errorf("%s: %q does not say %q", id, c.About, words)
			}
		}
		for _, named := range regexp.MustCompile(`([a-z-]+) (v[0-9.]+)`).FindAllStringSubmatch(c.About, -1) {
			library := strings.TrimPrefix(named[1], "bsm/")
			if library == "rueidislock" { // a package of rueidis
				library = "rueidis"
			}
			if !regexp.MustCompile(`/` + library + `(/v\d+)? ` + regexp.QuoteMeta(named[2]) + `\s`).Match(mod) {
				t.Errorf("%s is described as %s, which is not the version that is built in", id, named[0])
			}
		}
		l, err := c.Factory("x")([]lockimpl.Node{{Addr: server.Addr()}})
		if err != nil {
			t.Fatal(err)
		}
		_, waits := l.(lockimpl.WaitLocker)
		if keys := l.(lockimpl.KeyLister).LeaseKeys("k"); len(keys) != want.keys {
			t.Errorf("%s takes %d keys, want %d", id, len(keys), want.keys)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		least, most := time.Hour, time.Duration(0)
		rng := rand.New(rand.NewPCG(1, 1))
		for range 2000 {
			d := ms // of a load, unless the lock says otherwise
			if c.Pause != nil {
				d = c.Pause(rng)
			}
			least, most = min(least, d), max(most, d)
		}
		if waits != (want.most == 0) || !waits && (least < want.least || least > want.least+2*ms || most > want.most || most < want.most-2*ms) {
			t.Errorf("%s waits for notices: %t; else it polls every %v to %v; want %v to %v", id, waits, least, most, want.least, want.most)
		}
	}
	if rueidislock.ForOneServer != (rueidislock.Options{KeyMajority: 1, NoLoopTracking: true}) {
		t.Errorf("for one server: %+v", rueidislock.ForOneServer)
	}
}
