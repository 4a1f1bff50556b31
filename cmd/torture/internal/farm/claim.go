package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"locktorture/cmd/torture/internal/periodic"
)

// jobFile, in a job's directory, says which job of a farm it is, so that another
// session goes on with that.
const jobFile = "farm.json"

type jobRecord struct {
	Job string `json:"job"`
}

// jobIn is the job of a directory: a new one where it has none.
func jobIn(dir string) (job string, isNew bool, err error) {
	path := filepath.Join(dir, jobFile)
	raw, err := os.ReadFile(path)
	if err == nil {
		var r jobRecord
		if err := json.Unmarshal(raw, &r); err != nil || r.Job == "" {
			return "", false, fmt.Errorf("%s: not the job of a farm: %w", path, errors.Join(err, errors.New("want a job")))
		}
		return r.Job, false, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", false, err
	}
	if raw, err = json.Marshal(jobRecord{nuid.Next()}); err != nil {
		return "", false, err
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return "", false, err
	}
	job, _, err = jobIn(dir)
	return job, true, err
}

// errOther is why a second coordinator of one job does not begin.
var errOther = errors.New("another coordinator is at work on it")

// LockDir keeps a second coordinator of this machine out of a directory until the
// file is closed, or the process is no more.
func LockDir(dir string) (*os.File, error) {
	f, err := LockFile(filepath.Join(dir, "farm.lock"))
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%s: %w", dir, errOther)
	}
	return f, err
}

// ErrLocked is what LockFile comes to where another process has the file.
var ErrLocked = errors.New("another process has it")

// LockFile keeps others of this machine out of what path stands for, until the file is
// closed, or the process is no more.
func LockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrLocked), f.Close())
	}
	return f, nil
}

// claim waits until the job is this coordinator's alone: at most for as long as the
// claim of one that is no more lasts. It returns the claim's revision.
func (c *Coordinator) claim(ctx context.Context) (uint64, error) {
	deadline := time.Now().Add(presenceFor + presenceFor/2)
	var seen uint64
	for {
		revision, err := c.stores.claims.Create(ctx, c.job, []byte(whoAmI()))
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return revision, err
		}
		entry, err := c.stores.claims.Get(ctx, c.job)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			continue
		case err != nil:
			return 0, err
		case seen != 0 && entry.Revision() != seen || time.Now().After(deadline):
			return 0, fmt.Errorf("%w: %s", errOther, entry.Value())
		case seen == 0:
			c.cfg.Log(fmt.Sprintf("waits until the claim of its former coordinator (%s) has run out", entry.Value()))
		}
		seen = entry.Revision()
		if !periodic.Sleep(ctx, time.Second/2) {
			return 0, ctx.Err()
		}
	}
}

// keepClaim renews the claim until ctx ends. What the server forgot while it was away
// is claimed anew; lost is called when somebody else was faster.
func (c *Coordinator) keepClaim(ctx context.Context, revision uint64, lost func(error)) {
	for periodic.Sleep(ctx, presenceFor/4) {
		next, err := c.stores.claims.Update(ctx, c.job, []byte(whoAmI()), revision)
		if isThere(err) || errors.Is(err, jetstream.ErrKeyExists) {
			next, err = c.claimAgain(ctx)
		}
		switch {
		case err == nil:
			revision = next
		case errors.Is(err, errOther):
			lost(err)
			return
		}
	}
}

// claimAgain claims the job after the server forgot of it, or of an answer to us.
func (c *Coordinator) claimAgain(ctx context.Context) (uint64, error) {
	revision, err := c.stores.claims.Create(ctx, c.job, []byte(whoAmI()))
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return revision, err
	}
	entry, err := c.stores.claims.Get(ctx, c.job)
	switch {
	case err != nil:
		return 0, err
	case string(entry.Value()) != whoAmI():
		return 0, fmt.Errorf("%w since NATS was away: %s", errOther, entry.Value())
	}
	return entry.Revision(), nil
}

func whoAmI() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}
