package exhibit

import (
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/reports/pagetest"
	"locktorture/reports/story"
)

// TestPage shows a row that came out as expected and one that did not: every cell that
// was found leads to its witness, and what was not found says so.
func TestPage(t *testing.T) {
	out, err := Page(Show{Seed: 1, Duration: time.Minute, Rows: []gallery.Row{
		{
			Lock: "exists-set", About: "looking <and> taking", Category: catalogue.Recipes, Expected: []string{"S1"}, Rounds: 1,
			Proofs: []gallery.Proof{{
				ID: "S1", Name: "double grant", Operations: 12, Command: "torture run calm --seed=1", SVG: []byte("<svg></svg>"),
				Story: &story.Story{Steps: []story.Step{{Who: "c01", Text: "acquire k0 → ok"}}},
			}},
			Control: "setnx-del", Outcome: gallery.OK,
		},
		{Lock: "quorum-2", Category: catalogue.Mutants, Expected: []string{"S9"}, Rounds: 3, Control: "quorum-2-twin", Outcome: gallery.Missing, Why: "not found: S9"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	page := string(out)
	for _, want := range []string{
		"1 of 2", `href="#exists-set-S1"`, `id="exists-set-S1"`, "<svg></svg>", "acquire k0 → ok", "torture run calm --seed=1",
		"looking &lt;and&gt; taking", `class="absent"`, "not found: S9", `body class="fail"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<script", "http://", "https://", "src="} {
		if strings.Contains(page, never) {
			t.Errorf("the page contains %q", never)
		}
	}
	pagetest.Check(t, pagetest.HTML(t, "gallery", out))
}
