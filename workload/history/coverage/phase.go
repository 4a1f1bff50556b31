package coverage

import "fmt"

// A Phase is a phase of a lock's life, as its client sees it.
type Phase uint8

// The phases, and when an operation or a lease is in them.
const (
	AcquireSent    Phase = iota // an acquire is under way that does not wait for anybody
	AcquireReplied              // granted; nothing is written yet
	InSection                   // from the first answered write on, or a reader's first mark, until the release is sent or a loss is told
	RenewalDue                  // held for a third of the TTL since the grant or the last extension, until the next one is sent
	RenewalSent                 // an extension is under way, by hand or by the lock itself
	RenewalReplied              // the moment at which it was answered yes or no
	Expiry                      // the moment at which the promise of a lease ran out while its owner had not let go
	ReleaseSent                 // a release is under way
	ReleaseReplied              // the moment at which it was answered yes or no
	Waiting                     // an acquire that waits inside the lock, while somebody holds its key
	Woken                       // one that has waited, from the end of that hold until it is answered or somebody else is granted the key

	phases
)

var phaseNames = [phases]string{
	"acquire sent", "acquire replied", "in section", "renewal due", "renewal sent", "renewal replied", "expiry",
	"release sent", "release replied", "waiting", "woken",
}

// Phases lists all phases in the order of a lock's life.
func Phases() (all []Phase) {
	for p := range phases {
		all = append(all, p)
	}
	return all
}

func (p Phase) String() string { return name(phaseNames[:], int(p)) }

// MarshalText implements encoding.TextMarshaler.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Phase) UnmarshalText(text []byte) error {
	i, err := find(phaseNames[:], string(text), "phase")
	*p = Phase(i)
	return err
}

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("?%d", i)
}

func find(names []string, text, what string) (int, error) {
	for i, name := range names {
		if name == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q of %q", what, text, names)
}
