package testbed

import (
	"context"
	"fmt"
)

// Kinds are the kinds of testbed, the best first.
var Kinds = []string{KindProcess, KindSentinel, KindCluster, KindContainer, KindCompose, KindEmbedded, KindExternal}

// A specimen is a testbed that is not running.
type specimen struct {
	kind  string
	nodes []Node
}

// Specimen returns a testbed of the given kind that is not running and has one node, with all
// abilities that the kind can be started with: to find out which faults it supports. It need
// not be closed. An unknown kind has no nodes.
func Specimen(kind string) Testbed {
	return SpecimenOf(Config{Kind: kind, Nodes: 1, Persist: true, Fsync: FsyncSecond, FakeClock: true})
}

// SpecimenOf is Specimen for a testbed that is started as c says.
func SpecimenOf(c Config) Testbed {
	s := specimen{kind: c.Kind}
	nodes := c.Nodes
	switch c.Kind {
	case KindSentinel:
		nodes = sentinelServers
	case KindCluster:
		nodes = clusterServers
	}
	for i := range nodes {
		if n := c.specimen(fmt.Sprintf("n%d", i+1)); n != nil {
			s.nodes = append(s.nodes, n)
		}
	}
	switch c.Kind {
	case KindSentinel:
		return sentinelSpecimen{deployedSpecimen{s}}
	case KindCluster:
		return clusterSpecimen{deployedSpecimen{s}}
	}
	return s
}

// A deployedSpecimen is a Deployment that is not running.
type deployedSpecimen struct{ specimen }

// Announced implements Deployment.
func (deployedSpecimen) Announced(string) string { return "" }

// Masters implements Deployment.
func (deployedSpecimen) Masters(context.Context) ([]Node, error) { return nil, ErrDown }

// Shard implements Deployment.
func (deployedSpecimen) Shard(context.Context, string) (int, error) { return 0, ErrDown }

// Settle implements Deployment.
func (deployedSpecimen) Settle(context.Context) error { return ErrDown }

type sentinelSpecimen struct{ deployedSpecimen }

// Sentinels implements Sentinels.
func (sentinelSpecimen) Sentinels() (string, []string) { return MasterName, nil }

type clusterSpecimen struct{ deployedSpecimen }

// Slot implements Cluster.
func (clusterSpecimen) Slot(key string) int { return slotOf(key) }

func (c Config) specimen(name string) Node {
	switch c.Kind {
	case KindProcess:
		n := &processNode{name: name, persist: c.Persist, bed: &processBed{cfg: ProcessConfig{Fsync: c.Fsync}}}
		if c.FakeClock {
			return &clockNode{processNode: n}
		}
		return n
	case KindSentinel, KindCluster:
		if c.Image != "" {
			return &containerNode{name: name, persist: c.Persist, deploymentConfig: deploymentConfig{elected: true}}
		}
		return &processNode{name: name, persist: c.Persist, deploymentConfig: deploymentConfig{elected: true}, bed: &processBed{cfg: ProcessConfig{Fsync: c.Fsync}}}
	case KindContainer:
		return &containerNode{name: name, persist: c.Persist}
	case KindCompose:
		return &composeNode{externalNode: externalNode{name: name}}
	case KindEmbedded:
		return &embeddedNode{name: name}
	case KindExternal:
		return &externalNode{name: name}
	}
	return nil
}

// Name implements Testbed.
func (s specimen) Name() string { return s.kind }

// Version implements Testbed.
func (s specimen) Version() string { return "not running" }

// Nodes implements Testbed.
func (s specimen) Nodes() []Node { return s.nodes }

// Store implements Testbed.
func (s specimen) Store() Node {
	if len(s.nodes) == 0 {
		return nil
	}
	return s.nodes[0]
}

// Close implements Testbed.
func (s specimen) Close() error { return nil }
