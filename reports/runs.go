package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/workload/history/printable"
)

// Latest is the name under which a folder of runs links its newest one.
const Latest = "latest"

// An Entry is one line of a listing of runs; its texts are fit to print.
type Entry struct {
	Dir      string
	Meta     Meta
	Verdict  checker.Verdict // empty when the run is incomplete
	Grants   int64
	Duration time.Duration
	Evidence checker.Evidence // of what was tried
	Live     *Live            // how it goes, while it is under way
	Err      error            // why the directory cannot be read
}

// Complete reports whether the run has results.
func (e Entry) Complete() bool { return e.Verdict != "" }

// DirName is how a run's directory is called.
func DirName(m Meta) string {
	scenario := strings.Map(func(r rune) rune {
		if r == '-' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, m.Scenario)
	return fmt.Sprintf("%s-%s-%x", m.Began.UTC().Format("20060102T150405Z"), cmp.Or(scenario, "run"), m.Seed)
}

// List lists the runs below runsDir, oldest first.
func List(runsDir string) ([]Entry, error) {
	found, err := os.ReadDir(runsDir)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []Entry
	for _, f := range found {
		dir := filepath.Join(runsDir, f.Name())
		if !f.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, MetaFile)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		out = append(out, entry(dir))
	}
	slices.SortStableFunc(out, func(a, b Entry) int {
		return cmp.Or(a.Meta.Began.Compare(b.Meta.Began), cmp.Compare(a.Dir, b.Dir))
	})
	return out, nil
}

func entry(dir string) Entry {
	e := Entry{Dir: dir}
	if e.Meta, e.Err = ReadMeta(dir); e.Err != nil {
		return e
	}
	e.Meta = printable.Of(e.Meta)
	res, err := ReadResults(dir)
	if errors.Is(err, fs.ErrNotExist) {
		var now Live
		var live bool
		if now, live, e.Err = readLive(dir, time.Now()); live {
			e.Live = &now
		}
		return e
	}
	if e.Err = err; err != nil {
		return e
	}
	e.Verdict, e.Evidence = printable.Of(res.Verdict), res.Evidence
	if res.Measured != nil {
		e.Grants, e.Duration = res.Measured.Outcomes.Acquired, res.Measured.Duration
	}
	return e
}

// ErrNoSuchRun means that a name is neither a directory nor a run's.
var ErrNoSuchRun = errors.New("neither a directory nor a run")

// Resolve finds the run directory that a command line means: a path, a name
// below runsDir, "latest" (also when empty), or -1, -2, … counted back from the
// newest run, which is -1.
func Resolve(runsDir, name string) (string, error) {
	if name == "" {
		name = Latest
	}
	if back, err := strconv.Atoi(name); err == nil && back < 0 {
		return countBack(runsDir, -back)
	}
	for _, dir := range []string{name, filepath.Join(runsDir, name)} {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if s, err := os.Stat(real); err == nil && s.IsDir() {
			return real, nil
		}
	}
	if name == Latest {
		return countBack(runsDir, 1)
	}
	return "", fmt.Errorf("find run %q: %w below %s", name, ErrNoSuchRun, runsDir)
}

func countBack(runsDir string, n int) (string, error) {
	all, err := List(runsDir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(all) == 0:
		return "", fmt.Errorf("no run in %s yet: play one (torture run), or say where (a path, or --out)", runsDir)
	case err != nil:
		return "", err
	case n > len(all):
		return "", fmt.Errorf("find run -%d: %s holds %d", n, runsDir, len(all))
	}
	return all[len(all)-n].Dir, nil
}

// Link points runs/latest, beside dir, at dir. A file or directory of that
// name that is no link stays, and is an error.
func Link(dir string) error {
	link := filepath.Join(filepath.Dir(dir), Latest)
	if s, err := os.Lstat(link); err == nil && s.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("link %s: something else is there", link)
	}
	tmp := filepath.Join(filepath.Dir(dir), "."+Latest+"-"+filepath.Base(dir))
	_ = os.Remove(tmp)
	if err := os.Symlink(filepath.Base(dir), tmp); err != nil {
		return fmt.Errorf("link %s: %w", link, err)
	}
	if err := os.Rename(tmp, link); err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("link %s: %w", link, err)
	}
	return nil
}
