package gallery

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOneSecondIsOneOwner has a holder release late whose second of acquisition
// was that of the present holder, or was not.
func TestOneSecondIsOneOwner(t *testing.T) {
	for _, c := range []struct {
		name  string
		next  time.Duration
		freed bool
	}{{"the same second", 999 * time.Millisecond, true}, {"the next one", time.Second, false}} {
		t.Run(c.name, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			first, second := open(t, TokenHostTime(at(0)), nodes), open(t, TokenHostTime(at(c.next)), nodes)
			third := open(t, TokenHostTime(at(c.next)), nodes)
			late := mustAcquire(t, first, "k")
			servers[0].FastForward(ttl + 1)
			mustAcquire(t, second, "k")
			mustRelease(t, late)
			if c.freed {
				mustAcquire(t, third, "k")
			} else {
				mustRefuse(t, third, "k")
			}
		})
	}
}

// TestTokenNamesItsHost reads the token: second, name and address.
func TestTokenNamesItsHost(t *testing.T) {
	servers, nodes := cluster(t, 1)
	mustAcquire(t, open(t, TokenHostTime(at(0)), nodes), "k")
	token, _ := servers[0].Get("k")
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	address, ok := strings.CutPrefix(token, "1000000000"+name)
	if !ok {
		t.Fatalf("token %q, want the second and %q first", token, name)
	}
	known, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var others []string // but the loopback's
	for _, a := range known {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() {
			others = append(others, ip.IP.String())
		}
	}
	if !slices.Contains(others, address) && len(others)+len(address) > 0 {
		t.Errorf("token %q ends with %q, want one of %v", token, address, others)
	}
}
