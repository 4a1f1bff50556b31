// Package execjudge runs a checker of one's own, in any language, as a child
// process: the history goes to its standard input as JSON lines, header first,
// and what it found comes back from its standard output. The README of package
// checker describes both.
package execjudge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"locktorture/checker"
	"locktorture/workload/history"
)

// maxFindings bounds what a child may say.
const maxFindings = 10_000

// A Judge is a checker.Own that asks a child process.
type Judge struct {
	name   string
	cmd    *exec.Cmd
	stdin  *input
	stdout io.ReadCloser
	lines  *history.Writer
	events int
	done   chan struct{} // closed when its output was read
	said   answer
	ended  bool
}

// An answer is what the child said.
type answer struct {
	opinion checker.Opinion
	events  int // that it says it has read
	done    bool
	err     error
}

var _ checker.Own = (*Judge)(nil)

// Start starts command, and sends it the header. The child is killed when ctx
// ends. The caller calls Close when the judging is over, whatever happened.
func Start(ctx context.Context, command []string, h history.Header) (*Judge, error) {
	if len(command) == 0 {
		return nil, errors.New("start own judge: no command")
	}
	j := &Judge{name: filepath.Base(command[0]), done: make(chan struct{})}
	j.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	j.cmd.Stderr = os.Stderr
	stdin, err := j.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start own judge %s: %w", j.name, err)
	}
	j.stdin = &input{WriteCloser: stdin}
	if j.stdout, err = j.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("start own judge %s: %w", j.name, err)
	}
	if err := j.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start own judge %s: %w", j.name, err)
	}
	go func() {
		defer close(j.done)
		j.said = read(j.stdout)
	}()
	if j.lines, err = history.NewWriter(j.stdin, h); err != nil {
		return nil, errors.Join(fmt.Errorf("start own judge %s: %w", j.name, err), j.Close())
	}
	return j, nil
}

// An input takes everything, whether the child reads it or has gone: when that
// is noticed must not depend on which of the two is faster.
type input struct {
	io.WriteCloser
	err error // the first; nothing is written after it
}

func (in *input) Write(b []byte) (int, error) {
	if in.err == nil {
		_, in.err = in.WriteCloser.Write(b)
	}
	return len(b), nil
}

// Name implements checker.Own: the name of the program.
func (j *Judge) Name() string { return j.name }

// Event implements checker.Own. A child that has gone is found out in the end.
func (j *Judge) Event(e *history.Event) {
	j.events++
	j.lines.Event(e)
}

// Findings ends the child's input and waits until it has answered and gone.
func (j *Judge) Findings(ctx context.Context) (checker.Opinion, error) {
	stop := context.AfterFunc(ctx, j.kill)
	defer stop()
	err := j.shutDown()
	switch {
	case ctx.Err() != nil:
		return checker.Opinion{}, fmt.Errorf("it had not answered in time: %w", context.Cause(ctx))
	case j.said.err != nil:
		return checker.Opinion{}, j.said.err
	case err != nil:
		return checker.Opinion{}, err
	case !j.said.done:
		return checker.Opinion{}, errors.New(`it never said {"done":true,"events":N}`)
	case j.said.events != j.events:
		return checker.Opinion{}, fmt.Errorf("it says that it read %d events, of %d", j.said.events, j.events)
	}
	return j.said.opinion, nil
}

// Close ends the child, if it is still there.
func (j *Judge) Close() error {
	if j.ended {
		return nil
	}
	j.kill()
	_ = j.shutDown() // killed: nothing that it says matters
	return nil
}

// kill ends the child, and the reading of what others may still hold open.
func (j *Judge) kill() {
	_ = j.cmd.Process.Kill()
	_ = j.stdout.Close()
}

// shutDown closes the child's input and waits for its process to end.
func (j *Judge) shutDown() error {
	if j.ended {
		return nil
	}
	j.ended = true
	var flushed error
	if j.lines != nil {
		flushed = j.lines.Flush()
	}
	closed := errors.Join(j.stdin.err, j.stdin.Close())
	<-j.done
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("it ended with %w", err)
	}
	if err := errors.Join(flushed, closed); err != nil {
		return fmt.Errorf("it stopped reading: %w", err)
	}
	return nil
}

// A line is one line of the child's answer.
type line struct {
	Verdict string `json:"verdict"` // violation, suspicious, inconclusive
	Done    bool   `json:"done"`
	Events  int    `json:"events"`
	checker.Finding
}

// read reads the child's answer to its end, whatever is in it: a child whose
// output nobody reads would never go.
func read(r io.Reader) (a answer) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if a.err == nil {
			a.err = a.line(in.Bytes())
		}
		if a.err != nil {
			a.err = fmt.Errorf("line %d of its answer: %w", n, a.err)
			break
		}
	}
	if err := in.Err(); err != nil && a.err == nil {
		a.err = fmt.Errorf("read its answer: %w", err)
	}
	_, _ = io.Copy(io.Discard, r)
	return a
}

func (a *answer) line(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return fmt.Errorf(`want {"verdict":"violation","id":"X1","text":"…"} or {"done":true,"events":N}: %w`, err)
	}
	o := &a.opinion
	switch {
	case a.done:
		return errors.New(`nothing may follow {"done":true}`)
	case l.Done:
		a.done, a.events = true, l.Events
	case len(o.Violations)+len(o.Suspicious)+len(o.Inconclusive) == maxFindings:
		return fmt.Errorf("more than %d findings", maxFindings)
	case l.Verdict == "violation":
		o.Violations = append(o.Violations, l.Finding)
	case l.Verdict == "suspicious":
		o.Suspicious = append(o.Suspicious, l.Finding)
	case l.Verdict == "inconclusive":
		o.Inconclusive = append(o.Inconclusive, l.Finding)
	default:
		return fmt.Errorf("verdict %q: want violation, suspicious or inconclusive", l.Verdict)
	}
	return nil
}
