package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse reads the faults of a command line: names with a comma between, each
// with what it should be told behind colons.
//
//	latency,kill:empty,pause-client:for=3s,partition-client:at=5s:client=c03
//
// A word without a value is the variant of a fault (kill:empty is kill-empty),
// else a role or the name of a node.
func Parse(text string) ([]Spec, error) {
	var specs []Spec
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("read faults %q: a name is missing", text)
		}
		s, err := parseOne(part)
		if err != nil {
			return nil, fmt.Errorf("read fault %q: %w", part, err)
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// variants are the words that make another fault of one.
var variants = map[string]string{
	"kill:data": "kill", "kill:empty": "kill-empty", "kill:late": "kill-late", "kill:power": "power-loss",
	"partition:client": "partition-client", "partition:node": "partition-node",
	"pause:client": "pause-client", "pause:node": "pause-node",
}

func parseOne(part string) (Spec, error) {
	words := strings.Split(part, ":")
	s := Spec{Fault: words[0]}
	for i := 1; i < len(words); i++ {
		word := words[i]
		if (word == "on=command" || word == "on=reply") && i+1 < len(words) {
			i++
			word += ":" + words[i]
		}
		key, value, told := strings.Cut(word, "=")
		switch variant, known := variants[s.Fault+":"+word]; {
		case known:
			s.Fault = variant
		case !told && slices.Contains([]string{RoleHolder, RoleWaiter}, word):
			s.Client = word
		case !told:
			s.Node = word
		default:
			if err := s.set(key, value); err != nil {
				return Spec{}, err
			}
		}
	}
	return s, nil
}

// set sets the field that key names. A list of names takes "+" between, since
// the comma parts faults.
func (s *Spec) set(key, value string) (err error) {
	times := map[string]*time.Duration{
		"at": &s.At, "then": &s.Then, "within": &s.Within, "for": &s.For, "every": &s.Every,
		"delay": &s.Delay, "jitter": &s.Jitter, "jump": &s.Jump,
	}
	words := map[string]*string{"on": (*string)(&s.On), "by": &s.By, "client": &s.Client, "node": &s.Node, "spread": (*string)(&s.Spread), "direction": &s.Direction}
	switch {
	case times[key] != nil:
		*times[key], err = time.ParseDuration(value)
	case words[key] != nil:
		*words[key] = strings.ReplaceAll(value, "+", ",")
	case key == "rate":
		s.Rate, err = strconv.ParseInt(value, 10, 64)
	case key == "bytes":
		s.Bytes, err = strconv.ParseInt(value, 10, 64)
	case key == "times":
		s.Times, err = strconv.Atoi(value)
	default:
		known := []string{"at", "on", "by", "then", "within", "for", "every", "times", "client", "node", "delay", "jitter", "spread", "rate", "bytes", "direction", "jump"}
		return fmt.Errorf("unknown setting %q%s", key, suggest(key, known))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if key == "at" && s.At == 0 {
		return fmt.Errorf("at: 0s: at=1ms is the beginning; leave it out for a time drawn from the seed")
	}
	return s.explicit(key)
}
