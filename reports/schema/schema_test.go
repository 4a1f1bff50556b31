package schema_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"locktorture/checker"
	"locktorture/reports"
	"locktorture/reports/capacity"
	"locktorture/reports/internal/sample"
	"locktorture/reports/schema"
	"locktorture/workload/history"
)

var update = flag.Bool("update", false, "write the schemas anew from the types")

// The types behind the files.
var files = map[string]any{
	"results.schema.json":  reports.Results{},
	"capacity.schema.json": capacity.Report{},
	"night.schema.json":    reports.Night{},
}

// TestSchemasSayWhatTheTypesDo holds the published files to the types: a field that is
// added, renamed or changed is a change of its schema.
func TestSchemasSayWhatTheTypesDo(t *testing.T) {
	t.Chdir(filepath.Join("..", "..")) // comments are found by their path from there
	for name, v := range files {
		want := generate(t, name, v)
		if *update {
			if err := os.WriteFile(filepath.Join("reports", "schema", name), want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := schema.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its types say: go test ./reports/schema -update writes it anew", name)
		}
	}
}

// generate makes the schema of a type.
func generate(t *testing.T, name string, v any) []byte {
	t.Helper()
	r := jsonschema.Reflector{Namer: distinct, Mapper: special}
	for _, dir := range []string{"reports", "checker", "workload/history"} {
		if err := r.AddGoComments("locktorture", dir, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(v)
	s.ID, s.Title = "", name
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	nullable(tree)
	out, err := json.MarshalIndent(tree, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// distinct tells types of one name in two packages apart.
func distinct(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	pkg := filepath.Base(t.PkgPath())
	return pkg + "." + t.Name()
}

// special are the types whose JSON is made by themselves.
func special(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[history.Target]():
		return &jsonschema.Schema{} // by kind of fault
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "integer", Description: "nanoseconds"}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && t != reflect.TypeFor[time.Time]() {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// nullable allows null where encoding/json writes it: for slices, maps and pointers
// that are nil.
func nullable(node any) {
	switch n := node.(type) {
	case map[string]any:
		if n["type"] == "array" {
			n["type"] = []any{"array", "null"}
		}
		if _, isMap := n["additionalProperties"].(map[string]any); isMap && n["type"] == "object" {
			n["type"] = []any{"object", "null"}
		}
		for _, child := range n {
			nullable(child)
		}
	case []any:
		for _, child := range n {
			nullable(child)
		}
	}
}

// compiled is the published schema.
func compiled(t *testing.T, name string) *validator.Schema {
	t.Helper()
	raw, err := schema.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := validator.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(name, tree); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, name string, raw []byte) error {
	t.Helper()
	tree, err := validator.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t, name).Validate(tree)
}

// TestFilesMatchTheirSchemas validates what is written.
func TestFilesMatchTheirSchemas(t *testing.T) {
	for kind, shape := range map[string]sample.Shape{"passing": sample.Passing, "failing": sample.Failing, "empty": {Duration: time.Second}, "harness error": {}} {
		h := sample.History(shape)
		r := &reports.Run{Meta: reports.Meta{Scenario: "standard", Lock: "redlock", Seed: 1, SLO: []string{"acquire.p99<5s"}}, Report: sample.Report(h)}
		if kind == "harness error" {
			r.Report, r.Harness = checker.Report{}, []string{"n3 did not start"}
		}
		if err := r.Measure(&sample.Source{History: h}); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := reports.Write(dir, r); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, reports.ResultsFile))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, "results.schema.json", raw); err != nil {
			t.Errorf("%s run: %v", kind, err)
		}
	}
	night := &reports.Night{Schema: 1, Began: time.Unix(0, 0).UTC(), Seeds: []uint64{1}, Verdict: checker.Pass,
		Cells: []reports.NightCell{{Lock: "redlock", Scenario: "standard", Verdict: checker.Pass, Counts: checker.Pass, Grants: 5}}}
	raw, err := json.Marshal(night)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, "night.schema.json", raw); err != nil {
		t.Error(err)
	}
	var text bytes.Buffer
	c := &capacity.Report{Calibration: &capacity.Calibration{HeldOut: []capacity.HeldOut{capacity.NewHeldOut("a point", capacity.Scenario{Masters: 5}, nil, nil, nil)}},
		Sweep:  []capacity.Load{{N: 1, Rate: 2, Acquire: capacity.TimesOf([]time.Duration{1, 2})}},
		Points: []capacity.Point{{Rate: 5}}}
	if err := c.JSON(&text); err != nil {
		t.Fatal(err)
	}
	if err := validate(t, "capacity.schema.json", text.Bytes()); err != nil {
		t.Error(err)
	}
}

// TestSchemasRefuse what the files do not hold.
func TestSchemasRefuse(t *testing.T) {
	for name := range files {
		for _, raw := range []string{`{}`, `[]`, `{"schema":"one"}`} {
			if validate(t, name, []byte(raw)) == nil {
				t.Errorf("%s takes %s", name, raw)
			}
		}
	}
}
