package gallery

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// TokenHostTime is the recipe `token-host-time`, for a client whose clock is
// now.
//
// Acquire: SET key token NX EX ttl (PX where ttl is not in whole seconds), where
// token is the Unix time in whole seconds, the host's name and the host's
// address, one after the other. Release: GET, compare the token and DEL, in one
// script, whose reply is ignored. Nothing is scaled.
//
// Flaw: two threads of one host that acquire within the same second bear the same
// token. When one has taken over from the other, the late release of the other
// frees its lock (S5), and lets a third client in (S1).
//
// Shown by: pausing a holder beyond a TTL that is short against a second.
// Corrected by: `token-lua`, whose token is random.
func TokenHostTime(now func() time.Time) lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return tokenHostTime{m, now} })
}

func tokenHostTimeRecipe() Recipe {
	return Recipe{
		ID: "token-host-time", Unchecked: true,
		Flaw:        "a token of second, host name and address: two threads of a host are one owner",
		Needs:       "pause the holder beyond a TTL that is short against a second, and let it release",
		Expected:    []string{"S5", "S1"},
		CorrectedBy: "token-lua",
		Nodes:       1,
		Factory:     TokenHostTime(time.Now),
		WithClock:   TokenHostTime,
	}
}

type tokenHostTime struct {
	master
	now func() time.Time
}

func (l tokenHostTime) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start, token := time.Now(), fmt.Sprint(l.now().Unix())+host()
	ok, err := l.rdb.SetNX(ctx, key, token, ttl).Result()
	return granted(ok, err, &lease{until: start.Add(ttl), release: func(ctx context.Context) error {
		return letGo(ctx, l.rdb, key, token)
	}})
}

// host is this host's name and its first address: empty where it has none.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() {
			return name + ip.IP.String()
		}
	}
	return name
})
