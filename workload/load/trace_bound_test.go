package load_test

import (
	"strings"
	"testing"

	"locktorture/workload/load"
)

// endless is a file that never ends, such as /dev/zero.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

func TestATraceIsBounded(t *testing.T) {
	_, err := load.ReadTrace(endless(0), "/dev/zero")
	if err == nil || !strings.Contains(err.Error(), "/dev/zero: longer than 67108864 bytes") {
		t.Errorf("%v", err)
	}
}
