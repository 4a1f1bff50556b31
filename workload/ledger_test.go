package workload_test

import (
	"context"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

func TestLedger(t *testing.T) {
	for _, test := range []struct {
		policy store.Policy
		want   []bool
	}{
		{store.Fenced, []bool{true, true, false, true, true}},
		{store.Unfenced, []bool{true, true, true, true, true}},
		{store.AcceptOlder, []bool{true, true, true, true, true}},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			var issued time.Time
			events := record(t, func(rec *history.Recorder) {
				l := workload.NewLedger(rec, test.policy)
				issued = time.Now()
				l.Record(workload.Effect{Key: "k", Owner: "a", Fence: 1, Value: "a1", Issued: issued})
				l.Record(workload.Effect{Key: "k", Owner: "b", Fence: 2, Value: "b1"})
				l.Record(workload.Effect{Key: "k", Owner: "a", Fence: 1, Value: "a2"})
				l.Record(workload.Effect{Key: "k", Owner: "b", Fence: 2, Value: "b2"})
				l.Record(workload.Effect{Key: "j", Owner: "a", Fence: 1, Value: "a3"})
				l.RecordAudit()
				l.Record(workload.Effect{Key: "j", Owner: "a", Fence: 1, Value: "a4"})
			})
			if late := events[max(len(events)-2, 0):]; len(late) != 2 || late[0].Op != history.Write || late[1].Op != history.Audit || late[1].Value != "a4" || late[1].Seq != late[0].Seq {
				t.Errorf("of a write that came behind the audit the log says %+v", late)
			}
			if len(events) != 18 || !events[0].HasAll(history.HasBegan) || events[0].Began > events[0].Time {
				t.Fatalf("events %+v", events)
			}
			for i, accepted := range test.want {
				told, logged := events[2*i+1], events[10+i]
				if (told.Kind == history.OK) != accepted || told.Kind != logged.Kind {
					t.Errorf("write %d: told %s, logged %s, want accepted %v", i, told.Kind, logged.Kind, accepted)
				}
				if seq := uint64(i + 1); told.Seq != seq || logged.Seq != seq || logged.Value != told.Value {
					t.Errorf("write %d: told %+v, logged %+v", i, told, logged)
				}
			}
		})
	}
}

// A client without a store writes by itself: the workload locks for it, names
// it, and takes its lease's word for when it was acquired.
func TestClientThatWritesItself(t *testing.T) {
	shared := &table{cells: map[string]*cell{}}
	var names []string
	c := &workload.Client{Name: "a", Connect: func(context.Context) (*workload.Conn, error) {
		return &workload.Conn{
			Locker: timedLock{&tableLock{shared, "a"}},
			Close:  func() error { return nil },
			Named:  func(owner string) { names = append(names, owner) },
		}, nil
	}}
	events := record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, load(), []*workload.Client{c}, times(5, of(history.Release, history.OK)))
	})
	grants := count(events, func(e *history.Event) bool {
		return e.Op == history.Acquire && e.Kind == history.OK && e.HasAll(history.HasBegan|history.HasEnded) && e.Ended-e.Began == time.Microsecond
	})
	releases := count(events, func(e *history.Event) bool {
		return e.Op == history.Release && e.Kind != history.Invoke && !(e.HasAll(history.HasBegan|history.HasEnded) && e.Ended-e.Began == 2*time.Microsecond)
	})
	if releases != 0 {
		t.Errorf("%d releases without their own times", releases)
	}
	effects := count(events, func(e *history.Event) bool { return e.Op == history.Read || e.Op == history.Write })
	if grants == 0 || effects != 0 {
		t.Errorf("%d grants with their own times, %d reads and writes", grants, effects)
	}
	if len(names) != 1 || names[0] != "a" {
		t.Errorf("named %q", names)
	}
}

type timedLock struct{ *tableLock }

func (l timedLock) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	began := time.Now()
	lease, err := l.tableLock.Acquire(ctx, key, ttl)
	return &timedLease{lease, began, time.Microsecond}, err
}

type timedLease struct {
	lockimpl.Lease
	began time.Time
	took  time.Duration
}

func (l *timedLease) Took() (began, ended time.Time) { return l.began, l.began.Add(l.took) }

func (l *timedLease) Release(ctx context.Context) error {
	l.began, l.took = time.Now(), 2*time.Microsecond
	return l.Lease.Release(ctx)
}
