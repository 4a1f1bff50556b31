package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locktorture/cmd/torture/app"
	"locktorture/cmd/torture/internal/config"
)

// hostileValues are what a setting may be given by a slip of the pen, or worse.
var hostileValues = []string{
	"", " ", "0", "-1", "1", "2", "4", "4096", "99999999999999999999", "9223372036854775807", "-9223372036854775808", "0x10", ".5", "1.5", "1e400", "1e-400",
	"NaN", "nan", "Inf", "-Inf", "0s", "-1s", "1ns", "1h", "2562047h", "9999999h", "exp", "exp -1s", "exp 9999999h", "uniform", "uniform 5s..1s", "uniform -1s..1s",
	"true", "maybe", "null", "none", "standard", "rw", "multi", "fair", "reentrant", "redlock", "single", "exec:", "exec: ", "external", "embedded", "compose",
	"127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", ":6379", "redis://:hunter2@127.0.0.1:6379", "user:hunter2@h:1", ",", ",,", "a,b",
	"acquire.p99<", "acquire.p99<soon", "acquire.p98<1s", "error<200%", "<", "served>99%", "kill:node=", "kill,", "latency:delay=-1s", "a\nb", "\x1b[2J", "\xff", strings.Repeat("9", 5000),
}

// try runs the command in a folder of its own, and fails unless it ends as one
// that was told something wrong, or printed what it would do.
func try(t *testing.T, what string, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := app.Run(args, &out, &errs)
	if code != 0 && code != exitUsage {
		t.Errorf("%s: exit %d, want 0 or %d\n%.300s", what, code, exitUsage, errs.String())
	}
	if code == exitUsage && errs.Len() == 0 {
		t.Errorf("%s: refused without a word", what)
	}
	if strings.Contains(errs.String(), "hunter2") {
		t.Errorf("%s: the password is repeated: %s", what, errs.String())
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Fatalf("%s: %s was made", what, left[0].Name())
	}
}

func TestEverySettingIsValidatedBeforeAnythingStarts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	t.Chdir(t.TempDir())
	for _, s := range config.Settings {
		for _, value := range hostileValues {
			what := fmt.Sprintf("--%s=%.60q", s.Name, value)
			try(t, what, "run", "--print-config", "--"+s.Name+"="+value)
			if !strings.Contains(value, "\x00") {
				t.Setenv(s.Variable(), value)
				try(t, s.Variable()+" "+what, "run", "--print-config")
				if err := os.Unsetenv(s.Variable()); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range []string{value, "[" + value + "]"} {
				yaml := strings.Replace(s.Key(), "load.", "load:\n  ", 1) + ": " + text + "\n"
				if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
					t.Fatal(err)
				}
				try(t, "file "+what, "run", "--print-config", file)
			}
		}
	}
}

// What must be refused, by every verb alike, with 64 and a word that says what
// to mend, before anything is started or made.
func TestWrongUsageIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"run --lock single --nodes 2":                "--nodes is 2: lock single is made for 1",
		"run --lock set-nx-ex-del --nodes 3":         "made for 1",
		"run --nodes 4":                              "even number",
		"run --nodes 0":                              `--nodes: "0" is none: 1 to 63, or leave it out`,
		"run --nodes +00":                            `--nodes: "+00" is none`,
		"run --timeout 0s":                           `--timeout: "0s" is none: above 0s, or leave it out`,
		"run --timeout 0":                            `--timeout: "0" is none`,
		"run --accept V5":                            `--accept is "V5": ids of anomalies that make a FAIL (torture list anomalies), which V5 does not`,
		"run --keys 0":                               "--keys is 0",
		"run --rate NaN":                             "--rate is NaN",
		"run --rate -1":                              "--rate is -1",
		"run --rate +Inf":                            "--rate is +Inf",
		"run --readers .5":                           "--mode rw",
		"run --slo acquire.p99":                      "METRIC < BOUND",
		"run --duration 0s":                          "--duration is 0s",
		"run --ttl 1ms":                              "--ttl is 1ms",
		"run --hold 2h --duration 1m":                "no critical section ends",
		"run --mode rw --lock set-nx-ex-del":         "no shared leases",
		"run --mode multi --keys 1":                  "--keys is 1",
		"run --clients 1001":                         "each client has 6 links, and",
		"run --clients 4000 --lock single":           "each client has 2 links, and",
		"run --rate 5 --think 3s":                    "--rate (5) contradicts --think (3s)",
		"run --store 127.0.0.1:1":                    "--store (127.0.0.1:1) contradicts",
		"run --redis 127.0.0.1:1 --testbed embedded": "contradicts --testbed (embedded)",
		"run --redis 127.0.0.1:1,127.0.0.1:2,127.0.0.1:3 --nodes 5": "contradicts",
		"run --redis redis://:hunter2@127.0.0.1:1":                  "connection refused",
		"run --redis http://:hunter2@127.0.0.1:1":                   "not repeated here",
		"run --redis redis://:hun%ter2@127.0.0.1:1":                 "not repeated here",
		"run --redis redis://:hunter2@127.0.0.1:1/x":                "database that is no number",
		"run --redis redis://:hunter2@127.0.0.1:1?protocol=3":       "of which db alone is understood",
		"run --redis unix://redis.sock":                             "has three slashes",
		"run --redis 127.0.0.1:1 --tls-ca /nowhere":                 "--tls-ca: give the authority's certificate",
		"run --redis 127.0.0.1:1 --tls-server-name a":               "--tls-server-name is for servers that speak TLS",
		"run --redis rediss://127.0.0.1:1 --tls-cert /dev/null":     "--tls-cert and --tls-key belong together",
		"run --redis 127.0.0.1:1 --redis-password-file /dev/null":   "is empty",
		"run --redis-password-file /dev/null":                       "/dev/null is empty",
		"run --store u:hunter2@127.0.0.1:1 --redis 127.0.0.1:1":     "not repeated here",
		"run --i-own-this-redis":                                    "contradicts --testbed",
		"run standard --scenario calm":                              "two scenarios",
		"run --out /dev/null/x --testbed embedded":                  `--out is "/dev/null/x"`,
		"bench --out /dev/null/x":                                   `--out is "/dev/null/x"`,
		"capacity --out /dev/null/x":                                `--out is "/dev/null/x"`,
		"gallery --out /dev/null/x":                                 `--out is "/dev/null/x"`,
		"selftest --out /dev/null/x":                                `--out is "/dev/null/x"`,
		"nightly --out /dev/null/x":                                 `--out is "/dev/null/x"`,
		"bench --repeats 0":                                         "repeats",
		"bench --redis http://:hunter2@127.0.0.1:1":                 "not repeated here",
		"bench --redis 127.0.0.1:1":                                 "--redis: start external testbed: n1 (127.0.0.1:1): ",
		"bench --workers -1":                                        "workers",
		"bench --nodes 0":                                           "nodes",
		"bench --slice -1s":                                         "slice",
		"capacity --rate 1":                                         "unknown flag",
		"capacity --max-rate NaN":                                   "max-rate",
		"capacity --slo nonsense":                                   "nonsense",
		"capacity --arrivals /no/such/file":                         "--arrivals: open /no/such/file",
		"capacity --arrivals /dev/null":                             "--arrivals: /dev/null: it holds 0 arrivals",
		"envelope --rounds 0":                                       "--rounds is 0",
		"envelope --budget 0s":                                      "--budget 0s",
		"envelope --hold 1s":                                        "--hold 1s",
		"envelope --format csv":                                     `--format "csv": want text, json or html`,
		"envelope --jobs 2":                                         "--jobs 2: rounds in virtual time are played one after the other",
		"envelope --on-redis --jobs 0":                              "--jobs 0",
		"envelope --on-redis --jobs 65":                             "--jobs 65",
		"simulate --nodes 2000000000":                               "--nodes is 2000000000: 1 to 63",
		"simulate --nodes 65":                                       "--nodes is 65: 1 to 63",
		"envelope --lock nonsense":                                  "nonsense",
		"capacity --nodes 2":                                        "--nodes 2",
		"capacity --redis http://:hunter2@127.0.0.1:1":              "not repeated here",
		"capacity --redis 127.0.0.1:1":                              "--redis: start external testbed: n1 (127.0.0.1:1): ",
		"gallery --jobs 0":                                          "--jobs is 0",
		"nightly --budget -1s":                                      "--budget",
		"nightly --scenario nonsense":                               "nonsense",
		"replay --times 0":                                          "--times is 0",
		"check --check-timeout -1s":                                 "--check-timeout",
	} {
		t.Run(line, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := app.Run(strings.Fields(line), &out, &errs); code != exitUsage || !strings.Contains(errs.String(), want) {
				t.Errorf("exit %d, want %d and %q:\n%s%s", code, exitUsage, want, out.String(), errs.String())
			}
			if strings.Contains(errs.String(), "hunter2") {
				t.Errorf("the password is repeated: %s", errs.String())
			}
			if left, _ := os.ReadDir("."); len(left) > 0 {
				t.Fatalf("%s was made", left[0].Name())
			}
		})
	}
}

// The last line and the exit code agree, also when GitHub's summary cannot be
// written.
func TestAnUnwritableStepSummaryIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(stepSummary, "/dev/null/summary.md")
	var out, errs bytes.Buffer
	code := app.Run([]string{"run", "calm", "--testbed", "embedded", "--duration", "1s"}, &out, &errs)
	if code != exitUsage || !strings.Contains(errs.String(), stepSummary) || strings.Contains(out.String(), "VERDICT") {
		t.Errorf("exit %d, want %d\n%s%s", code, exitUsage, out.String(), errs.String())
	}
}

// A choice overrides the inherited opposite, wherever it is made.
func TestAChoiceOverridesTheInheritedOpposite(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "slow.yaml")
	if err := os.WriteFile(file, []byte("load: {think: 3s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--think", "3s"}, {"run", file}} {
		var out, errs bytes.Buffer
		if code := app.Run(append(args, "--print-config"), &out, &errs); code != 0 || !strings.Contains(out.String(), "think: 3s") || !strings.Contains(out.String(), "rate: 0") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out.String(), errs.String())
		}
	}
}

// What --print-config prints can be played as a file, and means the same.
func TestPrintedConfigurationRoundTrips(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "again.yaml")
	for _, args := range [][]string{{"standard"}, {"calm"}, {"amnesia", "--rate", "5"}, {"--think", "1s"}, {"--slo", "error<1%"}} {
		var first, second, errs bytes.Buffer
		if code := app.Run(append([]string{"run", "--print-config"}, args...), &first, &errs); code != 0 {
			t.Fatalf("%v: %s", args, errs.String())
		}
		if err := os.WriteFile(file, first.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := app.Run([]string{"run", "--print-config", file}, &second, &errs); code != 0 || first.String() != second.String() {
			t.Errorf("%v: %s\n%s\nbecame\n%s", args, errs.String(), first.String(), second.String())
		}
	}
}
