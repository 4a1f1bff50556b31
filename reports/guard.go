package reports

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// What a page may do in a browser. Reports need their own style sheet and
// figures, no script and no network. The second opinion's pictures are
// Porcupine's pages and bring a script of theirs: it runs in a sandbox, from
// which no other page here can be read.
const (
	reportPolicy  = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	pictureFolder = "second-opinion"
	picturePolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Guard lets h answer only those who ask for this machine by a name of its own:
// a loopback name or address, or one of hosts. A page elsewhere whose name is
// made to lead here (DNS rebinding) is refused. What h answers is confined to
// what the pages need.
func Guard(h http.Handler, hosts ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		policy := reportPolicy
		if slices.Contains(strings.Split(r.URL.Path, "/"), pictureFolder) {
			policy = picturePolicy
		}
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			w.Header().Set(name, value)
		}
		if !own(r.Host, hosts) {
			http.Error(w, fmt.Sprintf("%q is not a name of this server; torture serve --allow-host NAME adds one", r.Host), http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// own reports whether a request's Host names this server.
func own(host string, hosts []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if addr, err := netip.ParseAddr(name); err == nil && addr.IsLoopback() {
		return true
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(hosts, func(h string) bool { return h != "" && strings.EqualFold(h, name) })
}
