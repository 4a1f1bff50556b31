package checker

import (
	"fmt"
	"testing"
)

// TestStoredThoughFree: what a node stores under the key's name while somebody is granted the
// key is no lease that was left behind. What may have been removed just before may be one.
func TestStoredThoughFree(t *testing.T) {
	look := func(at int, key, node, stored string) string {
		return fmt.Sprintf("\n%dms witness ok key %s node %s value sample note lock:%[2]s began %[1]dms %[4]s", at, key, node, stored)
	}
	const row, gone = "holder row=7 pttl -1", "pttl -2"
	// left is a key that b has given back, and of which nodes store a row ever since.
	left := func(from int, key string, nodes ...string) (s string) {
		for _, node := range []string{"n1", "n2", "n3"} {
			s += look(from, key, node, gone)
		}
		s += fmt.Sprintf("\n%[1]dms b invoke acquire %[4]s\n%[2]dms b ok acquire %[4]s until %[3]dms\n%[2]dms b invoke release %[4]s\n%[2]dms b ok release %[4]s", from+5, from+6, from+100, key)
		for _, at := range []int{from + 10, from + 80} {
			for _, node := range nodes {
				s += look(at, key, node, row)
			}
		}
		return s
	}
	granted := func(at int, who, key string) string {
		return fmt.Sprintf("\n%[1]dms %[2]s invoke acquire %[3]s\n%[4]dms %[2]s ok acquire %[3]s until %[5]dms\n%[4]dms %[2]s invoke release %[3]s\n%[4]dms %[2]s ok release %[3]s", at, who, key, at+1, at+95)
	}
	// lasting is such a key whose row has an expiry, that many ms ahead at the last look.
	lasting := func(pttl int) string {
		row := func(at int) string { return look(at, "k", "n1", fmt.Sprintf("holder row=7 pttl %d", pttl+80-at)) }
		return left(0, "k") + row(10) + row(80)
	}
	const one, three = "ttl 100ms", "ttl 100ms nodes 3 quorum 2"
	// removed is such a key whose row was removed at some time before the grant: the lock keeps
	// no rows, and its leases expire.
	removed := func(from int, key string, nodes ...string) string {
		s := left(from, key, nodes...) + fmt.Sprintf("\n%[1]dms c invoke acquire %[4]s\n%[2]dms c ok acquire %[4]s until %[3]dms", from+90, from+91, from+185, key)
		for _, node := range nodes {
			s += look(from+95, key, node, "holder row=8 pttl 91")
		}
		s += fmt.Sprintf("\n%[1]dms c invoke release %[2]s\n%[1]dms c ok release %[2]s", from+100, key)
		for _, node := range nodes {
			s += look(from+105, key, node, gone)
		}
		return s
	}
	// busy is a key that was granted to b and given back, and then granted to c, and whose row was seen in between.
	busy := func(from int, between string) string {
		return granted(from+1, "b", "k") + between + look(from+10, "k", "n1", row) + granted(from+20, "c", "k")
	}
	// kept is the same, where who held it did not give it back, and what is told then.
	kept := func(from int, who, then string) string {
		return fmt.Sprintf("\n%[1]dms %[4]s invoke acquire k\n%[2]dms %[4]s ok acquire k until %[3]dms", from+1, from+2, from+95, who) + then +
			look(from+150, "k", "n1", row) + granted(from+160, "c", "k")
	}
	unset, atEnd := look(0, "k", "n1", gone), "\n990ms witness ok key k node n1 holder row=9 pttl -1"
	const finally = "\n990ms witness ok key %s node n1 holder row=9 pttl -1"
	for _, c := range []struct {
		name, header, history string
		want                  int // L8
	}{
		{"granted to another", one, left(0, "k", "n1") + granted(90, "c", "k"), 0},
		{"never granted again", one, left(0, "k", "n1") + granted(90, "c", "other"), 1},
		{"granted to who left it", one, left(0, "k", "n1") + granted(90, "b", "k"), 1},
		{"granted to one of two who asked", one, left(0, "k", "n1") + "\n89ms d invoke acquire k" + granted(90, "c", "k") + "\n92ms d fail acquire k", 1},
		{"granted to the first of two who asked", one, left(0, "k", "n1") + "\n90ms c invoke acquire k\n90ms d invoke acquire k\n91ms c ok acquire k until 180ms\n92ms d fail acquire k", 1},
		{"granted after somebody was refused", one, left(0, "k", "n1") + "\n85ms d invoke acquire k\n86ms d fail acquire k" + granted(90, "c", "k"), 1},
		{"granted after somebody was refused, and a look", one, left(0, "k", "n1") + "\n85ms d invoke acquire k\n86ms d fail acquire k" + look(88, "k", "n1", row) + granted(90, "c", "k"), 0},
		{"granted after somebody was refused, and a look at that moment", one, left(0, "k", "n1") + "\n85ms d invoke acquire k\n86ms d fail acquire k" + look(86, "k", "n1", row) + granted(90, "c", "k"), 1},
		{"with an expiry as far ahead as that of a lease may be at most", one, lasting(1213) + granted(90, "c", "k"), 2},
		{"with an expiry farther ahead", one, lasting(1214) + granted(90, "c", "k"), 1}, // that it is there for so long
		{"granted to a reader", one, left(0, "k", "n1") + "\n90ms c invoke acquire k mode r\n91ms c ok acquire k mode r until 180ms", 1},
		{"granted together with another key", one, left(0, "k", "n1") + "\n90ms c invoke acquire k note multi\n90ms c1 invoke acquire other owner c note multi\n91ms c ok acquire k until 180ms\n91ms c1 ok acquire other owner c until 180ms", 1},
		{"of a server that was restarted before", one, left(0, "k", "n1") + `
			85ms nemesis invoke fault kill-node target {"nodes":["n1"]}
			85ms nemesis ok fault kill-node target {"nodes":["n1"]} receipt gone
			86ms nemesis invoke heal kill-node target {"nodes":["n1"]}
			86ms nemesis ok heal kill-node target {"nodes":["n1"]} receipt back` + granted(90, "c", "k"), 1},
		{"one of three nodes, which the quorum need not have asked", three, left(0, "k", "n1") + granted(90, "c", "k"), 1},
		{"two of three nodes", three, left(0, "k", "n1", "n3") + granted(90, "c", "k"), 0},
		{"two of three nodes, where one is a quorum", "ttl 100ms nodes 3 quorum 1", left(0, "k", "n1", "n3") + granted(90, "c", "k"), 2},
		{"removed, maybe before the grant", one, removed(0, "k", "n1"), 1},
		{"removed, time and again", one, removed(0, "k", "n1") + removed(200, "m", "n1") + removed(400, "o", "n1"), 3},
		{"removed on two of three nodes", three, removed(0, "k", "n1", "n3"), 2},
		{"removed by a fault", one, left(0, "k", "n1") + granted(90, "c", "k") + `
			92ms nemesis invoke fault flush target {"nodes":["n1"]}
			92ms nemesis ok fault flush target {"nodes":["n1"]} receipt gone` + look(95, "k", "n1", gone), 0},
		{"there behind the grant", one, left(0, "k", "n1") + granted(90, "c", "k") + look(95, "k", "n1", "holder row=8 pttl 91") + look(98, "k", "n1", row) + look(99, "k", "n1", gone), 0},
		{"another key's, of which one such text is known of several nodes", three, left(0, "k", "n1", "n3") + granted(90, "c", "k") + left(200, "m", "n1"), 1},
		{"another key's, of which one such text is known", one, left(0, "k", "n1") + granted(90, "c", "k") + left(200, "m", "n1"), 1},
		{"another key's, of which two such texts are known", one, left(0, "k", "n1") + granted(90, "c", "k") + left(200, "m", "n1") + granted(290, "c", "m") + left(400, "o", "n1"), 0},
		{"another key's, that was found before", one, left(0, "o", "n1") + left(100, "k", "n1") + granted(190, "c", "k") + left(200, "m", "n1") + granted(290, "c", "m"), 0},
		{"another key's that expires, of which two such texts for good are known", one, left(0, "k", "n1") + granted(90, "c", "k") + left(200, "m", "n1") + granted(290, "c", "m") +
			left(400, "o") + look(410, "o", "n1", "holder row=7 pttl 95") + look(480, "o", "n1", "holder row=7 pttl 25"), 1},
		{"at the end and expires, of which two such texts for good are known", one, left(0, "k", "n1") + granted(90, "c", "k") + left(200, "m", "n1") + granted(290, "c", "m") +
			"\n990ms witness ok key m node n1 holder row=9 pttl 150", 1},
		{"at the end, and was seen at rest before two grants", one, unset + busy(0, "") + busy(200, "") + atEnd, 0},
		{"at the end, and was seen at rest before one grant", one, unset + busy(0, "") + atEnd, 1},
		{"at the end, and was seen at rest before two grants, and gone behind one", one, unset + busy(0, "") + look(150, "k", "n1", gone) + busy(200, "") + atEnd, 1},
		{"at the end, and was seen before two grants while somebody asked", one,
			unset + busy(0, "\n5ms d invoke acquire k") + "\n25ms d fail acquire k" + busy(200, "\n205ms d invoke acquire k") + "\n225ms d fail acquire k" + atEnd, 2},
		{"at the end, and was seen before two grants when one of unknown outcome might have set it", one,
			unset + busy(0, "\n5ms d invoke acquire k\n6ms d info acquire k") + busy(200, "\n205ms e invoke acquire k\n206ms e info acquire k") + atEnd, 1},
		{"at the end, and was seen before two grants while servers may have kept a lease", one,
			unset + busy(0, "\n3ms d invoke acquire k\n4ms d ok acquire k until 8ms") + busy(200, "\n203ms e invoke acquire k\n204ms e ok acquire k until 208ms") + atEnd, 1},
		{"at the end, and was seen before two grants behind leases that ran out", one,
			unset + kept(0, "b", "") + kept(300, "b", "") + atEnd, 1},
		{"at the end, and was seen before two grants behind releases of unknown outcome", one,
			unset + kept(0, "b", "\n2ms b invoke release k\n2ms b info release k") + kept(300, "d", "\n302ms d invoke release k\n302ms d info release k") + atEnd, 1},
		{"at the end, of which one such text is known", one, left(0, "k", "n1") + granted(90, "c", "k") + fmt.Sprintf(finally, "k"), 1},
		{"at the end, of which two such texts are known", one, left(0, "k", "n1") + granted(90, "c", "k") + left(200, "m", "n1") + granted(290, "c", "m") + fmt.Sprintf(finally, "m"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.header, c.history)
			if len(r.Violations) != c.want || c.want > 0 && r.Violations[0].ID != "L8" {
				t.Errorf("%v, want %d of L8; suspicious: %v", short(r.Violations), c.want, short(r.Suspicious))
			}
		})
	}
}
