package gallery

import (
	"maps"
	"strings"
	"time"
)

// A Trial is the load and the faults under which a lock shows its flaw, in the words of the command line, laid over the scenario calm.
type Trial struct {
	Faults string        // as --faults takes them
	Clocks string        // further faults, of clients' clocks: for locks that read them
	Load   string        // further flags without their dashes: "keys=1 hold=100ms"
	TTL    time.Duration // trialTTL when zero
	Length time.Duration // of the main phase; TrialLength when zero

	// Also are ids expected beyond those that the lock is known for; Shows, when set,
	// are those that this trial must show instead.
	Also, Shows []string

	// Control is how the control is played where it needs other servers; nil: as the
	// lock itself.
	Control *Trial

	// Untried are ids that nothing here can bring about, each with the reason.
	Untried map[string]string
}

const (
	trialTTL    = 700 * time.Millisecond
	TrialLength = 4 * time.Second
)

// Missed is the id under which a trial counts an objective that was missed:
// what shows in figures has no anomaly of its own.
const Missed = "slo"

// lateRelease pauses holders beyond their lease; when they wake up they
// release. With one busy key somebody else holds it then.
const lateRelease = "pause-client:for=1100ms"

// wrongClocks sets the clocks of clients ahead, beyond what recipes tolerate.
const wrongClocks = "client-clock:at=700ms:times=3:every=1s:for=700ms"

// Trials are all trials by lock.
var Trials = trials(recipeTrials, mutantTrials, libraryTrials)

func trials(categories ...map[string]Trial) map[string]Trial {
	all := map[string]Trial{}
	for _, some := range categories {
		maps.Copy(all, some)
	}
	return all
}

// forgetful is the n-th time that a client is cut off from as many nodes as the
// quorum can spare, is granted a key, stands still, and one of the nodes of its
// quorum forgets.
func forgetful(n string) string {
	return nth(n,
		"cut:at=AT:client=any as victimN:minority:for=1400ms,"+
			"pause-client:at=AT:on=acquire-replied:by=victimN:client=victimN as asleepN:for=1100ms,"+
			"kill:empty:at=AT:on=bound:by=asleepN:client=asleepN:swing")
}

// asleep is the n-th time that a holder stands still beyond its lease.
func asleep(n string) string { return nth(n, "pause-client:at=AT:client=holder as asleepN:for=1100ms") }

// overtaken moves, once the n-th sleeper's lease has ended, clocks that stand
// still ahead: somebody overruns that lease. Back at the old time, whoever comes
// next bears the sleeper's stamp, and holds when it wakes up.
func overtaken(n string) string {
	return nth(n, "client-clock:at=AT:on=bound:by=asleepN:then=750ms:client=all:for=60ms")
}

// promotions has the master replaced that Redis Sentinel watches, as leases are given
// back and taken. A lease outlasts the 2 to 3 s that Sentinel takes.
func promotions(more string) Trial {
	return Trial{
		Faults: "failover:at=1s:on=release-sent:times=2:every=8s",
		Load:   "testbed=sentinel clients=24 keys=12 hold=4s" + more, TTL: 8 * time.Second, Length: 16 * time.Second,
	}
}

// nth lays out faults for the n-th time.
func nth(n, faults string) string {
	at := map[string]string{"1": "300ms", "2": "1900ms", "3": "3500ms"}[n]
	return strings.NewReplacer("AT", at, "N", n).Replace(faults)
}

// recipeTrials are those of the recipes. A fault locked to a command comes
// twice where recipe and control send different ones.
var recipeTrials = map[string]Trial{
	"exists-set":   {Faults: "none"},
	"setnx-del":    {Faults: "crash-client"},
	"setnx-expire": {Faults: "cut:that:at=200ms:times=6:every=500ms:on=reply:SETNX:for=200ms,cut:that:at=200ms:times=6:every=500ms:on=reply:SET:for=200ms", Load: "clients=4 keys=8"},
	"del-setnx-timestamp": {
		// A slow link keeps the moment between GET and SETNX open: whoever looks in it sees the dead holder's stamp too.
		Faults: "latency:at=100ms:on=time:client=all:all:delay=15ms:jitter=5ms:for=6500ms,crash-client:at=500ms:times=3:every=2s",
		Load:   "clients=12 keys=1 hold=40ms", Length: 9 * time.Second,
	},
	"getset-timestamp": {Faults: lateRelease, Clocks: wrongClocks, Load: "keys=1 hold=100ms"},
	"lua-setnx-expire": {Faults: lateRelease, Load: "keys=1 hold=100ms"},
	"set-nx-ex-del":    {Faults: lateRelease, Load: "keys=1 hold=100ms"},
	"token-get-del": {
		// A SET that is held back ends, by its client's clock, before its key does: between the two the client
		// releases, reads its token, and then stands still.
		Faults: "zombie:at=200ms:times=6:every=900ms:on=release-sent:client=all:all:for=150ms," +
			"stall:that:at=300ms:times=18:every=300ms:on=reply:GET:for=300ms",
		Load: "keys=1 hold=640ms", Length: 6 * time.Second,
	},
	"token-host-time": {Faults: "pause-client:at=200ms:times=8:every=900ms:for=500ms", Load: "clients=6 keys=1 hold=200ms", TTL: 400 * time.Millisecond, Length: 8 * time.Second},
	"token-per-object": {
		// The release times out and arrives when its lease has ended, and the client has dialled anew and may hold again.
		Faults: "stuck-connection:at=300ms:times=6:every=1400ms:on=release-sent:client=any:for=850ms",
		Load:   "clients=2 keys=1 hold=250ms think=1ms timeout=100ms", Length: 9 * time.Second,
	},
	"token-lua": {Faults: lateRelease},
	"retry-on-error": {
		// With more keys than clients most attempts are granted: it is the reply to a grant that is to be lost.
		Faults: "response-lost:at=500ms:times=3:every=2500ms:for=100ms", Load: "clients=2 keys=4 hold=20ms slo=gap<1500ms",
		TTL: 2 * time.Second, Length: 8 * time.Second, Also: []string{Missed},
	},
	"polling":        {Faults: "none", Load: "keys=1 hold=50ms wait=1s slo=jain>0.9", Also: []string{Missed}},
	"token-watchdog": {Faults: "pause-client,kill:empty", Load: "hold=200ms", Length: 6 * time.Second},
	"renew-limited": {
		Faults: "none", Load: "clients=6 keys=6 hold=3600ms renew=true",
		TTL: 600 * time.Millisecond, Length: 4500 * time.Millisecond,
	},
	"redisson-hash": {
		Faults: "kill:empty:at=400ms:on=acquire-replied,kill:empty:at=1200ms:on=acquire-replied," +
			"response-lost:at=2200ms:times=7:every=250ms:for=100ms",
		Load: "clients=4 keys=4 hold=200ms",
	},
	"retry-on-error-hash": {
		// As with retry-on-error.
		Faults: "response-lost:at=300ms:times=8:every=600ms:for=60ms", Load: "clients=4 keys=16 hold=100ms", Length: 7 * time.Second,
	},
	"rw-two-keys": {Faults: lateRelease, Load: "mode=rw readers=0.3 keys=1 hold=100ms"},
	"rw-hash-timestamps": {
		Faults: asleep("1") + "," + asleep("2") + "," + asleep("3"),
		Clocks: "client-clock-stuck:at=200ms:for=5s," + overtaken("1") + "," + overtaken("2") + "," + overtaken("3"),
		Load:   "mode=rw readers=0.3 keys=1 hold=80ms", Length: 6 * time.Second,
	},
	"redlock-plain": {
		Faults: forgetful("1") + "," + forgetful("2") + "," + forgetful("3") + ",pause-client:at=5200ms",
		Load:   "clients=6", Length: 7 * time.Second,
	},
	"redisson-redlock": {
		Faults: forgetful("1") + "," + forgetful("2") + "," + forgetful("3"), Load: "clients=6", Length: 6 * time.Second,
	},
	"routed": {
		// One client and one server: a ring that loses all servers at once asks nobody.
		Faults: "cut:at=400ms:times=4:every=1700ms:client=any:minority:for=1300ms", Load: "clients=8 keys=6 hold=200ms", Length: 7 * time.Second,
	},
	"failover": {
		Faults: "failover:at=500ms:for=300ms,failover:at=2500ms:for=300ms",
		Load:   "clients=12 keys=6 hold=800ms", TTL: time.Second,
	},
	"sentinel":              promotions(""),
	"sentinel-min-replicas": promotions(" min-replicas=1"),
	"cluster": {
		// What was left of a key's lease when it was given back ends sooner than what is granted then.
		Faults: "failover:at=1s:on=release-sent:times=2:every=8s",
		Load:   "testbed=cluster clients=24 keys=12 hold=5s", TTL: 8 * time.Second, Length: 18 * time.Second,
		Control: &Trial{
			Faults: "failover:at=1s:on=release-sent:times=2:every=8s",
			Load:   "testbed=process clients=24 keys=12 hold=5s", TTL: 8 * time.Second, Length: 18 * time.Second,
		},
	},
	"sentinel-wait": {
		// Back at once, and empty: Sentinel never misses it, and its replicas copy what it has, a second or two
		// later: in the midst of leases, which all begin together at first.
		Faults: "kill:empty:at=1s:node=master:times=3:every=5s:for=50ms",
		Load:   "testbed=sentinel clients=24 keys=12 hold=4s", TTL: 8 * time.Second, Length: 16 * time.Second,
		Control: &Trial{
			Faults: "kill:empty:at=1s:times=3:every=5s:for=50ms",
			Load:   "testbed=process clients=24 keys=12 hold=4s", TTL: 8 * time.Second, Length: 16 * time.Second,
		},
	},
}
