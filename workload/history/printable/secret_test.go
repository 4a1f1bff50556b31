package printable

import (
	"strings"
	"testing"
)

// What is said of how to write a server can be read; what stands in that place is not.
func TestHideUserinfo(t *testing.T) {
	for text, want := range map[string]string{
		"give redis://[USER:PASSWORD@]HOST:PORT[/DB]": "give redis://[USER:PASSWORD@]HOST:PORT[/DB]",
		"or redis://USER:PASSWORD@…":                  "or redis://USER:PASSWORD@…",
		"redis://USER:PASSWORD1@h":                    "redis://[hidden]@h",
		"redis://USER:hunter2@h, USER:PASSWORD@h":     "redis://[hidden]@h, USER:PASSWORD@h",
	} {
		if got := HideUserinfo(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

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
