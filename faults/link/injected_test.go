package link

import (
	"slices"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// stockTypes lists the stock toxics at work on a link.
func stockTypes(t *testing.T, a *applied, server *toxiproxy.ApiServer) (types []string) {
	t.Helper()
	if server == nil {
		for _, spec := range a.toxics {
			if !spec.effect.stock {
				t.Errorf("%s is not left to a stock toxic", spec.name)
			}
			kind, _ := stock(spec.effect)
			types = append(types, "stock `"+kind+"`")
		}
		return types
	}
	for _, p := range server.Collection.Proxies() {
		for _, toxic := range p.Toxics.GetToxicArray() {
			types = append(types, "stock `"+toxic.(*toxics.ToxicWrapper).Type+"`")
		}
	}
	return types
}

// What InjectedBy says is what runs.
func TestInjectedBy(t *testing.T) {
	for kind := range recipes {
		if kind == StuckConnection {
			continue // TestStuckConnectionIsOurs
		}
		t.Run(string(kind), func(t *testing.T) {
			i := Impairment{Kind: kind, Delay: time.Millisecond, Rate: 2000, Bytes: 2}
			embedded, remote := kind.InjectedBy()
			api, server := startToxiproxy(t)
			for _, c := range []struct {
				says   string
				rig    *rig
				server *toxiproxy.ApiServer
			}{
				{embedded, newRig(t, NewEmbedded()), nil},
				{remote, newRig(t, NewRemote(RemoteConfig{API: api, RunID: "by", FirstPort: 25000, LastPort: 25999})), server},
			} {
				types := stockTypes(t, c.rig.impair(i), c.server)
				if len(types) != len(recipes[kind]) || slices.ContainsFunc(types, func(toxic string) bool { return !strings.HasPrefix(c.says, toxic) }) {
					t.Errorf("says %q; at work are %q", c.says, types)
				}
			}
		})
	}
}

// TestStuckConnectionIsOurs: no stock toxic tells one connection from another.
func TestStuckConnectionIsOurs(t *testing.T) {
	a := newRig(t, NewEmbedded()).impair(Impairment{Kind: StuckConnection})
	if len(a.toxics) != 1 || a.toxics[0].effect.stock {
		t.Errorf("at work: %+v, want one toxic of ours", a.toxics)
	}
	if embedded, remote := StuckConnection.InjectedBy(); !strings.HasPrefix(embedded, "our toxic") || remote != "refused" {
		t.Errorf("says %q, %q", embedded, remote)
	}
}
