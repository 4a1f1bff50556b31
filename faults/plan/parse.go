package plan

import (
	"fmt"
	"slices"
	"strings"

	"locktorture/faults"
)

// Parse reads the faults of a command line: names with a comma between, each
// with what it should be told behind colons.
//
//	latency,kill:empty,pause-client:for=3s,partition-client:at=5s:client=c03
//
// A word without a value is the variant of a fault (kill:empty is kill-empty),
// else a role or the name of a node.
func Parse(text string) ([]faults.Spec, error) {
	var specs []faults.Spec
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

func parseOne(part string) (faults.Spec, error) {
	words := strings.Split(part, ":")
	s := faults.Spec{Fault: words[0]}
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
		case !told && slices.Contains(faults.OneClient(), word):
			s.Client = word
		case !told:
			s.Node = word
		default:
			if err := s.Set(key, value); err != nil {
				return faults.Spec{}, err
			}
		}
	}
	return s, nil
}
