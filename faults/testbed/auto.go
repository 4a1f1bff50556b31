package testbed

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Names that a Config may ask for beside KindProcess, KindEmbedded and
// KindExternal.
const (
	KindAuto      = "auto"
	KindContainer = "container"
)

// An Ability is something that can be done to the nodes of a testbed.
type Ability string

// The abilities, each with the interface that stands for it.
const (
	AbilityKill      Ability = "kill"              // Killer
	AbilityWithData  Ability = "restart with data" // Killer, Restarter
	AbilityPause     Ability = "pause"             // Pauser
	AbilityPowerLoss Ability = "power loss"        // Killer, Restarter
	AbilityClockJump Ability = "clock jump"        // ClockJumper
	AbilityFailover  Ability = "failover"          // Replicated
	AbilityAdmin     Ability = "admin commands"    // Administrable; an embedded node knows few
)

// Abilities returns what can be done to n. Its links can always be hurt.
func Abilities(n Node) []Ability {
	var can []Ability
	if _, ok := n.(Killer); ok {
		can = append(can, AbilityKill)
		r, picky := n.(Restarter)
		if !picky || r.CanRestart(WithData) == nil {
			can = append(can, AbilityWithData)
		}
		if picky && r.CanRestart(PowerLoss) == nil {
			can = append(can, AbilityPowerLoss)
		}
	}
	if _, ok := n.(Pauser); ok {
		can = append(can, AbilityPause)
	}
	if _, ok := n.(ClockJumper); ok {
		can = append(can, AbilityClockJump)
	}
	if _, ok := n.(Replicated); ok {
		can = append(can, AbilityFailover)
	}
	if _, ok := n.(Administrable); ok {
		can = append(can, AbilityAdmin)
	}
	return can
}

// A Config describes the testbed to start. Fields that the chosen kind does not
// have are ignored.
type Config struct {
	Kind      string // KindAuto, or the one that the user named
	Nodes     int
	Dir       string // process: see ProcessConfig
	Binary    string // process
	Persist   bool   // process
	Fsync     Fsync  // process
	FakeClock bool   // process

	External ExternalConfig // with addresses: KindAuto chooses KindExternal
}

// A Candidate is a kind of testbed as far as this machine can offer it.
type Candidate struct {
	Kind      string
	Available bool
	Detail    string    // version and path, or why it is not available
	Abilities []Ability // of its nodes, as c asks for them to be started
}

// detectTimeout bounds a question to a program on this machine.
const detectTimeout = 5 * time.Second

// Detect returns every kind of testbed in the order in which KindAuto prefers
// them.
func Detect(ctx context.Context, c Config) []Candidate {
	return []Candidate{detectExternal(c), detectProcess(ctx, c), detectContainer(ctx), {
		Kind: KindEmbedded, Available: true,
		Detail:    embeddedVersion() + ", in this process: not Redis, and no benchmark",
		Abilities: Abilities(new(embeddedNode)),
	}}
}

func detectExternal(c Config) Candidate {
	d := Candidate{Kind: KindExternal, Detail: "no address given", Abilities: Abilities(new(externalNode))}
	if len(c.External.Addrs) > 0 {
		d.Available, d.Detail = true, strings.Join(c.External.Addrs, ", ")
	}
	return d
}

func detectProcess(ctx context.Context, c Config) Candidate {
	ctx, cancel := context.WithTimeout(ctx, detectTimeout)
	defer cancel()
	n := &processNode{persist: c.Persist, bed: &processBed{cfg: ProcessConfig{Fsync: cmp.Or(c.Fsync, FsyncAlways)}}}
	d := Candidate{Kind: KindProcess, Abilities: Abilities(n)}
	path, err := findServer(c.Binary)
	if err != nil {
		d.Detail = err.Error()
		return d
	}
	version, err := binaryVersion(ctx, path)
	if err != nil {
		d.Detail = err.Error()
		return d
	}
	d.Available, d.Detail = true, version+" at "+path
	if !c.FakeClock {
		return d
	}
	if _, err := findFakeTime(); err != nil {
		d.Available, d.Detail = false, err.Error()
		return d
	}
	d.Abilities = Abilities(&clockNode{processNode: n})
	return d
}

// detectContainer says what there is of Docker; no testbed is built on it.
func detectContainer(ctx context.Context) Candidate {
	ctx, cancel := context.WithTimeout(ctx, detectTimeout)
	defer cancel()
	d := Candidate{Kind: KindContainer}
	path, err := exec.LookPath("docker")
	if err != nil {
		d.Detail = "docker is not on PATH"
		return d
	}
	out, err := exec.CommandContext(ctx, path, "version", "--format", "{{.Server.Version}}").Output()
	if version := strings.TrimSpace(string(out)); err == nil && version != "" {
		d.Detail = "docker " + version + " answers, but this build has no container testbed; docker-compose.yml starts servers for " + KindExternal
		return d
	}
	d.Detail = path + " is here, but no Docker engine answers"
	return d
}

// Choose picks the kind of testbed to start, and says why in one line.
func Choose(ctx context.Context, c Config) (kind, why string, err error) {
	candidates := Detect(ctx, c)
	var passed []string
	for _, d := range candidates {
		switch {
		case c.Kind == d.Kind && !d.Available:
			return "", "", fmt.Errorf("choose testbed %s: %s: %w", d.Kind, d.Detail, ErrUnsupported)
		case c.Kind == d.Kind:
			return d.Kind, "asked for; " + d.Detail, nil
		case c.Kind != KindAuto && c.Kind != "":
			continue
		case d.Available && len(passed) == 0:
			return d.Kind, d.Detail, nil
		case d.Available:
			return d.Kind, fmt.Sprintf("%s (not %s)", d.Detail, strings.Join(passed, "; not ")), nil
		}
		if d.Kind != KindExternal { // that no address was given is no news
			passed = append(passed, d.Kind+": "+d.Detail)
		}
	}
	return "", "", fmt.Errorf("choose testbed %q: no such kind; there are %s, %s, %s, %s and %s: %w",
		c.Kind, KindAuto, KindExternal, KindProcess, KindContainer, KindEmbedded, ErrUnsupported)
}

// Start starts the testbed that Choose picks, and returns its reason.
func Start(ctx context.Context, c Config) (b Testbed, why string, err error) {
	kind, why, err := Choose(ctx, c)
	if err != nil {
		return nil, "", err
	}
	switch kind {
	case KindExternal:
		b, err = StartExternal(ctx, c.External)
	case KindProcess:
		b, err = StartProcess(ctx, ProcessConfig{
			Nodes: c.Nodes, Dir: c.Dir, Binary: c.Binary,
			Persist: c.Persist, Fsync: c.Fsync, FakeClock: c.FakeClock,
		})
	default:
		b, err = StartEmbedded(ctx, EmbeddedConfig{Nodes: c.Nodes})
	}
	return b, why, err
}
