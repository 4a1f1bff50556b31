package hunt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/faults/testbed"
	"locktorture/reports"
	"locktorture/workload/history"
)

func chosen(t *testing.T, only ...string) map[string]BlindRow {
	t.Helper()
	b := Blind{Locks: catalogue.Builtin(), Only: only}
	rows, err := b.Chosen()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]BlindRow{}
	for _, r := range rows {
		key := r.Lock + " " + r.statedWords()
		if r.Corrected {
			key += ", corrected"
		}
		if _, twice := all[key]; twice {
			t.Errorf("two rows for %s", key)
		}
		all[key] = r
	}
	return all
}

// TestBlindRows: every shelf is there, with what is stated of each lock, and the
// locks that correct them.
func TestBlindRows(t *testing.T) {
	all := chosen(t)
	for _, want := range []string{
		"quorum-2 S1 S9", "redlock nothing at all, corrected", "single nothing at all, corrected", "quorum-2-twin nothing at all, corrected",
		"redlock-plain S10 S1",                                                            // without S3z, which every unfenced lock shows
		"redis-py S3z",                                                                    // where nothing else is stated
		"redisson-hash L1 L8 S1", "set-nx-ex-del S5 S1", "set-nx-ex-del L1 L8, corrected", // a recipe that corrects another one, and not in all
	} {
		if _, ok := all[want]; !ok {
			t.Errorf("no row %q", want)
		}
	}
	for _, id := range []string{
		"amnesia-early-seed S4 S4b S2",
		"sentinel-wait nothing at all, corrected", // whose own flaw is what it makes more seldom in others
	} {
		if r := all[id]; r.Outcome != NotTried || r.Why == "" {
			t.Errorf("%s: %+v", id, r)
		}
	}
	b := Blind{Locks: catalogue.Builtin(), Only: []string{"quorum-3"}}
	if _, err := b.Chosen(); err == nil || !strings.Contains(err.Error(), `did you mean "quorum-2"?`) {
		t.Errorf("an unknown lock: %v", err)
	}
}

// A lock that waits for replicas is looked at where there are some, and under leases that
// outlast what a deployment takes to be of one mind again.
func TestBlindBeds(t *testing.T) {
	locks := catalogue.Builtin()
	for id, want := range map[string]string{"sentinel-wait": testbed.KindSentinel, "sentinel": testbed.KindAuto, "redlock": testbed.KindAuto} {
		if got := bedOf(locks[id], testbed.KindAuto); got != want {
			t.Errorf("%s on %s, want %s", id, got, want)
		}
	}
	h := &Hunt{cfg: Config{Lock: locks["sentinel-wait"], Forgets: true}, exec: &executor{}, limiter: newLimiter(1)}
	h.base.Testbed, h.base.TTL = testbed.KindSentinel, time.Second
	space, _ := h.space(t.Context())
	if !slices.Contains(space.TTLs, 8*time.Second) || space.Longest <= 8*time.Second || !slices.Contains(space.Faults, "kill-empty") {
		t.Errorf("leases %v in rounds of %v, faults %v", space.TTLs, space.Longest, space.Faults)
	}
}

// TestBlindPlainRun: what the plain run shows ends a row; trouble says nothing.
func TestBlindPlainRun(t *testing.T) {
	for name, c := range map[string]struct {
		lock string
		run  *reports.Run
		err  error
		want string
	}{
		"trouble":      {"redlock", &reports.Run{Harness: []string{"no port"}}, nil, NoAnswer},
		"never begins": {"redlock", nil, errors.New("no port"), NoAnswer},
		"clean":        {"redlock", &reports.Run{}, nil, Clean},
		"not found":    {"quorum-2", &reports.Run{}, nil, NotFound},
		"busy":         {"quorum-2", &reports.Run{Report: checker.Report{Inconclusive: []checker.Finding{{ID: "V4"}}}}, nil, NoAnswer},
	} {
		var told []BlindRow
		b := Blind{
			Locks: catalogue.Builtin(), Only: []string{c.lock}, Budget: 50 * time.Millisecond, Plain: time.Second, Seed: 1, Jobs: 1, Out: t.TempDir(),
			Row: func(r BlindRow) { told = append(told, r) },
			Play: func(_ context.Context, _ config.Config, o run.Options) (*reports.Run, error) {
				if c.run != nil {
					for _, s := range o.Begin(run.Beginning{Header: history.Header{TTL: time.Second}}) {
						s.Event(&history.Event{Op: history.Acquire, Kind: history.Invoke})
					}
				}
				return c.run, c.err
			},
		}
		rows, err := b.Rows(t.Context())
		if err != nil || len(rows) != 1 || rows[0].Outcome != c.want || len(told) != 1 {
			t.Errorf("%s: %+v, %v; want %s", name, rows, err, c.want)
		}
	}
}

func TestBlindTables(t *testing.T) {
	rows := []BlindRow{
		{Lock: "a", Category: catalogue.Recipes, Stated: []string{"S1", "S5"}, Outcome: ByRun, ID: "S5", Took: 3 * time.Second, Operations: 1200},
		{Lock: "b", Category: catalogue.Mutants, Stated: []string{"S1"}, Outcome: ByHunt, ID: "S1", Took: 90 * time.Second, Operations: 50_000, Rounds: 12},
		{Lock: "c", Category: catalogue.Mutants, Stated: []string{"S2"}, Outcome: NotFound, Took: 600 * time.Second},
		{Lock: "d", Category: catalogue.Mutants, Outcome: NotTried, Why: "virtual time alone"},
		{Lock: "redlock", Category: catalogue.Full, Outcome: Clean},
		{Lock: "single", Category: catalogue.Full, Outcome: Accused, ID: "S1"},
	}
	s := SumBlind(rows)
	if s.Flaws != 3 || s.Runs != 1 || s.Hunts != 1 || s.Controls != 1 || s.Median != 46500*time.Millisecond || s.Slowest != 90*time.Second ||
		!slices.Equal(s.Missed, []string{"c"}) || !slices.Equal(s.Accused, []string{"single"}) || !slices.Equal(s.NotTried, []string{"d"}) {
		t.Errorf("%+v", s)
	}
	var text, markdown bytes.Buffer
	if err := errors.Join(BlindTable(&text, rows), BlindMarkdown(&markdown, rows)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 3 flaws found, 1 by the plain run and 1 by the hunt", "not found: c", "accused: single", "d: virtual time alone"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if want := "| `b` | S1 | hunt | S1 | 90.0 |"; !strings.Contains(markdown.String(), want) {
		t.Errorf("no %q in\n%s", want, markdown.String())
	}
	ok := 0
	for _, r := range rows {
		if r.OK() {
			ok++
		}
	}
	if ok != 4 {
		t.Errorf("%d rows as they should be", ok)
	}
}

// TestBlindGoesOn: what is done is written down and not played again, and what was
// under way when the time ended is not taken for an answer.
func TestBlindGoesOn(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	played := map[string]int{}
	var mu sync.Mutex
	blind := func(done []BlindRow) *Blind {
		return &Blind{
			Locks: catalogue.Builtin(), Only: []string{"quorum-2", "redlock", "single"}, Budget: 50 * time.Millisecond, Plain: time.Second, Seed: 1, Jobs: 1, Done: done, Out: dir,
			Row: func(BlindRow) {},
			Play: func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
				mu.Lock()
				defer mu.Unlock()
				if played[c.Lock]++; c.Lock == "redlock" && ctx.Err() == nil && len(done) == 0 {
					cancel()
				}
				o.Begin(run.Beginning{Header: history.Header{TTL: time.Second}})
				return &reports.Run{Interrupted: ctx.Err() != nil}, nil
			},
		}
	}
	rows, err := blind(nil).Rows(ctx)
	if err != nil || len(rows) != 1 || rows[0].Lock != "quorum-2" {
		t.Fatalf("%+v, %v", rows, err)
	}
	record := BlindRecord{Schema: 1, Budget: time.Minute, Seed: 5, Only: []string{"a"}, Rows: rows}
	if err := record.Save(dir); err != nil {
		t.Fatal(err)
	}
	again, err := LoadBlind(dir)
	if err != nil || again.Budget != time.Minute || again.Seed != 5 || len(again.Rows) != 1 || !slices.Equal(again.Missed, []string{"quorum-2"}) {
		t.Fatalf("%+v, %v", again, err)
	}
	before := played["quorum-2"]
	if rows, err = blind(again.Rows).Rows(t.Context()); err != nil || len(rows) != 3 || played["quorum-2"] != before || played["single"] == 0 {
		t.Errorf("%d rows, %v, played %v", len(rows), err, played)
	}
	if _, err := LoadBlind(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no blind selftest") {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestBlindTrend: each record is a line of its own, also behind one that was cut short.
func TestBlindTrend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trend.jsonl")
	if err := os.WriteFile(path, []byte(`{"schema":1,"ro`), 0o600); err != nil {
		t.Fatal(err)
	}
	record := BlindRecord{Schema: 1, Rows: []BlindRow{{Lock: "a", Outcome: ByHunt, ID: "S1", Took: time.Second, Run: "/somewhere"}}}
	for range 2 {
		if err := record.AppendTrend(path); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), "/somewhere") {
		t.Fatalf("%v, %s", err, raw)
	}
	whole := 0
	for line := range strings.Lines(string(raw)) {
		var r BlindRecord
		if json.Unmarshal([]byte(line), &r) == nil && r.Hunts == 1 && r.Median == time.Second {
			whole++
		}
	}
	if whole != 2 {
		t.Errorf("%d whole lines in %s", whole, raw)
	}
}
