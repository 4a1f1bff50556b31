// Package script holds the Lua scripts, which are the whole of what a lock
// ever asks of a server.
package script

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
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
	Acquire   = load("acquire")
	WriteBack = load("write_back")
	Renew     = load("renew")
	GiveBack  = load("give_back")
	Release   = load("release")
	Wait      = load("wait")
	Keep      = load("keep")
	Leave     = load("leave")

	AcquireShared   = load("acquire_shared")
	WriteBackShared = load("write_back_shared")
	RenewShared     = load("renew_shared")
	ReleaseShared   = load("release_shared")

	Hello = load("hello")
	Admit = load("admit")
	Limit = load("limit")

	Inspect = load("inspect")
)

// All returns every script.
func All() []*Script {
	return []*Script{
		Acquire, WriteBack, Renew, GiveBack, Release, Wait, Keep, Leave,
		AcquireShared, WriteBackShared, RenewShared, ReleaseShared,
		Hello, Admit, Limit, Inspect,
	}
}

// include is the line at which a script takes in what it shares with others.
const include = "-- include queue.lua\n"

func load(name string) *Script {
	return named(name, strings.Replace(text(name), include, text("queue"), 1))
}

func text(name string) string {
	b, err := files.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("script " + name + " is not embedded: " + err.Error())
	}
	return string(b)
}

func named(name, text string) *Script {
	sum := sha1.Sum([]byte(text))
	return &Script{Name: name, Source: text, SHA: hex.EncodeToString(sum[:])}
}

// Field returns the value of a field in a reply to INFO, or "".
func Field(info, name string) string {
	_, after, ok := strings.Cut("\n"+info, "\n"+name+":")
	if !ok {
		return ""
	}
	end := strings.IndexAny(after, "\r\n")
	if end < 0 {
		return after
	}
	return after[:end]
}
