// Package script holds the Lua scripts, which are the whole of what a lock
// ever asks of a server.
package script

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"regexp"
	"strings"
)

//go:embed lua/*.lua
var files embed.FS

// A Script is the text of one script and the name under which a server that
// has loaded it knows it.
type Script struct {
	Name   string
	Source string
	SHA    string
}

// The scripts. What each one takes and answers is written in its file.
var (
	Acquire = load("acquire")
	Raise   = load("raise")
	Renew   = load("renew")
	Release = load("release", "queue")
	Wait    = load("wait", "queue")
	Leave   = load("leave", "queue")

	AcquireShared = load("acquire_shared", "queue")
	RaiseShared   = load("raise_shared")
	RenewShared   = load("renew_shared")
	ReleaseShared = load("release_shared", "queue")

	Hello = load("hello")
	Admit = load("admit")
	Floor = load("floor")
)

// All returns every script.
func All() []*Script {
	return []*Script{
		Acquire, Raise, Renew, Release, Wait, Leave,
		AcquireShared, RaiseShared, RenewShared, ReleaseShared,
		Hello, Admit, Floor,
	}
}

// load reads a script, preceded by the parts that it shares with others.
func load(name string, parts ...string) *Script {
	var text string
	for _, part := range append(parts, name) {
		b, err := files.ReadFile("lua/" + part + ".lua")
		if err != nil {
			panic("script " + part + " is not embedded: " + err.Error())
		}
		text += string(b)
	}
	return named(name, text)
}

func named(name, text string) *Script {
	sum := sha1.Sum([]byte(text))
	return &Script{Name: name, Source: text, SHA: hex.EncodeToString(sum[:])}
}

// Replace returns s with the text old replaced by text, wherever it occurs.
// It panics when s does not contain old.
func (s *Script) Replace(old, text string) *Script {
	if !strings.Contains(s.Source, old) {
		panic("script " + s.Name + " does not contain " + old)
	}
	return named(s.Name, strings.ReplaceAll(s.Source, old, text))
}

var runID = regexp.MustCompile(`(?m)^run_id:([0-9a-f]+)`)

// RunID returns the run id in a reply to INFO server, or "".
func RunID(info string) string {
	m := runID.FindStringSubmatch(info)
	if m == nil {
		return ""
	}
	return m[1]
}
