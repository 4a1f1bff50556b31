package testbed

// Kinds are the kinds of testbed, the best first.
var Kinds = []string{KindProcess, KindContainer, KindCompose, KindEmbedded, KindExternal}

// specimen is a testbed that is not running.
type specimen struct {
	kind string
	node Node
}

// Specimen returns a testbed of the given kind as it can best be started, with
// one node, to ask what it can suffer. Nothing of it runs, and it need not be
// closed. An unknown kind has no nodes.
func Specimen(kind string) Testbed {
	return specimen{kind, map[string]Node{
		KindProcess: &clockNode{processNode: &processNode{
			name: "n1", persist: true, bed: &processBed{cfg: ProcessConfig{Fsync: FsyncSecond}},
		}},
		KindContainer: &containerNode{name: "n1", persist: true},
		KindCompose:   &composeNode{},
		KindEmbedded:  &embeddedNode{name: "n1"},
		KindExternal:  &externalNode{},
	}[kind]}
}

// Name implements Testbed.
func (s specimen) Name() string { return s.kind }

// Version implements Testbed.
func (s specimen) Version() string { return "not running" }

// Nodes implements Testbed.
func (s specimen) Nodes() []Node {
	if s.node == nil {
		return nil
	}
	return []Node{s.node}
}

// Store implements Testbed.
func (s specimen) Store() Node { return s.node }

// Close implements Testbed.
func (s specimen) Close() error { return nil }
