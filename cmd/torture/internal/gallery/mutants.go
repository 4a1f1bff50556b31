package gallery

import "time"

// lostReplies loses what the servers answer, for a moment and to everybody.
const lostReplies = "response-lost:at=500ms:on=time:client=all:all:times=3:every=1200ms:for=250ms"

// mutantTrials are those of the full lock's mutants.
var mutantTrials = map[string]Trial{
	"quorum-2":              {Faults: "split-vote:at=400ms:times=3:every=1200ms:for=600ms", Load: "keys=1 hold=100ms"},
	"validity-fresh":        {Faults: "slow-reply:at=500ms:on=time:client=all:times=2:every=1700ms:for=1000ms", Load: "keys=1 hold=50ms timeout=2s"},
	"extend-any-owner":      {Faults: "stall:at=200ms:on=renewal-due:then=-60ms:client=holder:all:times=3:every=1300ms:for=640ms", Load: "clients=3 keys=1 hold=1200ms renew=true timeout=2s"},
	"extend-minority":       {Faults: "cut:at=200ms:on=renewal-due:client=holder:majority:for=2s", Load: "nodes=3 clients=4 keys=1 hold=3s renew=true"},
	"extend-recreates":      {Faults: "stall:at=200ms:on=renewal-due:then=-60ms:client=holder:all:times=4:every=1s:for=660ms", Load: "clients=2 keys=1 hold=20ms long-hold=0.4 think=120ms timeout=2s", Length: 6 * time.Second},
	"renew-recreated-count": {Faults: "ttl-shift:at=200ms:on=renewal-due:then=-100ms:majority:times=10:every=800ms", Load: "nodes=3 clients=3 keys=1 hold=15ms long-hold=0.5 think=40ms", Shows: []string{"S6"}, Length: 9 * time.Second},
	"renew-new-deadline":    {Faults: "request-lost:at=200ms:on=renewal-due:then=-100ms:client=holder:for=3s", Load: "clients=3 keys=1 hold=3500ms renew=true timeout=4s", TTL: 2 * time.Second, Length: 5 * time.Second},
	"loss-late":             {Faults: "cut:at=200ms:on=renewal-due:client=holder:all:times=2:every=2s:for=1500ms", Load: "clients=3 keys=1 hold=3s renew=true"},
	"no-undo":               {Faults: "none", Load: "nodes=5 keys=1 hold=20ms slo=gap<1300ms", TTL: 2 * time.Second, Also: []string{Missed}},
	"release-answered":      {Faults: lostReplies, Load: "keys=1 hold=20ms timeout=200ms slo=gap<1300ms", TTL: 2 * time.Second, Also: []string{Missed}},
	"timeout-is-refusal":    {Faults: lostReplies, Load: "keys=1 hold=20ms timeout=200ms slo=gap<1300ms", TTL: 2 * time.Second, Also: []string{Missed}},
	"timeout-is-grant":      {Faults: "partition-client:at=300ms:on=acquire-sent:times=4:every=900ms:for=600ms", Load: "keys=1 hold=100ms"},
	"pooled":                {Faults: "latency:at=100ms:client=all:n3:delay=60ms:jitter=10ms:for=3900ms", Load: "nodes=3 keys=1 hold=5ms think=2ms timeout=500ms slo=gap<1300ms", TTL: 2 * time.Second, Also: []string{Missed}},
	"store-accepts-older":   {Faults: lateRelease, Load: "keys=1 hold=100ms"},
	"token-max":             {Faults: "ring:at=100ms:for=3500ms", Load: "nodes=5 keys=1 hold=5ms"},
	"token-clock":           {Faults: "none"},
	"write-back-any-owner":  {Faults: "ring:at=100ms:for=8900ms,latency:at=100ms:client=all:all:delay=40ms:jitter=30ms:for=8900ms,ttl-shift:at=300ms:any:times=140:every=60ms", Load: "nodes=3 clients=32 keys=8 hold=5ms think=2ms", Shows: []string{"S4b"}, Length: 9 * time.Second},
	"amnesia-serves":        {Faults: "kill:empty:at=500ms:on=acquire-replied:swing:times=2:every=1500ms", Load: "keys=1 hold=200ms", Shows: []string{"S1", "S10"}},
	"amnesia-early-seed":    {Faults: "none", Untried: early},
	"amnesia-no-seed":       {Faults: "kill:empty:at=1500ms:all", Load: "keys=1 hold=20ms", Length: 5 * time.Second},
	"reentry-drift":         {Faults: "none", Load: "mode=reentrant keys=1"},
	"readers-share-expiry":  {Faults: "none", Load: "mode=rw readers=0.6 keys=1 hold=50ms"},
	"no-wake-up":            {Faults: "none", Load: "mode=rw readers=0.5 keys=1 hold=20ms wait=2500ms slo=longest_wait<1200ms", TTL: 2 * time.Second, Also: []string{Missed}},
}

// early is why one mutant is caught in virtual time alone.
var early = func() map[string]string {
	why := map[string]string{}
	for _, id := range []string{"S4", "S4b", "S2"} {
		why[id] = "needs an acquire under way across a node's crash and the marks read in between, with the third node untouched: go test ./lockimpl/mutants plays it in virtual time, and its README says what was tried on real servers"
	}
	return why
}()
