package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// header reads the directives of a header line.
func (p *textParser) header() error {
	for {
		w, ok := p.next()
		if !ok {
			return nil
		}
		if p.flag(w.text) {
			continue
		}
		value, ok := p.next()
		if !ok {
			return fmt.Errorf("%s has no value, or is unknown", w.text)
		}
		if err := setHeader(&p.h.Header, w.text, value.text); err != nil {
			return fmt.Errorf("%s: %w", w.text, err)
		}
	}
}

// flag takes a directive that has no value.
func (p *textParser) flag(word string) bool {
	switch word {
	case "fenced":
		p.h.Header.Fenced = true
	case "truncated":
		p.h.Truncated = true
	case "unchecked-release":
		p.h.Header.OwnerCheckedRelease = new(bool)
	default:
		return false
	}
	return true
}

func setHeader(h *Header, word, value string) (err error) {
	switch word {
	case "lock":
		h.Lock = value
	case "scenario":
		h.Scenario = value
	case "seed":
		h.Seed, err = strconv.ParseUint(value, 10, 64)
	case "nodes":
		h.Nodes, err = strconv.Atoi(value)
	case "quorum":
		h.Quorum, err = strconv.Atoi(value)
	case "ttl":
		h.TTL, err = time.ParseDuration(value)
	case "drift":
		h.Drift, err = time.ParseDuration(value)
	case "epsilon":
		h.Epsilon, err = time.ParseDuration(value)
	case "expected":
		h.Expected = strings.Split(value, ",")
	case "accepted":
		h.Accepted = strings.Split(value, ",")
	case "hosts":
		h.Hosts, err = parseHosts(value)
	case "floors":
		h.Floors, err = parseFloors(value)
	default:
		return fmt.Errorf("unknown directive: want one of those that Parse documents")
	}
	return err
}

func parseHosts(value string) (map[string]Host, error) {
	hosts := map[string]Host{}
	for pair := range strings.SplitSeq(value, ",") {
		name, bound, _ := strings.Cut(pair, "=")
		eps, err := time.ParseDuration(bound)
		if err != nil {
			return nil, fmt.Errorf("host %q: want name=bound", pair)
		}
		hosts[name] = Host{Epsilon: eps}
	}
	return hosts, nil
}

func parseFloors(value string) (map[string]int, error) {
	floors := map[string]int{}
	for pair := range strings.SplitSeq(value, ",") {
		name, n, _ := strings.Cut(pair, "=")
		floor, err := strconv.Atoi(n)
		if err != nil {
			return nil, fmt.Errorf("floor %q: want name=number", pair)
		}
		floors[name] = floor
	}
	return floors, nil
}
