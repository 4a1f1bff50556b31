package farm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An Answer is what a Player makes of a task.
type Answer struct {
	Body    json.RawMessage `json:"body,omitempty"`
	Trouble string          `json:"trouble,omitempty"`
	Record  string          `json:"record,omitempty"` // folder, in the directory that it was given, to be kept
	Load    Load            `json:"load,omitzero"`
}

// A Player plays a task; what it writes goes into dir. It ends soon after ctx.
type Player func(ctx context.Context, t Task, dir string) Answer

// Virtual is the ability to play in virtual time, which every worker has.
const Virtual = "virtual"

// variable, in the environment, makes this program one that plays tasks for a worker;
// it holds the ability that is played with.
const variable = "LOCKTORTURE_FARM_PLAYER"

// Playing reports whether this process plays tasks for a worker, by ServePlayer.
func Playing() bool { return os.Getenv(variable) != "" }

// graceful is how long a process that plays may take to heal and end.
const graceful = 20 * time.Second

// A request asks for a task, or calls the one under way off.
type request struct {
	Task *Task  `json:"task,omitempty"`
	Dir  string `json:"dir,omitempty"`
}

// ServePlayer plays the tasks that standard input has, one JSON object a line, an empty
// one calling off the task under way, and writes the answers to file descriptor 3, until
// standard input ends. A process of its own plays, since a panic in a goroutine of a
// lock ends it, and virtual time is reproducible on a single processor alone.
func ServePlayer(players map[string]Player, in io.Reader) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the worker ends this process
	if os.Getenv(variable) == Virtual {
		runtime.GOMAXPROCS(1)
	}
	out := os.NewFile(3, "answers")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	requests := make(chan request)
	var mu sync.Mutex
	off := func() {}
	go func() { // ends with in
		defer close(requests)
		for lines := scanner(in); lines.Scan(); {
			var r request
			if json.Unmarshal(lines.Bytes(), &r) == nil && r.Task != nil {
				requests <- r
				continue
			}
			mu.Lock()
			off()
			mu.Unlock()
		}
		time.AfterFunc(graceful, func() { os.Exit(exitHarness) })
		cancel()
	}()
	answers := json.NewEncoder(out)
	for r := range requests {
		task, end := context.WithCancel(ctx)
		mu.Lock()
		off = end
		mu.Unlock()
		a := Answer{Trouble: fmt.Sprintf("this worker knows no task of kind %q", r.Task.Kind)}
		if play := players[r.Task.Kind]; play != nil {
			a = play(task, *r.Task, r.Dir)
		}
		end()
		if err := answers.Encode(a); err != nil {
			return exitHarness
		}
	}
	return 0
}

// exitHarness is the exit code of trouble of the harness.
const exitHarness = 70

// longestLine bounds a task or an answer between worker and player, in bytes.
const longestLine = 4 * maxPayload

func scanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, longestLine)
	return s
}

// A pool keeps processes that play, by ability.
type pool struct {
	mu        sync.Mutex
	abilities map[string][]*player // that have nothing to do
	env       []string
	all       []*player
}

// play has a process play a task. A process that dies over it is the answer.
func (p *pool) play(ctx context.Context, t Task, dir string) Answer {
	one, err := p.idle(t.Needs)
	if err != nil {
		return Answer{Trouble: err.Error()}
	}
	a, err := one.play(ctx, request{&t, dir})
	if err != nil {
		return Answer{Trouble: one.died(err)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.abilities[t.Needs] = append(p.abilities[t.Needs], one)
	return a
}

// idle returns a process that has nothing to do, or a new one.
func (p *pool) idle(ability string) (*player, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if free := p.abilities[ability]; len(free) > 0 {
		p.abilities[ability] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	one, err := startPlayer(ability, p.env)
	if err == nil {
		p.all = append(p.all, one)
	}
	return one, err
}

// close ends all processes and waits for them.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		_ = one.in.Close()
	}
	for _, one := range p.all {
		one.wait()
	}
}

// A player is a process that plays tasks, one at a time.
type player struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	out   *os.File
	said  tail
	once  sync.Once
	ended error
}

func startPlayer(ability string, env []string) (_ *player, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a player: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a player: %w", err)
	}
	p := &player{lines: scanner(r), out: r}
	p.cmd = &exec.Cmd{
		Path: self, Args: os.Args[:1], Env: append(append(os.Environ(), env...), variable+"="+ability), Stdout: &p.said, Stderr: &p.said, ExtraFiles: []*os.File{w},
	}
	p.in, err = p.cmd.StdinPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start a player: %w", err), r.Close())
	}
	return p, nil
}

// play has the process play a task, and calls it off when ctx ends.
func (p *player) play(ctx context.Context, r request) (a Answer, err error) {
	lines := json.NewEncoder(p.in)
	if err := lines.Encode(r); err != nil {
		return a, err
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
			_ = lines.Encode(request{})
		}
		select {
		case <-done:
		case <-time.After(graceful):
			_ = p.cmd.Process.Kill() // it neither heals nor ends
		}
	})
	defer watching.Wait()
	defer close(done)
	if !p.lines.Scan() {
		return a, errors.Join(p.lines.Err(), io.ErrUnexpectedEOF)
	}
	return a, json.Unmarshal(p.lines.Bytes(), &a)
}

// died says how the process ended, with what it said last of all.
func (p *player) died(err error) string {
	_ = p.in.Close()
	p.wait()
	if p.ended != nil {
		err = p.ended
	}
	return fmt.Sprintf("the process that played it ended: %v: %s", err, p.said.String())
}

// wait waits until the process is gone.
func (p *player) wait() {
	p.once.Do(func() {
		killing := time.AfterFunc(graceful+graceful/2, func() { _ = p.cmd.Process.Kill() })
		defer killing.Stop()
		p.ended = p.cmd.Wait()
		_ = p.out.Close()
	})
}

// A tail keeps the first words of a panic, or else the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const tailLength = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text.Len() > 4*tailLength {
		t.text.Next(t.text.Len() - tailLength)
	}
	return t.text.Write(b)
}

// String is what was said, in a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text.String()
	if i := strings.Index(text, "panic: "); i >= 0 {
		text = text[i:]
	}
	line := strings.Join(strings.Fields(text), " ")
	return line[:min(len(line), 300)]
}

// Scratch makes a worker's directory below the system's for temporary files, which
// release removes, and removes what workers that were killed have left there.
func Scratch() (dir string, release func(), err error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*"))
	if err != nil {
		return "", nil, err
	}
	for _, old := range left {
		if lock, err := LockDir(old); err == nil {
			_ = os.RemoveAll(old)
			_ = lock.Close()
		}
	}
	for range scratchTries {
		if dir, err = os.MkdirTemp("", scratchPrefix); err != nil {
			return "", nil, err
		}
		var lock *os.File
		if lock, err = lockScratch(dir); err == nil {
			return dir, func() {
				_ = os.RemoveAll(dir)
				_ = lock.Close()
			}, nil
		}
	}
	return "", nil, err
}

const scratchPrefix = "torture-worker-"

// scratchTries bounds how often a directory is made: those who start at the same moment may
// each take one that is not locked yet for a killed worker's, and remove it.
const scratchTries = 100

// lockScratch locks a directory that was just made, if it is still there then.
func lockScratch(dir string) (*os.File, error) {
	lock, err := LockDir(dir)
	if err != nil {
		return nil, err
	}
	mine, err := lock.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Stat(lock.Name()); err == nil && os.SameFile(mine, there) {
			return lock, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: somebody removed it", dir), err, lock.Close())
}
