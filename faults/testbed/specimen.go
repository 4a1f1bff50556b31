package testbed

import (
	"context"
	"fmt"
)

// Kinds are the kinds of testbed, the best first.
var Kinds = []string{KindProcess, KindSentinel, KindContainer, KindCompose, KindEmbedded, KindExternal}

// specimen is a testbed that is not running.
type specimen struct {
	kind  string
	nodes []Node
}

// Specimen returns a testbed of the given kind as it can best be started, with
// one node, to ask what it can suffer. Nothing of it runs, and it need not be
// closed. An unknown kind has no nodes.
func Specimen(kind string) Testbed {
	return SpecimenOf(Config{Kind: kind, Nodes: 1, Persist: true, Fsync: FsyncSecond, FakeClock: true})
}

// SpecimenOf is Specimen for a testbed as c would have it started.
func SpecimenOf(c Config) Testbed {
	s := specimen{kind: c.Kind}
	nodes := c.Nodes
	if c.Kind == KindSentinel {
		nodes = sentinelServers
	}
	for i := range nodes {
		if n := c.specimen(fmt.Sprintf("n%d", i+1)); n != nil {
			s.nodes = append(s.nodes, n)
		}
	}
	if c.Kind == KindSentinel {
		return sentinelSpecimen{s}
	}
	return s
}

// A sentinelSpecimen is a Deployment that is not running.
type sentinelSpecimen struct{ specimen }

// Sentinels implements Deployment.
func (sentinelSpecimen) Sentinels() (string, []string) { return MasterName, nil }

// Announced implements Deployment.
func (sentinelSpecimen) Announced(string) string { return "" }

// Master implements Deployment.
func (s sentinelSpecimen) Master(context.Context) (Node, error) { return nil, ErrDown }

// Settle implements Deployment.
func (sentinelSpecimen) Settle(context.Context) error { return ErrDown }

func (c Config) specimen(name string) Node {
	switch c.Kind {
	case KindProcess:
		n := &processNode{name: name, persist: c.Persist, bed: &processBed{cfg: ProcessConfig{Fsync: c.Fsync}}}
		if c.FakeClock {
			return &clockNode{processNode: n}
		}
		return n
	case KindSentinel:
		return &processNode{name: name, persist: c.Persist, elected: true, bed: &processBed{cfg: ProcessConfig{Fsync: c.Fsync}}}
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
