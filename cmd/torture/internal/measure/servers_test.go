package measure

import (
	"context"
	"testing"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/wiring"
)

func TestServersWithKeysAreRefused(t *testing.T) {
	nodes := redistest.Start(t, 1)
	a := wiring.Admin(nodes[0])
	defer a.Close()
	if err := a.Set(t.Context(), "theirs", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if f, err := Start(t.Context(), Config{Given: config.Config{Redis: redistest.Addrs(nodes)}}); err == nil {
		t.Error(f.Close(t.Context()))
		t.Fatal("a server with keys was accepted")
	}
	if n, err := a.Exists(t.Context(), "theirs").Result(); err != nil || n != 1 {
		t.Errorf("their key is gone: %v", err)
	}
}

// What is sent, executed, opened and stored is in the totals of the servers.
func TestTotalsCountWhatServersDo(t *testing.T) {
	nodes := redistest.Start(t, 2)
	s, err := Start(t.Context(), Config{Given: config.Config{Redis: redistest.Addrs(nodes)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	before, err := s.Totals(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	a := wiring.Admin(nodes[0]) // a connection more
	defer a.Close()
	const size, commands = 100_000, 5
	for range commands {
		if err := a.Set(t.Context(), s.id+"-big", make([]byte, size), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Get(t.Context(), s.id+"-big").Result(); err != nil {
		t.Fatal(err)
	}
	after, err := s.Totals(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Commands - before.Commands; got != commands+1 {
		t.Errorf("%v commands, want %d", got, commands+1)
	}
	if in, out, memory := after.In-before.In, after.Out-before.Out, after.Memory-before.Memory; in < commands*size || out < size || memory < size {
		t.Errorf("%v bytes in, %v out, %v more of memory", in, out, memory)
	}
	if got := after.Connections - before.Connections; got < 1 {
		t.Errorf("%v connections more", got)
	}
}

func TestCommandStatistics(t *testing.T) {
	for line, want := range map[string]float64{
		"cmdstat_evalsha:calls=12,usec=480,usec_per_call=40.00": 12,
		"cmdstat_script|load:calls=2,usec=1":                    2,
		"cmdstat_client|setinfo:calls=9,usec=1":                 0,
		"cmdstat_info:calls=9,usec=1":                           0,
		"# Commandstats":                                        0,
	} {
		if got := calls(line); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

// Goroutines are counted by whose they are, not by how many there are.
func TestCensusCountsMarkedGoroutines(t *testing.T) {
	stop := make(chan struct{})
	started := make(chan struct{}, 8)
	spawn := func() {
		for range 4 {
			go func() { started <- struct{}{}; <-stop }()
		}
	}
	spawn()
	before := marked()
	Labelled(t.Context(), func(context.Context) { spawn() })
	for range 8 {
		<-started
	}
	if got := marked() - before; got != 4 {
		t.Errorf("%d marked goroutines, want 4", got)
	}
	close(stop)
}
