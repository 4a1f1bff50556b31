package app

import (
	"fmt"
	"sync"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/crash"
	"locktorture/cmd/torture/internal/run"
	"locktorture/lockimpl"
)

// An Option adds something to the command.
type Option func(*tool) error

// WithLock adds a lock, which every verb then knows by name, as in
// torture run --lock NAME. The command fails with exit code 64 when the name is
// taken or not fit for a command line. The lock is played on one master, fenced
// by nobody, unless --nodes, --fenced or a scenario file say otherwise; factory
// is called once for every client, with that client's links to the masters.
func WithLock(name string, factory lockimpl.Factory) Option {
	return func(t *tool) (err error) {
		t.locks, err = t.locks.With(name, factory)
		return err
	}
}

// A tool is the command with what options added to it.
type tool struct {
	locks catalogue.Locks

	mu        sync.Mutex
	monitored bool           // whether a second process finishes what a crash of this one leaves
	monitor   *crash.Monitor // that process, once there was a run
}

func newTool(options []Option) (*tool, error) {
	t := &tool{locks: catalogue.Builtin()}
	for _, o := range options {
		if err := o(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// validate names the first setting that cannot work.
func (t *tool) validate(c config.Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	lock, err := t.locks.Find(c.Lock)
	if err != nil {
		return fmt.Errorf("%s: %w", c.At("lock"), err)
	}
	return run.Validate(c, lock)
}
