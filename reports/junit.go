package reports

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/reports/unit"
)

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   junitSuite
}

type junitSuite struct {
	XMLName    xml.Name `xml:"testsuite"`
	Name       string   `xml:"name,attr"`
	Tests      int      `xml:"tests,attr"`
	Failures   int      `xml:"failures,attr"`
	Errors     int      `xml:"errors,attr"`
	Time       string   `xml:"time,attr"`
	Timestamp  string   `xml:"timestamp,attr,omitempty"`
	Properties struct {
		Property []junitProperty `xml:"property"`
	} `xml:"properties"`
	Cases []junitCase `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitTrouble `xml:"failure,omitempty"`
	Error   *junitTrouble `xml:"error,omitempty"`
}

type junitTrouble struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// junit writes the run as a JUnit suite: the scenario, with one case per judge,
// one for the evidence, one per objective and one for the harness. What is
// inconclusive is an error: a skipped case would show as green.
func (r *Run) junit() []byte {
	r = r.Printable()
	s := junitSuite{Name: r.Meta.Scenario, Time: fmt.Sprintf("%.3f", r.measured().Duration.Seconds())}
	if !r.Meta.Began.IsZero() {
		s.Timestamp = r.Meta.Began.UTC().Format(time.RFC3339)
	}
	for _, p := range [][2]string{
		{"verdict", string(r.Verdict())}, {"lock", r.Meta.Lock}, {"testbed", r.server()},
		{"seed", unit.Seed(r.Meta.Seed)}, {"replay", r.Replay("")}, {"version", r.Meta.Version},
	} {
		s.Properties.Property = append(s.Properties.Property, junitProperty{p[0], p[1]})
	}
	if all := r.accepted(); len(all) > 0 {
		s.Properties.Property = append(s.Properties.Property, junitProperty{"accepted", strings.Join(all, "  ")})
	}
	s.Cases = r.junitCases()
	for i := range s.Cases {
		c := &s.Cases[i]
		c.Class, c.Time = r.Meta.Scenario+"."+r.Meta.Lock, "0"
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
	return s.marshal()
}

// marshal is the suite as a file.
func (s junitSuite) marshal() []byte {
	raw, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err != nil {
		// Strings and numbers alone cannot fail to marshal.
		panic(err)
	}
	return append([]byte(xml.Header), append(raw, '\n')...)
}

func (r *Run) junitCases() []junitCase {
	var cases []junitCase
	for _, j := range Judges(r.Report) {
		c := junitCase{Name: j.Name}
		if len(j.Violations) > 0 {
			c.Failure = &junitTrouble{Message: j.Violations[0].Text, Type: j.Violations[0].ID, Text: r.failureText(j)}
		}
		if j.Void != "" && c.Failure == nil {
			c.Error = &junitTrouble{Message: j.Status() + ": " + j.Void, Type: string(checker.Inconclusive)}
		}
		cases = append(cases, c)
	}
	evidence := junitCase{Name: "evidence"}
	if why := r.Missing(); len(why) > 0 {
		evidence.Error = &junitTrouble{Message: why[0].Text, Type: string(checker.Inconclusive), Text: joinTexts(why)}
	}
	harness := junitCase{Name: "harness"}
	if all := r.Troubles(); len(all) > 0 {
		harness.Error = &junitTrouble{Message: all[0], Type: string(checker.HarnessError), Text: strings.Join(all, "\n")}
	}
	cases = append(cases, evidence, harness)
	for _, s := range r.SLOs {
		c := junitCase{Name: "slo " + s.SLO}
		if !s.OK {
			c.Failure = &junitTrouble{Message: "observed " + s.Observed, Type: string(checker.SLOBreach)}
		}
		cases = append(cases, c)
	}
	for _, f := range r.Report.Breaches {
		cases = append(cases, junitCase{Name: "slo " + f.ID, Failure: &junitTrouble{Message: f.Text, Type: string(checker.SLOBreach)}})
	}
	return cases
}

// failureText gives the violations of one judge as text, with their stories.
func (r *Run) failureText(j Judge) string {
	var b strings.Builder
	for _, f := range j.Violations {
		fmt.Fprintf(&b, "%s %s on %s: %s\n", f.ID, f.Name, f.Key, f.Text)
		for _, s := range r.Stories {
			if s.Finding.ID == f.ID && fmt.Sprint(s.Finding.Witness) == fmt.Sprint(f.Witness) {
				b.WriteString(StoryText(s, "  "))
				fmt.Fprintf(&b, "  replay  %s\n", r.Replay(s.ID))
			}
		}
	}
	return b.String()
}

func joinTexts(all []checker.Finding) string {
	var lines []string
	for _, f := range all {
		lines = append(lines, f.ID+" "+f.Text)
	}
	return strings.Join(lines, "\n")
}
