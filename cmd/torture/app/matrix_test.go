package app

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"locktorture/checker"
)

// An image is what its servers say, whatever its name.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		image, server string
		want          bool
	}{
		{"redis:7.0.15", "redis 7.0.15", true},
		{"redis:7", "redis 7.0.15", true},
		{"redis:7.0-alpine", "redis 7.0.15", true},
		{"localhost:5000/redis", "redis 7.0.15", true},
		{"redis:latest", "redis 7.0.15", true},
		{"redis:7.4", "redis 7.0.15", false},
		{"redis:7.1", "redis 7.10.0", false},
		{"valkey/valkey:8.1", "valkey 8.1.0", true},
		{"valkey/valkey:8.1", "redis 8.1.0", false},
		{"redis@sha256:4f00", "redis 7.0.15", true},
		{"redis:7.0@sha256:7f00", "redis 7.0.15", true},
		{"redis:7.4@sha256:7f00", "redis 7.0.15", false},
		{"localhost:5000/redis:7.4@sha256:7f00", "redis 7.0.15", false},
	} {
		if got := named(c.image, c.server); got != c.want {
			t.Errorf("%s, whose servers say %s: %v", c.image, c.server, got)
		}
	}
}

// The matrix ends as its gravest image, as any verdicts taken together do; an image that
// was not played is trouble of the harness.
func TestGravest(t *testing.T) {
	unplayed := resultOn("redis:9", nil, errors.New("no such image"))
	for _, c := range []struct {
		results []imageResult
		want    int
	}{
		{nil, 0},
		{[]imageResult{{judged: checker.Pass}, {judged: checker.SLOBreach}}, checker.SLOBreach.Exit()},
		{[]imageResult{{judged: checker.Inconclusive}, {judged: checker.SLOBreach}}, checker.Inconclusive.Exit()},
		{[]imageResult{{judged: checker.Inconclusive}, unplayed, {judged: checker.Pass}}, exitHarness},
		{[]imageResult{unplayed, {judged: checker.Fail}, {judged: checker.Inconclusive}}, checker.Fail.Exit()},
	} {
		if got := gravest(c.results); got.Exit() != c.want {
			t.Errorf("%v: %s", c.results, got)
		}
	}
}

// The table has a row for every image, also for one that could not be had, and says why;
// below it is the verdict of each that was played.
func TestMatrixTable(t *testing.T) {
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	results := []imageResult{
		{Image: "redis:7.4", Server: "redis 7.4.1", Verdict: "FAIL", Headline: "double grant", Exit: 1, Violations: []string{"S1", "S10"}, Dir: "runs/a"},
		resultOn("redis:9", nil, errors.New("image redis:9 is not here")),
	}
	if err := new(runCommand).printMatrix(cmd, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"redis:7.4  redis 7.4.1  FAIL        S1 S10  runs/a/results.json\n", "redis:9    –            NOT PLAYED  –", "VERDICT FAIL  redis:7.4: double grant\n", "redis:9: image redis:9 is not here\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
