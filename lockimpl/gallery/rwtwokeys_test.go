package gallery

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
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

// TestTwoKeysAreRefusedByShards asks a server in cluster mode, which owns every
// slot: the two keys of one lock lie in different ones.
func TestTwoKeysAreRefusedByShards(t *testing.T) {
	rdb := redistest.Start(t, "--cluster-enabled", "yes")
	if err := rdb.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	nodes := []lockimpl.Node{{Name: "n1", Addr: rdb.Options().Addr}}
	for _, c := range []struct {
		id     string
		served bool
	}{{"rw-two-keys", false}, {"rw-hash-timestamps", true}} {
		l := open(t, factory(t, c.id), nodes)
		err := served(t.Context(), l, "k")
		if crossed := err != nil && strings.Contains(err.Error(), "CROSSSLOT"); crossed == c.served {
			t.Errorf("%s on a shard: %v, want CROSSSLOT %t", c.id, err, !c.served)
		}
	}
}

// served acquires key as soon as the cluster says that it is up.
func served(ctx context.Context, l lockimpl.Locker, key string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		_, err := l.Acquire(ctx, key, ttl)
		if err == nil || !strings.Contains(err.Error(), "CLUSTERDOWN") || !wait(ctx, 10*time.Millisecond) {
			return err
		}
	}
}
