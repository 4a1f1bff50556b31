package farm

import (
	"os"
	"sync"
	"testing"
)

// Workers that start at the same moment have a directory each, although every one of them
// removes those that nobody has locked.
func TestScratchOfManyAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var mu sync.Mutex
	dirs := map[string]bool{}
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			dir, release, err := Scratch()
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(release)
			mu.Lock()
			defer mu.Unlock()
			if _, err := os.Stat(dir); err != nil || dirs[dir] {
				t.Errorf("%s: had before %t, %v", dir, dirs[dir], err)
			}
			dirs[dir] = true
		})
	}
	all.Wait()
	if len(dirs) != 64 {
		t.Errorf("%d directories, want 64", len(dirs))
	}
}

// A directory that another removes between its making and its lock is none.
func TestScratchThatWasRemoved(t *testing.T) {
	dir := t.TempDir()
	lock, err := LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockScratch(dir); err == nil {
		t.Error("locked while another has it")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := lockScratch(dir); err == nil {
		t.Error("locked what is not there")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
}
