package reference

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"locktorture/workload/history"
)

// Text renders a history as history.Parse reads it.
func Text(h history.History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "header lock drawn ttl %v drift %v epsilon %v", h.Header.TTL, h.Header.Drift, h.Header.Epsilon)
	if h.Header.Fenced {
		b.WriteString(" fenced")
	}
	if o := h.Header.OwnerCheckedRelease; o != nil && !*o {
		b.WriteString(" unchecked-release")
	}
	if h.Truncated {
		b.WriteString(" truncated")
	}
	if n := h.Header.Nodes; n > 1 {
		fmt.Fprintf(&b, " nodes %d quorum %d", n, h.Header.Quorum)
	}
	for i, name := range slices.Sorted(maps.Keys(h.Header.Hosts)) {
		fmt.Fprintf(&b, "%s%s=%v", []string{" hosts ", ","}[min(i, 1)], name, h.Header.Hosts[name].Epsilon)
	}
	for i := range h.Events {
		b.WriteByte('\n')
		line(&b, &h.Events[i])
	}
	b.WriteByte('\n')
	return b.String()
}

func line(b *strings.Builder, e *history.Event) {
	process := map[int]string{history.Nemesis: "nemesis", history.Store: "store", history.Link: "link", history.Witness: "witness"}[e.Process]
	if process == "" {
		process = "c" + strconv.Itoa(e.Process)
	}
	fmt.Fprintf(b, "%v %s %v %v", e.Time, process, e.Kind, e.Op)
	word := func(name string, there bool, value any) {
		if there {
			fmt.Fprintf(b, " %s %v", name, value)
		}
	}
	word("", e.Op == history.Phase || e.Op == history.Receipt, e.Value)
	word("", e.Op == history.Fault || e.Op == history.Heal, e.Fault)
	word("", e.Key != "", e.Key)
	word("owner", e.Owner != "", e.Owner)
	word("mode", e.Mode == history.Shared, "r")
	word("fence", e.Fence != 0, e.Fence)
	word("until", e.HasAll(history.HasValidUntil), e.ValidUntil)
	word("value", e.Value != "" && e.Key != "", strconv.Quote(e.Value))
	word("seq", e.HasAll(history.HasSeq), e.Seq)
	word("base", e.HasAll(history.HasBase), e.Base)
	word("began", e.HasAll(history.HasBegan), e.Began)
	word("ended", e.HasAll(history.HasEnded), e.Ended)
	word("of", e.HasAll(history.HasOf), e.Of)
	word("host", e.Host != "", e.Host)
	word("node", e.Node != "", e.Node)
	word("holder", e.Holder != "", e.Holder)
	word("pttl", e.HasAll(history.HasPTTL), e.PTTL)
	word("note", e.Note != "", strconv.Quote(e.Note))
	word("target", e.Target != nil, "n1")
	word("instant", e.Instant, "")
	word("receipt", e.Receipt != "", strconv.Quote(e.Receipt))
	word("err", e.Err != "", strconv.Quote(e.Err))
}
