package gallery

import "time"

// libraryTrials are those of the libraries.
var libraryTrials = map[string]Trial{
	"redsync": {
		Faults: forgetful("1") + "," + forgetful("2") + "," + forgetful("3") + ",partition-node:at=6s:on=time:n1:for=6s",
		Load:   "nodes=3 clients=6 slo=gap<4s", Also: []string{Missed}, Length: 13 * time.Second,
	},
	"redsync-hurried":  {Faults: lostReplies, Load: "nodes=3 keys=1 hold=20ms timeout=50ms slo=gap<1300ms", TTL: 2 * time.Second, Also: []string{Missed}},
	"redislock":        {Faults: "slow-reply:at=500ms:on=time:client=all:times=2:every=1700ms:for=1000ms", Load: "keys=1 hold=50ms timeout=2s"},
	"rueidislock":      {Faults: "partition-client:at=200ms:on=acquire-replied:client=holder:then=250ms:times=2:every=2s:for=1500ms", Load: "clients=3 keys=1 hold=2s renew=true"},
	"redis-py":         {Faults: lateRelease, Load: "clients=4 keys=1 hold=100ms"},
	"redis-rb":         {Faults: lateRelease, Load: "clients=4 keys=1 hold=100ms"},
	"redis-py-default": {Faults: "response-lost:at=500ms:on=time:client=all:all:times=5:every=700ms:for=150ms", Load: "clients=4 keys=4 hold=20ms"},
}
