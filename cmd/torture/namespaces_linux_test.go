package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/workload/history"
)

// threeNetworks gives each of three workers a network of its own, with an address there
// and a way to 10.77.0.1, where servers and coordinator are, through a toxiproxy that
// delays what passes: all of it inside one namespace, which takes it along when it ends.
const threeNetworks = `set -e
mount -t tmpfs tmpfs /run
ip link set lo up
ip addr add 10.77.0.1/32 dev lo
for i in 1 2 3; do
	ip netns add w$i
	ip link add v$i type veth peer name eth netns w$i
	ip addr add 10.77.$i.1/24 dev v$i
	ip link set v$i up
	ip -n w$i link set lo up
	ip -n w$i addr add 10.77.$i.2/24 dev eth
	ip -n w$i link set eth up
	ip -n w$i route add default via 10.77.$i.1
	for port in 7000 7001 7002 7003 7004 7005 4222; do
		iptables -w -t nat -A PREROUTING -i v$i -p tcp -d 10.77.0.1 --dport $port -j DNAT --to-destination 10.77.0.1:$((port + 10000 * i))
	done
done
iptables -w -I INPUT -s 10.77.9.9 -j DROP
`

// playThree starts servers, three workers and a coordinator, whose first clients have
// acted when it goes on. %[1]s is torture, %[2]s a folder, %[3]s what befalls them then,
// and %[4]s the toxiproxy.
const playThree = `
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
cd %[2]s
for port in 7000 7001 7002 7003 7004 7005; do
	redis-server --bind 10.77.0.1 --port $port --protected-mode no --save '' --appendonly no --daemonize no >/dev/null &
done
%[4]s 10.77.0.1 2>%[2]s/delays.log &
for i in 1 2 3; do
	nsenter --net=/run/netns/w$i %[1]s worker --join nats://10.77.0.1:4222 --name w$i --dir %[2]s/j$i --slots 0 >%[2]s/w$i.log 2>&1 &
	eval "worker$i=$!"
done
until redis-cli -h 10.77.0.1 -p 7005 ping >/dev/null 2>&1; do sleep 0.1; done
%[1]s run calm --lock redlock --workers 3 --farm nats://10.77.0.1:4222 --clients 6 --keys 2 --ttl 2s --duration 25s --seed 1 --out %[2]s/out \
	--redis 10.77.0.1:7001,10.77.0.1:7002,10.77.0.1:7003,10.77.0.1:7004,10.77.0.1:7005 --store 10.77.0.1:7000 --i-own-this-redis &
run=$!
until [ -s "$(echo %[2]s/out/*-*/workers/w1.jsonl.zst)" ] || ! kill -0 $run; do sleep 0.1; done
%[3]s
code=0
wait $run || code=$?
exit $code
`

// Of three workers in networks of their own, each some milliseconds away, one is cut off for 10 s from all others, and
// one is killed. The verdict blames the lock for none of it; each event is there once, as
// the workers' own files have it; the report says how well each clock is known.
func TestWorkersInNetworksOfTheirOwn(t *testing.T) {
	t.Parallel()
	if !haveRedis(t) {
		t.Skip("redis-server is not installed")
	}
	mayMount(t, "exec unshare --net sh -c '"+threeNetworks+"'")
	torture, dir := named(t, "torture"), t.TempDir()
	play := "sleep 3; iptables -w -I INPUT -i v2 -j DROP; sleep 4; kill -9 $worker3; sleep 6; iptables -w -D INPUT -i v2 -j DROP"
	script := threeNetworks + fmt.Sprintf(playThree, torture, dir, play, named(t, delayServer))
	cmd := namespaced(t, "exec unshare --net --pid --fork --kill-child --mount-proc bash -c \"$SCRIPT\"")
	cmd.Env = append(os.Environ(), "SCRIPT="+script)
	said := outcome(cmd)
	if code := cmd.ProcessState.ExitCode(); code != checker.Pass.Exit() && code != checker.Inconclusive.Exit() {
		t.Fatalf("exit %d\n%s", code, said)
	}
	for _, w := range []string{"w1", "w2", "w3"} {
		if !strings.Contains(said, " "+w+" on ") || strings.Count(said, "clock known to ±") != 3 {
			t.Errorf("it does not say how well the clock of %s is known\n%s", w, said)
		}
	}
	runs, err := filepath.Glob(filepath.Join(dir, "out", "*-*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v, %v", runs, err)
	}
	merged := readEvents(t, runs[0])
	for _, w := range []string{"w1", "w2", "w3"} {
		own, err := filepath.Glob(filepath.Join(dir, "j"+w[1:], "*."+w+".jsonl"))
		if err != nil || len(own) != 1 {
			t.Fatalf("%v, %v", own, err)
		}
		sameEvents(t, w, w == "w3", readEvents(t, own[0]), readEvents(t, filepath.Join(runs[0], "workers", w+".jsonl.zst")), merged)
	}
	var from, to time.Duration // of w2's longest silence
	for _, e := range merged {
		if e.Fault != "worker-silent" || e.Kind != history.OK {
			continue
		}
		begun := merged[e.Of].Time
		if e.Op == history.Heal && strings.HasPrefix(e.Receipt, "it answered") && e.Time-begun > to-from {
			from, to = begun, e.Time
		}
	}
	if to-from < 10*time.Second {
		t.Errorf("w2 was cut off for 10 s, and the history tells of a silence from %v to %v\n%s", from, to, said)
	}
}
