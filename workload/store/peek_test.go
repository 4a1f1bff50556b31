package store_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/workload/store"
)

func TestAuditReportsDamage(t *testing.T) {
	onBoth(t, func(t *testing.T, dial dialer) {
		rdb := raw(t, dial)
		for _, cut := range []string{"2-0", "3-0"} {
			c := open(t, dial, store.Fenced)
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if _, err := c.Write(t.Context(), store.Write{Key: "k", Value: fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := rdb.XDel(t.Context(), "locktorture:log", cut).Err(); err != nil {
				t.Fatal(err)
			}
			if err := c.Audit(t.Context(), func(store.Entry) error { return nil }); err == nil {
				t.Errorf("entry %s is gone and Audit did not say so", cut)
			}
		}
	})
}

func TestPeek(t *testing.T) {
	onBoth(t, func(t *testing.T, dial dialer) {
		ctx, rdb := t.Context(), raw(t, dial)
		rdb.Set(ctx, "text", "me", time.Minute)
		rdb.HSet(ctx, "hash", "o", "me", "v", 7)
		rdb.ZAdd(ctx, "zset", redis.Z{Score: 1, Member: "r1"}, redis.Z{Score: 2, Member: "r2"})
		got, err := store.Peek(ctx, dial, []string{"text", "hash", "zset", "none"})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].PTTL <= 0 || got[0].PTTL > time.Minute {
			t.Errorf("text has %v left", got[0].PTTL)
		}
		got[0].PTTL = 0
		want := []store.Found{
			{Key: "text", Holder: "me"},
			{Key: "hash", PTTL: store.NoExpiry, Holder: "o=me v=7"},
			{Key: "zset", PTTL: store.NoExpiry, Holder: "r1 r2"},
			{Key: "none", PTTL: store.Absent},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("peek %+v, want %+v", got, want)
		}
	})
}
