package app

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hostile are values of each type of flag that are a slip of the pen, or worse.
var hostile = map[string][]string{
	"bool":        {"", "maybe"},
	"int":         {"", "0", "-1", "1000000", "9223372036854775807", "99999999999999999999", "NaN", "1.5"},
	"uint64":      {"", "0", "-1", "18446744073709551615", "99999999999999999999", "x"},
	"float64":     {"", "0", "-1", "NaN", "Inf", "1e300", "1e400", "x"},
	"duration":    {"", "0", "-1s", "NaN", "1ns", "2562047h", "9999999h", "soon"},
	"intSlice":    {"", "0", "-1", "1000000", "99999999999999999999", "x", "1,,3"},
	"uintSlice":   {"", "0", "-1", "x", "1,,2"},
	"stringSlice": {"", ",", "a,,b", "nonsense", `a"b`},
	"stringArray": {"", "nonsense"},
	"string":      {"", "nonsense", "a\nb"},
	"value":       {""}, // a setting: config's values are tried with all of its sources
}

// seams are what keeps each verb from doing anything once its flags are accepted, and
// what it says then.
var seams = map[string]struct {
	args []string
	says string
}{
	"bench": unwritable, "capacity": unwritable, "envelope": unwritable, "gallery": unwritable, "hunt": unwritable, "nightly": unwritable,
	"selftest": unwritable, "simulate": unwritable,
	"run":          {[]string{"run", "--out", "/dev/null/x", "--testbed", "embedded"}, unwritable.says},
	"demo":         {[]string{"demo", "--out", "/dev/null/x", "--testbed", "embedded"}, unwritable.says},
	"torture":      {[]string{"--out", "/dev/null/x", "--testbed", "embedded"}, unwritable.says},
	"check":        {[]string{"check", "/no/such/history"}, "neither a file nor a directory"},
	"report":       {[]string{"report", "/no/such/run"}, "find run"},
	"replay":       {[]string{"replay", "/no/such/run"}, "find run"},
	"compare":      {[]string{"compare", "/no/such/run", "/no/such/run"}, "find run"},
	"ls":           {[]string{"ls", "--no-such-flag"}, "--no-such-flag"},
	"doctor":       {[]string{"doctor"}, ""},
	"list":         {[]string{"list", "bugs"}, `list "bugs" does not exist`},
	"serve":        {[]string{"serve", "--out", "/no/such/folder"}, "--out: list runs"},
	"worker":       {[]string{"worker", "--join", "nats://127.0.0.1:1"}, "cannot be part of another one"},
	"init":         {[]string{"init"}, ""},
	"init-wrapper": {[]string{"init-wrapper", "cobol"}, ""},
	"version":      {[]string{"version"}, ""},
}

var unwritable = struct {
	args []string
	says string
}{[]string{"", "--out", "/dev/null/x"}, `--out is "/dev/null/x"`}

// accepted are the values that are taken on purpose, with the reason. A verb in front
// speaks of that verb alone.
var accepted = map[string]string{
	"--seed=0":                     "a seed is drawn; of gallery and selftest it is one like any other",
	"--seed=18446744073709551615":  "the largest seed",
	"--nodes=0":                    "as many as the lock is made for",
	"--hold=0":                     "nothing is done while holding",
	"--hold=1ns":                   "as good as nothing",
	"--budget=1ns":                 "too short for anything, which the verdict says",
	"--plain=1ns":                  "too short for anything, which the table says",
	"--max-lag=0":                  "a fifth of the objective",
	"--max-lag=1ns":                "no point is valid then, which the report says",
	"--plant-mutant=":              "no mutant: a job's setting that was left empty",
	"--known-bad=":                 "none beside the canary",
	"--html=nonsense":              "a file's name",
	"--html=a\nb":                  "a file's name",
	"--trend=nonsense":             "a file's name",
	"--trend=a\nb":                 "a file's name",
	"--views=nonsense":             "a folder's name",
	"--views=a\nb":                 "a folder's name",
	"--nights=nonsense":            "a folder's name: there need be no nights",
	"--nights=a\nb":                "a folder's name",
	"--dir=nonsense":               "a folder's name",
	"--dir=a\nb":                   "a folder's name",
	"--name=nonsense":              "a name",
	"--allow-host=nonsense":        "a host's name",
	"--rounds=0":                   "the budget alone ends it",
	"--rounds=1000000":             "the budget ends it before",
	"--rounds=9223372036854775807": "the budget ends it before",
	"--scouts=0":                   "no scouts",
	"--slots=0":                    "clients of runs alone",
	"--idle=0":                     "for ever",
	"--idle=1ns":                   "at once",
	"--seeds=0":                    "as many as the budget allows",
	"--seeds=1000000":              "Ctrl-C ends it before, and keeps what is known",
	"--seeds=9223372036854775807":  "Ctrl-C ends it before, and keeps what is known",
	"--times=1000000":              "Ctrl-C ends it before, and keeps what is known",
	"--times=9223372036854775807":  "Ctrl-C ends it before, and keeps what is known",
	"simulate --budget=0":          "a minute, or as long as the rounds of --seeds take",
	"--check-timeout=0":            "as long as it takes",
	"--check-timeout=1ns":          "what is judged by then counts, which is nothing",
	"--window=0":                   "as many as by default",
	"--workers=0":                  "this process has the clients",
	"--spawn-workers=0":            "this process has the clients",
}

// read are the flags whose values are read against something that the seam keeps away.
var read = map[string]string{
	"capacity --what-if": "against a stored calibration", "capacity --plan": "against a stored calibration",
	"--from": "it is the seam", "--resume": "against what is stored", "--replay": "against what is stored",
}

// Every flag of every verb refuses, before anything is started or made, what cannot be
// meant, and names itself and what would be right; or the value is accepted on purpose.
func TestEveryFlagRefusesWhatCannotBeMeant(t *testing.T) {
	t.Chdir(t.TempDir())
	root := newRoot(t)
	tried := map[string]bool{}
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		seam, known := seams[cmd.Name()]
		if !known {
			t.Errorf("verb %s: say in seams what keeps it from doing anything", cmd.Name())
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			values, known := hostile[f.Value.Type()]
			if !known {
				t.Errorf("%s --%s: say in hostile what values of type %s cannot be meant", cmd.Name(), f.Name, f.Value.Type())
			}
			if f.Name == "out" || f.Name == "help" { // the seam itself; TestWrongUsageIsRefused has it
				return
			}
			for _, value := range values {
				tryFlag(t, cmd.Name(), f.Name, value, seam.args, seam.says, tried)
			}
		})
	}
	for row, why := range accepted {
		if !tried[row] {
			t.Errorf("%q (%s) is said to be accepted, and no flag accepts it", row, why)
		}
	}
}

// alongside are what a flag of one way of a verb needs to be looked at.
func alongside(verb, flag string) []string {
	switch {
	case verb == "selftest" && slices.Contains(append(ofBoth, ofBlind...), flag) && !strings.HasPrefix(flag, "nats-"):
		return []string{"--blind"}
	case verb == "selftest" && slices.Contains(ofVirtual, flag):
		return []string{"--virtual"}
	}
	return nil
}

func tryFlag(t *testing.T, verb, flag, value string, seam []string, says string, tried map[string]bool) {
	t.Helper()
	args := slices.Clone(seam)
	if args[0] == "" {
		args[0] = verb
	}
	if i := slices.Index(args, "--"+flag); i > 0 { // the seam gives it
		args = slices.Delete(args, i, i+2)
	}
	args = append(append(args, "--"+flag+"="+value), alongside(verb, flag)...)
	what := fmt.Sprintf("%s --%s=%s", verb, flag, value)
	var out, errs bytes.Buffer
	code := Run(args, &out, &errs)
	message := errs.String()
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Fatalf("%q: %s was made", what, left[0].Name())
	}
	if code != exitUsage {
		t.Errorf("%q: exit %d, want %d\n%.300s%.300s", what, code, exitUsage, out.String(), message)
		return
	}
	named := strings.Contains(message, "--"+flag)
	for _, raw := range []string{"strconv", "invalid argument", "parse error", "time: "} {
		if named && strings.Contains(message, raw) {
			t.Errorf("%q: the message is the library's own: %s", what, message)
		}
	}
	if named || read["--"+flag] != "" || read[verb+" --"+flag] != "" {
		return
	}
	for _, row := range []string{"--" + flag + "=" + value, what} {
		if accepted[row] != "" && strings.Contains(message, says) {
			tried[row] = true
			return
		}
	}
	t.Errorf("%q: accepted, or refused without the flag's name: %.300s", what, message)
}

// newRoot is the command with all its verbs.
func newRoot(t *testing.T) *cobra.Command {
	t.Helper()
	tool, err := newTool(nil)
	if err != nil {
		t.Fatal(err)
	}
	return tool.root(io.Discard, io.Discard)
}

// A night whose servers are named leaves out what cannot be played on one node, as one
// whose servers are not does.
func TestANightOnNamedServersLeavesOutWhatNeedsMore(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, servers := range [][]string{{"--testbed", "process"}, {"--testbed", "container"}, {"--redis-image", "redis:7.4"}} {
		var out, errs bytes.Buffer
		args := append([]string{"nightly", "--out", "/dev/null/x"}, servers...)
		if code := Run(args, &out, &errs); code != exitUsage || !strings.Contains(errs.String(), unwritable.says) {
			t.Errorf("%v: exit %d: %s", servers, code, errs.String())
		}
	}
}

// A command is shown as it can be typed again, with the seed that was drawn, which another program's
// words among its own do not stand for.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bench", "--lock", "single"}, "torture bench --lock single --seed 7"},
		{[]string{"bench", "--seed", "3"}, "torture bench --seed 3"},
		{[]string{"bench", "--seed=3"}, "torture bench --seed=3"},
		{[]string{"hunt", "--lock", "exec:./mine --seed 3"}, "torture hunt --lock 'exec:./mine --seed 3' --seed 7"},
		{[]string{"hunt", "--lock=exec:./it's"}, `torture hunt '--lock=exec:./it'\''s' --seed 7`},
	} {
		if got := commandLine(c.args, 7); got != c.want {
			t.Errorf("%q: %s, want %s", c.args, got, c.want)
		}
	}
}
