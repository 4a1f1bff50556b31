package distributed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/workload/history/printable"
)

// JoinVariable, in the environment of a worker, is the URL that it joins: with what is
// secret in it, which a command line shows to everybody.
const JoinVariable = "TORTURE_JOIN"

// A Session is what a run needs for its workers beside them.
type Session struct {
	Access farm.Access // empty: an address on loopback, and a token that nobody else knows
	Serve  bool        // the server of NATS is this process's own
	Spawn  int         // workers that are started on this machine
	Build  farm.Build
	Log    func(string)

	token   string // that this process made up
	dir     string
	hub     *farm.Hub
	spawned []*exec.Cmd
	ended   chan error // how each of spawned did
	ending  sync.WaitGroup
}

// natsDir and journalsDir, beside the histories that come in, are where this process's own
// server keeps its streams, and where workers that it started keep their journals.
const (
	natsDir     = "nats"
	journalsDir = "journals"
)

// Open makes the run, and starts workers where it shall. dir is for what belongs to them.
func (s *Session) Open(ctx context.Context, dir string) (c *Coordinator, err error) {
	defer func() {
		if err != nil {
			s.Leave()
		}
	}()
	s.dir, s.ended = dir, make(chan error, s.Spawn)
	if s.Access.URL == "" {
		if err := s.choose(); err != nil {
			return nil, err
		}
	}
	streams := ""
	if s.Serve {
		streams = filepath.Join(dir, natsDir)
		if s.token == "" && s.Access.IsOpen() {
			s.Log(fmt.Sprintf("whoever reaches %s can have clients run on the machines of all workers: nobody is asked for a token (%s, or nats://TOKEN@host:port)", s.Access, farm.TokenVariable))
		}
	}
	if s.hub, err = farm.OpenHub(s.Access, streams, 0, "torture run", s.Log); err != nil {
		return nil, err
	}
	if c, err = Open(ctx, Config{Conn: s.hub.Conn, Build: s.Build, Dir: dir, Log: s.Log, Ended: s.ended}); err != nil {
		return nil, err
	}
	if s.Spawn == 0 {
		s.Log(fmt.Sprintf("waits for workers at %s: torture worker --join URL", s.Access))
	}
	for i := range s.Spawn {
		if err := s.start(fmt.Sprintf("w%d", i+1)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// choose makes up an address on loopback, and a token that workers get by their
// environment.
func (s *Session) choose() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.token = rand.Text()
	s.Access.URL = "nats://" + s.token + "@" + l.Addr().String()
	return l.Close()
}

// start starts a worker on this machine, which ends with this process.
func (s *Session) start(name string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, "worker", "--slots", "0", "--name", name, "--dir", filepath.Join(s.dir, journalsDir), "--idle", "20s")
	cmd.Env = append(os.Environ(), JoinVariable+"="+s.Access.URL)
	cmd.Args = append(cmd.Args, accessArgs(s.Access)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the coordinator, which lets them finish
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start worker %s: %w", name, err)
	}
	s.spawned = append(s.spawned, cmd)
	s.ending.Go(func() { s.ended <- exitError(name, cmd.Wait(), log.Name()) }) // once the run has begun, its connection tells
	return nil
}

// exitError says how a worker ended that this command had started, with the last line of its log.
func exitError(name string, how error, log string) error {
	if how == nil {
		how = errors.New("as if nothing had been asked of it")
	}
	raw, err := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	said := printable.Line(lines[len(lines)-1])
	if err != nil {
		said = err.Error()
	}
	return fmt.Errorf("worker %s, which this command had started, ended: %w: %s", name, how, said)
}

// Lock keeps every other coordinator of this machine out of the folder of a run's histories,
// and whoever would merge them, until the file is closed or the process is no more.
func Lock(dir string) (*os.File, error) { return farm.LockDir(dir) }

// accessArgs are the files of a, as flags.
func accessArgs(a farm.Access) (args []string) {
	for flag, file := range map[string]string{"--nats-creds": a.Credentials, "--nats-ca": a.CA, "--nats-cert": a.Cert, "--nats-key": a.Key} {
		if file != "" {
			args = append(args, flag, file)
		}
	}
	return args
}

// leaveLimit is how long a worker that was started here may take to end.
const leaveLimit = 5 * time.Second

// Leave ends the workers that were started here, and what they were reached by.
func (s *Session) Leave() {
	for _, cmd := range s.spawned {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	}
	late := time.AfterFunc(leaveLimit, func() {
		for _, cmd := range s.spawned {
			_ = cmd.Process.Kill()
		}
	})
	s.ending.Wait()
	late.Stop()
	if s.hub != nil {
		s.hub.Close()
	}
	if s.Serve && s.dir != "" {
		if err := os.RemoveAll(filepath.Join(s.dir, natsDir)); err != nil {
			s.Log("remove the streams: " + err.Error())
		}
	}
}
