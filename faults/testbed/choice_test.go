package testbed

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"locktorture/faults/testbed/server"
)

func TestExternalRefusesWhatIsNotSafe(t *testing.T) {
	b := startProcess(t, ProcessConfig{Nodes: 3})
	addrs := []string{b.Nodes()[0].Addr(), b.Nodes()[1].Addr()}
	_, port, err := net.SplitHostPort(b.Nodes()[2].Addr())
	if err != nil {
		t.Fatal(err)
	}
	do(t, b.Nodes()[2], "OK", "SET", "lock:[1]", "v")
	do(t, b.Nodes()[1], "OK", "SET", "other", "v")
	for _, c := range []struct {
		name string
		c    ExternalConfig
		want string // part of the error; empty: no error
	}{
		{"safe", ExternalConfig{Masters: server.Plain(addrs...), Store: &server.Endpoint{Addr: b.Store().Addr()}, Prefix: "lock:"}, ""},
		{"store on n1", ExternalConfig{Masters: server.Plain(addrs...), Prefix: "lock:"}, ""},
		{"keys there", ExternalConfig{Masters: server.Plain(b.Nodes()[2].Addr()), Prefix: "lock:"}, "exist already"},
		{"prefix is no pattern", ExternalConfig{Masters: server.Plain(b.Nodes()[2].Addr()), Prefix: "lock:?1"}, ""},
		{"brackets are literal", ExternalConfig{Masters: server.Plain(b.Nodes()[2].Addr()), Prefix: "lock:[1"}, "exist already"},
		{"not empty, no prefix", ExternalConfig{Masters: server.Plain(addrs...)}, "exist already"},
		{"same server twice", ExternalConfig{Masters: server.Plain(addrs[0], strings.Replace(addrs[0], "127.0.0.1", "localhost", 1)), Prefix: "p"}, "same server"},
		{"another machine", ExternalConfig{Masters: server.Plain("192.0.2.1:" + port), Prefix: "p"}, ": 192.0.2.1 is not this machine"},
		{"nothing there", ExternalConfig{Masters: server.Plain("127.0.0.1:1"), Prefix: "p"}, "refused: no server listens there"},
		{"none", ExternalConfig{}, "no address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := StartExternal(testContext(t), c.c)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if err == nil && (len(Abilities(e.Nodes()[0])) != 0 || e.Version() != b.Version()) {
				t.Errorf("%s: abilities %v", e.Version(), Abilities(e.Nodes()[0]))
			}
		})
	}
	do(t, b.Nodes()[2], int64(1), "DBSIZE")
}

func TestExternalRefusesAReplica(t *testing.T) {
	b := startProcess(t, ProcessConfig{Nodes: 2})
	_, port, _ := net.SplitHostPort(b.Nodes()[0].Addr())
	do(t, b.Nodes()[1], "OK", "REPLICAOF", "127.0.0.1", port)
	_, err := StartExternal(testContext(t), ExternalConfig{Masters: server.Plain(b.Nodes()[1].Addr()), Prefix: "p"})
	if err == nil || !strings.Contains(err.Error(), "master") {
		t.Errorf("a replica as a master: %v", err)
	}
}

// A server that takes no writes is refused before anything is written, as one at fault.
func TestExternalRefusesWhatTakesNoWrites(t *testing.T) {
	n := startProcess(t, ProcessConfig{Nodes: 1}).Nodes()[0]
	given := ExternalConfig{Masters: server.Plain(n.Addr())}
	for want, set := range map[string][]string{
		"NOREPLICAS": {"min-replicas-to-write", "1"},
		"OOM":        {"maxmemory", "1"},
	} {
		do(t, n, "OK", append([]string{"CONFIG", "SET"}, set...)...)
		_, err := StartExternal(testContext(t), given)
		if err == nil || !strings.Contains(err.Error(), "takes no writes ("+want) || !errors.As(err, new(server.Error)) {
			t.Errorf("%v, want %s", err, want)
		}
		do(t, n, "OK", "CONFIG", "SET", set[0], "0")
	}
	if _, err := StartExternal(testContext(t), given); err != nil {
		t.Error(err)
	}
	do(t, n, int64(0), "DBSIZE")
}

// What a run has to send beside the lock's own commands is asked for before anything is
// written: a user who may not, or a server that cannot, shows later as locks that fail,
// and as keys that nobody may remove.
func TestExternalRefusesWhoMayNotSendWhatARunNeeds(t *testing.T) {
	n := startProcess(t, ProcessConfig{Nodes: 1}).Nodes()[0]
	for _, c := range []struct{ rights, lacks string }{
		{"~* +@all -unlink", "unlink"},
		{"~* +@all -exists", "exists"},
		{"~* +@all -multi", "multi"},
		{"~* +@all -eval -evalsha", "eval"},
		{"~* +@all -xadd", "xadd"},
		{"~other:* +@all", "access"},
		{"~p:k* +@all", "access"}, // and not the store's keys
		{"~p:* +@all -flushall -config -debug -shutdown", ""},
	} {
		do(t, n, "OK", append([]string{"ACL", "SETUSER", "kim", "reset", "on", "nopass"}, strings.Fields(c.rights)...)...)
		_, err := StartExternal(testContext(t), ExternalConfig{Masters: []server.Endpoint{{Addr: n.Addr(), Username: "kim", Password: "any"}}, Prefix: "p:"})
		if c.lacks == "" && err != nil {
			t.Errorf("%s: %v", c.rights, err)
		}
		if c.lacks != "" && (err == nil || !strings.Contains(err.Error(), c.lacks) || !strings.Contains(err.Error(), "ACL SETUSER kim")) {
			t.Errorf("%s: %v, want a word of %q", c.rights, err, c.lacks)
		}
	}
	do(t, n, int64(0), "DBSIZE")
	renamed := server.Endpoint{}.Explain(server.ReplyError("ERR unknown command 'EVAL', with args beginning with: 'x' "))
	if !errors.As(renamed, new(server.Error)) || !strings.Contains(renamed.Error(), "lacks a command") {
		t.Error(renamed)
	}
}

func TestChoice(t *testing.T) {
	if kind, _, err := Choose(t.Context(), Config{Kind: KindAuto, External: ExternalConfig{Masters: server.Plain("127.0.0.1:1")}}); kind != KindExternal {
		t.Errorf("with addresses: %s, %v", kind, err)
	}
	if kind, why, err := Choose(t.Context(), Config{Kind: KindEmbedded}); kind != KindEmbedded || !strings.Contains(why, "asked for") {
		t.Errorf("embedded asked for: %s, %q, %v", kind, why, err)
	}
	kind, why, err := Choose(t.Context(), Config{Kind: KindAuto, Binary: "no-such-redis-server", Image: "no-such-image:1"})
	if kind != KindEmbedded || !strings.Contains(why, "no-such-redis-server") {
		t.Errorf("without a server: %s, %q, %v", kind, why, err)
	}
	for _, bad := range []Config{
		{Kind: "clustered"},
		{Kind: KindExternal},
		{Kind: KindProcess, Binary: "no-such-redis-server"},
	} {
		if kind, _, err := Choose(t.Context(), bad); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%+v: chose %q, %v", bad, kind, err)
		}
	}
}

func TestAutoPrefersRealServers(t *testing.T) {
	_, err := findServer("")
	require(t, err)
	b, why, err := Start(testContext(t), Config{Kind: KindAuto, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	if b.Name() != KindProcess || why == "" {
		t.Errorf("auto chose %s: %s", b.Name(), why)
	}
}

func TestDetectedAbilitiesAreThoseOfTheNodes(t *testing.T) {
	require(t, CanFakeClock())
	c := Config{Nodes: 1, Persist: true, FakeClock: true}
	for _, d := range Detect(t.Context(), c) {
		if d.Kind == KindExternal || d.Kind == KindCompose {
			continue
		}
		if d.Kind == KindContainer {
			requireDocker(t, "")
		}
		c.Kind = d.Kind
		b, _, err := Start(testContext(t), c)
		require(t, err)
		if got := Abilities(b.Nodes()[0]); !slices.Equal(got, d.Abilities) {
			t.Errorf("%s: detected %v, has %v", d.Kind, d.Abilities, got)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
