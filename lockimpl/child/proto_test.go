package child

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// Two stamps are as far apart as their instants, whatever else the machine does meanwhile: a
// write would else seem to be issued before the grant under which it was made.
func TestInstantsAreAsFarApartAsTheirStamps(t *testing.T) {
	const apart = 1500
	for range 1000 {
		us := micros()
		if got := instant(us + apart).Sub(instant(us)); got != apart*time.Microsecond {
			t.Fatalf("%v apart, want %d us", got, apart)
		}
	}
	before := time.Now()
	if at := instant(micros()); at.Before(before.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
		t.Errorf("now is %v, want about %v", at, before)
	}
}

// TestKeysThatBearLeases: a child says which they are; one that says nothing means the
// resource's own name, and one that names none has none.
func TestKeysThatBearLeases(t *testing.T) {
	for said, want := range map[string][]string{
		`lock:{{key}}, {key}:q:{key} ,`: {"lock:{k1}", "k1:q:k1"},
		"":                              nil,
		" ":                             nil,
	} {
		keys, err := leaseKeys(said)
		if err != nil {
			t.Fatalf("%q: %v", said, err)
		}
		if got := keys("k1"); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	for clock, want := range map[string][]string{`none`: {"k1"}, `none","keys":"`: nil, `none","keys":"owner:{key}`: {"owner:k1"}} {
		l := open(t, script(t, "ttl", clock, `*) ;;`), nil)
		if got := l.(lockimpl.KeyLister).LeaseKeys("k1"); !slices.Equal(got, want) {
			t.Errorf("init_ok with clock %s: %q, want %q", clock, got, want)
		}
	}
	c := script(t, "ttl", `none","keys":"{key}:a,locks`, `*) ;;`)
	if _, err := c.Factory()(nil); err == nil || !strings.Contains(err.Error(), `"locks" is the same for every resource: want {key} in its place, as in lock:{key}`) {
		t.Errorf("one key for all resources: %v", err)
	}
}
