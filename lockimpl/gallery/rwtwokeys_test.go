package gallery

import (
	"errors"
	"testing"

	"locktorture/lockimpl"
)

func mustShare(t *testing.T, l lockimpl.Locker, key string) lockimpl.Lease {
	t.Helper()
	lease, err := l.(lockimpl.SharedLocker).AcquireShared(t.Context(), key, ttl)
	if err != nil {
		t.Fatalf("acquire %s shared: %v", key, err)
	}
	return lease
}

// TestReaderAndWriterExclude holds the read-write recipes to what they promise
// for one reader and one writer.
func TestReaderAndWriterExclude(t *testing.T) {
	for _, id := range []string{"rw-two-keys", "rw-hash-timestamps"} {
		t.Run(id, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			reader, writer := open(t, factory(t, id), nodes), open(t, factory(t, id), nodes)
			read := mustShare(t, reader, "k")
			mustRefuse(t, writer, "k")
			mustRelease(t, read)
			write := mustAcquire(t, writer, "k")
			if _, err := reader.(lockimpl.SharedLocker).AcquireShared(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("shared beside a writer: %v, want ErrHeld", err)
			}
			mustRelease(t, write)
			mustShare(t, reader, "k")
		})
	}
}

// TestReaderReleasesAllReaders has one of two readers leave: a writer gets in
// beside the other.
func TestReaderReleasesAllReaders(t *testing.T) {
	_, nodes := cluster(t, 1)
	f := factory(t, "rw-two-keys")
	one, two, writer := open(t, f, nodes), open(t, f, nodes), open(t, f, nodes)
	mustShare(t, one, "k")
	leaving := mustShare(t, two, "k")
	mustRefuse(t, writer, "k")
	mustRelease(t, leaving)
	mustAcquire(t, writer, "k")
}
