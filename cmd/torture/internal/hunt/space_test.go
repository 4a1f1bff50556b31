package hunt

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/workload"
)

// TestModesOfAChild: a lock in a process of its own is asked what it can do, and hunted in
// each mode that it serves.
func TestModesOfAChild(t *testing.T) {
	script := filepath.Join(t.TempDir(), "lock.sh")
	const text = `while read -r line; do
  case $line in
  *'"quit"'*) echo "{\"t\":\"bye\",\"re\":2}"; exit;;
  *'"init"'*) echo "{\"t\":\"init_ok\",\"re\":1,\"lib\":\"sh\",\"caps\":\"$1\",\"clock\":\"none\"}";;
  esac
done
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for caps, want := range map[string][]workload.Mode{
		"ttl,extend": {workload.ModeMixed, workload.ModeExclusive},
		"ttl,rw":     {workload.ModeMixed, workload.ModeExclusive, workload.ModeRW},
		"reentrant":  {workload.ModeMixed, workload.ModeExclusive, workload.ModeReentrant},
	} {
		base, err := Base()
		if err != nil {
			t.Fatal(err)
		}
		base.Lock = "exec:/bin/sh " + script + " " + caps
		l, err := catalogue.Builtin().Find(base.Lock)
		if err != nil {
			t.Fatal(err)
		}
		if got := modes(t.Context(), base, l); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", caps, got, want)
		}
	}
}
