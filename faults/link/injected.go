package link

import "strings"

// beyondStock says when the embedded fabric does not leave a treatment to its
// stock toxic, see faithful.
var beyondStock = map[treatment]string{
	lag:  "; with jitter, or not in whole milliseconds: our toxic",
	pace: "; not in whole kB/s: our toxic",
}

// InjectedBy says which code makes links suffer k: on the embedded fabric, and
// through a toxiproxy server.
func (k Kind) InjectedBy() (embedded, remote string) {
	switch k {
	case Cut:
		return "the proxy, stopped; its port is kept", "the proxy, stopped"
	case Reset:
		return "the client's end of the link, by RST", "the client's end of the link, by RST"
	case StuckConnection:
		return "our toxic, upstream: a stock toxic acts on all connections", "refused"
	case NotifyCut, NotifyLost:
		return "the client's end of the link", "the client's end of the link"
	}
	var toxic, beyond string
	var ways []string
	for _, toward := range []Direction{Up, Down} {
		t, ok := recipes[k][toward]
		if !ok {
			continue
		}
		kind, _ := stock(&effect{treatment: t})
		toxic, beyond, ways = kind, beyondStock[t], append(ways, string(toward))
	}
	remote = "stock `" + toxic + "`, " + strings.Join(ways, " and ")
	if k == BlackHole {
		return remote + "; dials: the dialer, and the proxy's listener for other processes (Linux)", remote + "; dials: the dialer, of this process alone"
	}
	return remote + beyond, remote
}
