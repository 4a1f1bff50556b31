package printable

import (
	"strings"
	"testing"
)

func TestHideCommand(t *testing.T) {
	for line, want := range map[string]string{
		"./wrapper --password hunter2 --n 3":          "./wrapper --password [hidden] --n 3",
		"./wrapper --password=hunter2":                "./wrapper --password=[hidden]",
		"env REDIS_PASSWORD=hunter2 ./wrapper":        "env REDIS_PASSWORD=[hidden] ./wrapper",
		"redis-cli -a hunter2 ping":                   "redis-cli -a [hidden] ping",
		"./wrapper redis://me:hunter2@h:6379/0":       "./wrapper redis://[hidden]@h:6379/0",
		"./wrapper redis://:hunter2@h:6379":           "./wrapper redis://[hidden]@h:6379",
		"./wrapper me:hunter2@h:6379":                 "./wrapper [hidden]@h:6379",
		"exec:sh wrapper.sh --api-key hunter2 x":      "exec:sh wrapper.sh --api-key [hidden] x",
		"./wrapper --AUTH-TOKEN=hunter2":              "./wrapper --AUTH-TOKEN=[hidden]",
		"python3 wrapper.py --ttl 2s --keys 8":        "python3 wrapper.py --ttl 2s --keys 8",
		"torture run --lock token-lua --lock=token-x": "torture run --lock token-lua --lock=token-x",
	} {
		if got := HideCommand(line); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	words := HideSecrets([]string{"torture", "run", "--lock", "exec:./wrapper --password hunter2"})
	if strings.Contains(strings.Join(words, " "), "hunter2") {
		t.Errorf("a command in one word: %q", words)
	}
}
