package run

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/cmd/torture/internal/crash"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/reports"
)

// Where nobody can write down what ended a process, as on a full disk, what its run has
// left is cleared away all the same.
func TestAfterACrashThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	given := redistest.Start(t, 1)
	cfg := onGiven(t, append(given, given...))
	cfg.Store = ""
	config, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rdb := redis.NewClient(&redis.Options{Addr: given[0].Addr()})
	defer rdb.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = errors.Join(reports.WriteMeta(dir, reports.Meta{Config: config}), rdb.Set(ctx, "k0", "x", 0).Err(), os.Mkdir(filepath.Join(dir, CrashFile), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	if err := AfterCrash(ctx, crash.Run{Dir: dir}, "panic: no"); err == nil {
		t.Error("nobody was told")
	}
	if left := redistest.Keys(t, given); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
