package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"locktorture/reports"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// A Banner says what is about to run.
type Banner struct {
	Version     string
	Scenario    string
	Seed        uint64
	Duration    time.Duration
	Lock        string   // with masters, quorum, ttl, hold, clients, keys
	Redis       string   // testbed and version
	Load        string   // open or closed loop, rate
	Faults      []string // the name of every step, in order
	PhaseLocked int      // steps that wait for a moment in a lock's life
	Canary      bool
	LeftOut     []string // faults that the plan does without, with the reason
	Warnings    []string
	Dir         string
}

// Write writes the banner; nothing when quiet.
func (b Banner) Write(w io.Writer, o Options) error {
	if o.Quiet {
		return nil
	}
	var out strings.Builder
	o.lay(&out, "", fmt.Sprintf("torture %s · %s · seed %s · %s", b.Version, printable.Line(b.Scenario), unit.Seed(b.Seed), unit.Setting(b.Duration)))
	line := func(label, text string) {
		if text = printable.Line(text); text != "" {
			o.lay(&out, fmt.Sprintf("  %-8s", label), text)
		}
	}
	line("lock", b.Lock)
	line("redis", b.Redis)
	line("load", b.Load)
	line("faults", b.faults())
	for _, left := range b.LeftOut {
		line("", "left out: "+left)
	}
	line("judges", b.judges())
	for _, warning := range b.Warnings {
		line("warning", warning)
	}
	line("dir", b.Dir)
	out.WriteByte('\n')
	_, err := io.WriteString(w, out.String())
	return err
}

// faults counts the steps by fault, in the order in which each comes first.
func (b Banner) faults() string {
	if len(b.Faults) == 0 {
		return "none"
	}
	var order []string
	count := map[string]int{}
	for _, f := range b.Faults {
		if count[f] == 0 {
			order = append(order, f)
		}
		count[f]++
	}
	for i, f := range order {
		if n := count[f]; n > 1 {
			order[i] = fmt.Sprintf("%s ×%d", f, n)
		}
	}
	steps := fmt.Sprintf("   (%d steps", len(b.Faults))
	if len(b.Faults) == 1 {
		steps = "   (1 step"
	}
	if b.PhaseLocked > 0 {
		steps += fmt.Sprintf(", phase-locked %d", b.PhaseLocked)
	}
	return strings.Join(order, "  ") + steps + ")"
}

func (b Banner) judges() string {
	var names []string
	for _, j := range reports.Properties() {
		names = append(names, j.Name)
	}
	text := strings.Join(names, " · ")
	if b.Canary {
		text += "    canary on"
	}
	return text
}
