package testbed

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// KindAuto is the name that a Config may ask for beside those of the testbeds:
// the best that there is.
const KindAuto = "auto"

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

// Abilities returns what can be done to n. Links to a node can always be impaired.
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
	Dir       string // process, sentinel, cluster, container: see ProcessConfig
	Binary    string // process, sentinel, cluster
	Persist   bool   // process, sentinel, cluster, container
	Fsync     Fsync  // process, sentinel, cluster, container
	FakeClock bool   // process

	MinReplicas int      // sentinel: see SentinelConfig
	Announce    Announce // sentinel, cluster

	Image string // container: see ContainerConfig; sentinel, cluster: has their servers in containers

	External ExternalConfig // with addresses: KindAuto chooses KindExternal
	Compose  ComposeConfig  // compose: never chosen by KindAuto
}

// A Candidate is a kind of testbed, and whether this machine can have it.
type Candidate struct {
	Kind      string
	Available bool
	Detail    string    // version and path, or why it is not available
	Abilities []Ability // of its nodes, as c asks for them to be started
}

// detectTimeout bounds a call of a program on this machine.
const detectTimeout = 5 * time.Second

// Detect returns every kind of testbed in the order in which KindAuto prefers
// them.
func Detect(ctx context.Context, c Config) []Candidate {
	var all []Candidate
	for _, d := range detectors {
		all = append(all, d.detect(ctx, c))
	}
	return all
}

// detectors look for one kind each, the most preferred first.
var detectors = []struct {
	kind   string
	detect func(ctx context.Context, c Config) Candidate
}{
	{KindExternal, detectExternal},
	{KindProcess, detectProcess},
	{KindContainer, detectContainer},
	{KindSentinel, deployed(KindSentinel)},
	{KindCluster, deployed(KindCluster)},
	{KindCompose, detectCompose},
	{KindEmbedded, detectEmbedded},
}

// detectCompose offers the servers when they are asked for by name, without a look whether they
// run: StartCompose reports what is wrong with them.
func detectCompose(_ context.Context, c Config) Candidate {
	return Candidate{
		Kind: KindCompose, Available: c.Kind == KindCompose,
		Detail:    "servers of docker-compose.yml, when asked for (docker compose up -d)",
		Abilities: Abilities(new(composeNode)),
	}
}

// deployed is detectProcess without clocks, for a deployment. It is never chosen unless asked
// for: to the lock it is another kind of service.
func deployed(kind string) func(context.Context, Config) Candidate {
	return func(ctx context.Context, c Config) Candidate {
		c.FakeClock = false
		var d Candidate
		if c.Image == "" || c.Kind != kind {
			d = detectProcess(ctx, c)
		} else {
			d = detectContained(ctx, c)
		}
		d.Kind = kind
		if d.Available && c.Kind != kind {
			d.Available, d.Detail = false, "when asked for: "+d.Detail
		}
		return d
	}
}

// detectContained is detectContainer for the servers of a deployment.
func detectContained(ctx context.Context, c Config) Candidate {
	c.Kind = KindContainer
	d := detectContainer(ctx, c)
	d.Abilities = Abilities(&containerNode{persist: c.Persist, deploymentConfig: deploymentConfig{elected: true}})
	if d.Available && runtime.GOOS != "linux" {
		d.Available, d.Detail = false, "servers of a deployment in containers share this machine's network, which Docker offers on Linux alone: leave the image out"
	}
	return d
}

// onRequest are the kinds that are chosen only when they are asked for.
var onRequest = []string{KindExternal, KindCompose, KindSentinel, KindCluster}

func detectEmbedded(context.Context, Config) Candidate {
	return Candidate{
		Kind: KindEmbedded, Available: true,
		Detail:    embeddedVersion() + ", in this process: not Redis, and no benchmark",
		Abilities: Abilities(new(embeddedNode)),
	}
}

func detectExternal(_ context.Context, c Config) Candidate {
	d := Candidate{Kind: KindExternal, Detail: "no address given", Abilities: Abilities(new(externalNode))}
	if len(c.External.Masters) > 0 {
		var all []string
		for _, e := range c.External.Masters {
			all = append(all, e.String())
		}
		d.Available, d.Detail = true, strings.Join(all, ", ")
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

// detectContainer looks for a Docker engine that has the image. One that would
// have to pull it counts when containers are asked for by name.
func detectContainer(ctx context.Context, c Config) Candidate {
	ctx, cancel := context.WithTimeout(ctx, detectTimeout)
	defer cancel()
	d := Candidate{Kind: KindContainer, Abilities: Abilities(&containerNode{persist: c.Persist})}
	docker, err := openDocker()
	if err != nil {
		d.Detail = err.Error()
		return d
	}
	defer func() { _ = docker.Close() }()
	image := cmp.Or(c.Image, DefaultImage)
	engine, err := engineVersion(ctx, docker)
	have := false
	if err == nil {
		have, err = haveImage(ctx, docker, image)
	}
	switch {
	case err != nil:
		d.Detail = err.Error()
	case have:
		d.Available, d.Detail = true, image+" on "+engine
	default:
		d.Available = c.Kind == KindContainer
		d.Detail = fmt.Sprintf("%s is here, but image %s is not (docker pull %s)", engine, image, image)
	}
	return d
}

// Choose picks the kind of testbed to start, and says why in one line.
func Choose(ctx context.Context, c Config) (kind, why string, err error) {
	var passed []string
	for _, kind := range detectors {
		if c.Kind != kind.kind && c.Kind != KindAuto && c.Kind != "" {
			continue
		}
		d := kind.detect(ctx, c)
		switch {
		case c.Kind == d.Kind && !d.Available:
			return "", "", fmt.Errorf("choose testbed %s: %s: %w", d.Kind, d.Detail, ErrUnsupported)
		case c.Kind == d.Kind:
			return d.Kind, "asked for; " + d.Detail, nil
		case d.Available && len(passed) == 0:
			return d.Kind, d.Detail, nil
		case d.Available:
			return d.Kind, fmt.Sprintf("%s (not %s)", d.Detail, strings.Join(passed, "; not ")), nil
		}
		if !slices.Contains(onRequest, d.Kind) { // that nobody asked for them is no news
			passed = append(passed, d.Kind+": "+d.Detail)
		}
	}
	return "", "", fmt.Errorf("choose testbed %q: no such kind; there are %s, %s: %w",
		c.Kind, KindAuto, strings.Join(Kinds, ", "), ErrUnsupported)
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
	case KindSentinel:
		b, err = StartSentinel(ctx, SentinelConfig{
			Dir: c.Dir, Binary: c.Binary, Image: c.Image, Persist: c.Persist, Fsync: c.Fsync, MinReplicas: c.MinReplicas, Announce: c.Announce,
		})
	case KindCluster:
		b, err = StartCluster(ctx, ClusterConfig{Dir: c.Dir, Binary: c.Binary, Image: c.Image, Persist: c.Persist, Fsync: c.Fsync, Announce: c.Announce})
	case KindCompose:
		b, err = StartCompose(ctx, c.Compose)
	case KindContainer:
		b, err = StartContainer(ctx, ContainerConfig{
			Nodes: c.Nodes, Image: c.Image, Dir: c.Dir, Persist: c.Persist, Fsync: c.Fsync,
		})
	default:
		b, err = StartEmbedded(ctx, EmbeddedConfig{Nodes: c.Nodes})
	}
	return b, why, err
}
