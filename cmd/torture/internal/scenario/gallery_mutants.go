package scenario

import "time"

// mutantTrials are those of the full lock's mutants.
var mutantTrials = map[string]Trial{
	"quorum-2":              {Faults: "split-vote:at=400ms:times=3:every=1200ms:for=600ms", Load: "keys=1 hold=100ms"},
	"validity-fresh":        {Faults: "slow-reply:at=500ms:on=time:client=all:times=2:every=1700ms:for=1000ms", Load: "keys=1 hold=50ms timeout=2s"},
	"extend-any-owner":      {Faults: "pause-client:at=200ms:on=renewal-due:times=4:every=1s:for=900ms", Load: "clients=3 keys=1 hold=900ms renew=true timeout=2s"},
	"extend-minority":       {Faults: "cut:at=200ms:on=renewal-due:client=holder:majority:times=2:every=2s:for=1500ms", Load: "nodes=3 clients=4 keys=1 hold=1500ms renew=true"},
	"extend-recreates":      {Faults: "pause-client:at=200ms:on=renewal-due:times=4:every=1s:for=900ms", Load: "clients=2 keys=1 hold=20ms long-hold=0.4 think=150ms timeout=2s"},
	"renew-recreated-count": {Faults: "ttl-shift:at=300ms:on=acquire-replied:then=60ms:majority:times=12:every=300ms", Load: "nodes=3 clients=3 keys=1 hold=20ms long-hold=0.5 think=50ms", Shows: []string{"S6"}},
	"renew-new-deadline":    {Faults: "request-lost:at=200ms:on=renewal-due:client=holder:times=3:every=1300ms:for=1s", Load: "clients=3 keys=1 hold=1500ms renew=true timeout=2s"},
	"loss-late":             {Faults: "cut:at=200ms:on=renewal-due:client=holder:all:times=3:every=1300ms:for=1s", Load: "clients=3 keys=1 hold=1500ms renew=true"},
	"no-undo":               {Faults: "none", Load: "nodes=5 keys=1 hold=20ms slo=longest_wait<400ms", Also: []string{Missed}},
	"release-answered":      {Faults: "response-lost:at=500ms:on=time:client=all:all:times=3:every=1s:for=150ms", Load: "keys=1 hold=20ms slo=gap<500ms", Also: []string{Missed}},
	"timeout-is-refusal":    {Faults: "response-lost:at=500ms:on=time:client=all:all:times=3:every=1s:for=150ms", Load: "keys=1 hold=20ms slo=gap<500ms", Also: []string{Missed}},
	"timeout-is-grant":      {Faults: "partition-client:at=300ms:on=acquire-sent:times=4:every=900ms:for=600ms", Load: "keys=1 hold=100ms"},
	"pooled":                {Faults: "latency:at=100ms:client=all:n3:delay=60ms:jitter=10ms:for=4s", Load: "nodes=3 keys=1 hold=5ms think=2ms slo=longest_wait<400ms", Also: []string{Missed}},
	"token-max":             {Faults: "ring:at=100ms:for=3500ms", Load: "nodes=5 keys=1 hold=5ms"},
	"token-clock":           {Faults: "none"},
	"write-back-any-owner":  {Faults: "latency:at=100ms:client=all:all:delay=40ms:jitter=30ms:for=4s,ttl-shift:at=300ms:any:times=30:every=120ms", Load: "nodes=3 keys=1 hold=20ms", Shows: []string{"S4b"}},
	"amnesia-serves":        {Faults: "kill:empty:at=500ms:on=acquire-replied:swing:times=2:every=1500ms", Load: "keys=1 hold=200ms", Shows: []string{"S1", "S10"}},
	"amnesia-no-seed":       {Faults: "kill:empty:at=1500ms:all", Load: "keys=1 hold=20ms", Length: 5 * time.Second},
	"reentry-drift":         {Faults: "none", Load: "mode=reentrant keys=1"},
	"readers-share-expiry":  {Faults: "none", Load: "mode=rw readers=0.6 keys=1 hold=50ms"},
	"no-wake-up":            {Faults: "none", Load: "mode=rw readers=0.5 keys=1 hold=20ms wait=1500ms slo=longest_wait<700ms", Also: []string{Missed}},
}
