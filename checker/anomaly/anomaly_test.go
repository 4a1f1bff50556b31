package anomaly

import (
	"slices"
	"strings"
	"testing"
)

// TestTable: every entry says what its readers need: who judges by a property
// has a remedy, who is missing evidence an advice, and no placeholder is left open.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range All() {
		if seen[a.ID] || a.ID == "" || a.Name == "" || !strings.HasSuffix(a.Meaning, ".") {
			t.Errorf("%q: given twice, or without a name or a sentence", a.ID)
		}
		seen[a.ID] = true
		violation := a.Property != "" && a.Traits&Service == 0
		if violation && !strings.HasSuffix(a.Remedy, ".") || !violation && a.Remedy != "" {
			t.Errorf("%s: remedy %q", a.ID, a.Remedy)
		}
		if strings.HasPrefix(a.ID, "V") != (a.Advice != "") {
			t.Errorf("%s: advice %q", a.ID, a.Advice)
		}
		if a.Property != "" && !slices.Contains(Properties(), a.Property) {
			t.Errorf("%s: property %q is none of %v", a.ID, a.Property, Properties())
		}
		for _, title := range []string{a.Title, a.OtherTitle} {
			if left := strings.NewReplacer("{actor}", "", "{key}", "", "{other}", "").Replace(title); strings.ContainsAny(left, "{}") {
				t.Errorf("%s: title %q", a.ID, title)
			}
		}
	}
}

func TestFind(t *testing.T) {
	if a, ok := Find("S3z"); !ok || a.Name != "zombie effect" || Name("S3z") != a.Name {
		t.Errorf("%+v %v", a, ok)
	}
	if a, ok := Find("S99"); ok || a.ID != "" || Name("S99") != "" || Has("S99", ComparesTimes) {
		t.Errorf("%+v %v", a, ok)
	}
}

func TestPicks(t *testing.T) {
	if ids := IDs(); len(ids) != len(All()) || ids[0] != "S1" {
		t.Error(ids)
	}
	if got, want := With(Service), []string{"L4", "L6"}; !slices.Equal(got, want) {
		t.Errorf("service: %v, want %v", got, want)
	}
	if got, want := With(NeedsHealth), []string{"L1", "L2", "L3", "L5", "L7", "L8", "L9"}; !slices.Equal(got, want) {
		t.Errorf("needs health: %v, want %v", got, want)
	}
	if got, want := Of(Leftovers), []string{"L8", "L9"}; !slices.Equal(got, want) {
		t.Errorf("leftovers: %v, want %v", got, want)
	}
	if !Has("S4", ComparesTimes) || Has("S4b", ComparesTimes) {
		t.Error("of tokens only their order compares times")
	}
}
