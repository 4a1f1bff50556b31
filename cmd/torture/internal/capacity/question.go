package capacity

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/reports"
	"locktorture/reports/capacity"
	"locktorture/reports/slo"
	"locktorture/workload/history/printable"
)

// The most that a question may speak of.
const (
	mostRate    = 1e7
	mostClients = capacity.MostClients
	mostKeys    = 10_000_000
	mostTime    = time.Hour
	mostCores   = 4096
)

// A field is a part of a question.
type field struct {
	want string
	set  func(s *capacity.Scenario, value string) bool // false: value is not what is wanted
}

var fields = map[string]field{
	"nodes": {"an odd number of masters, 1 to 99", func(s *capacity.Scenario, v string) bool {
		n, ok := whole(v, 99)
		s.Masters = n
		return ok && n%2 == 1
	}},
	"rtt": {"a round trip such as 2ms, or one for every master, such as 1ms/1ms/40ms", func(s *capacity.Scenario, v string) bool {
		s.RTT = nil
		for _, word := range strings.Split(v, "/") {
			d, ok := duration(word)
			if !ok || d == 0 {
				return false
			}
			s.RTT = append(s.RTT, d)
		}
		return true
	}},
	"clients": {fmt.Sprintf("how many ask again and again, 1 to %d", mostClients), func(s *capacity.Scenario, v string) bool {
		n, ok := whole(v, mostClients)
		s.Clients = n
		return ok
	}},
	"rate": {"arrivals such as 2000/s", func(s *capacity.Scenario, v string) bool {
		number, ok := strings.CutSuffix(v, "/s")
		r, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		s.Rate = r
		return ok && err == nil && r > 0 && r <= mostRate
	}},
	"keys": {fmt.Sprintf("a number up to %d, such as 1e6, or 1e6 zipf 0.99", mostKeys), func(s *capacity.Scenario, v string) bool {
		words := strings.Fields(v)
		if len(words) != 1 && (len(words) != 3 || words[1] != "zipf") {
			return false
		}
		n, ok := whole(words[0], mostKeys)
		s.Keys, s.Zipf = n, 0
		if len(words) == 3 {
			z, err := strconv.ParseFloat(words[2], 64)
			s.Zipf = z
			ok = ok && err == nil && z >= 0 && z <= 10
		}
		return ok
	}},
	"hold": {"a time such as 30ms", func(s *capacity.Scenario, v string) (ok bool) {
		s.Hold, ok = duration(v)
		return ok
	}},
	"think": {"a time such as 100ms, which a client lets pass between two rounds", func(s *capacity.Scenario, v string) (ok bool) {
		s.Think, ok = duration(v)
		return ok
	}},
	"shards": {"a number of lock groups, 1 to 256", func(s *capacity.Scenario, v string) (ok bool) {
		s.Shards, ok = whole(v, 256)
		return ok
	}},
	"cores": {fmt.Sprintf("a number of processors, 1 to %d", mostCores), func(s *capacity.Scenario, v string) (ok bool) {
		s.Cores, ok = whole(v, mostCores)
		return ok
	}},
	"machines": {"shared (as calibrated) or own", func(s *capacity.Scenario, v string) bool {
		s.Own = v == "own"
		return v == "own" || v == "shared"
	}},
}

// whole reads a whole number of at least 1, also as 1e6.
func whole(v string, most float64) (int, bool) {
	n, err := strconv.ParseFloat(v, 64)
	return int(n), err == nil && n >= 1 && n <= most && n == math.Trunc(n)
}

func duration(v string) (time.Duration, bool) {
	d, err := time.ParseDuration(v)
	return d, err == nil && d >= 0 && d <= mostTime
}

// read sets the fields of a question; own are those that the caller reads by itself.
func read(flag, question string, s *capacity.Scenario, allowed []string, own func(part string) (bool, error)) error {
	seen := map[string]bool{}
	for _, part := range strings.Split(question, ",") {
		part = strings.TrimSpace(part)
		if mine, err := own(part); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		} else if mine {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok:
			return fmt.Errorf("%s: %q: want key=value, with the keys %s", flag, part, strings.Join(allowed, ", "))
		case !slices.Contains(allowed, name):
			return fmt.Errorf("%s: there is no key %q%s: want one of %s", flag, name, config.DidYouMean(name, allowed), strings.Join(allowed, ", "))
		case seen[name]:
			return fmt.Errorf("%s: %s is given twice", flag, name)
		}
		seen[name] = true
		if !fields[name].set(s, value) {
			return fmt.Errorf("%s: %s=%s: want %s", flag, name, value, fields[name].want)
		}
	}
	return nil
}

// WhatIf reads a question such as "nodes=5,rtt=2ms,clients=5000,keys=1e6 zipf 0.99,
// hold=30ms". What it does not speak of is as it was calibrated.
func WhatIf(question string, r *capacity.Report) (capacity.Scenario, error) {
	s := capacity.Scenario{Masters: r.Setup.Masters, Hold: r.Setup.Hold, Keys: r.Setup.Keys}
	allowed := []string{"nodes", "rtt", "clients", "rate", "keys", "hold", "think", "shards", "cores", "machines"}
	if err := read("--what-if", question, &s, allowed, func(string) (bool, error) { return false, nil }); err != nil {
		return s, err
	}
	if !strings.Contains(question, "nodes=") && len(s.RTT) > 1 { // one for every master
		s.Masters = len(s.RTT)
	}
	if err := oddMasters(s); err != nil {
		return s, fmt.Errorf("--what-if: %w", err)
	}
	switch {
	case s.Rate > 0 && s.Clients > 0:
		return s, errors.New("--what-if: rate and clients exclude each other: arrivals come by themselves, or clients ask again and again")
	case s.Rate > 0 && s.Think > 0:
		return s, errors.New("--what-if: think is of clients that ask again and again, and a rate has none")
	case s.Rate == 0 && s.Clients == 0:
		s.Clients = r.Setup.Clients
	}
	if s.Own && s.Cores == 0 {
		s.Cores = max(r.Calibration.CPUs, 1)
	}
	return s, nil
}

// oddMasters refuses round trips of an even number of masters.
func oddMasters(s capacity.Scenario) error {
	if s.Masters%2 == 1 {
		return nil
	}
	return fmt.Errorf("rtt: %d round trips, one for every master: want %s", len(s.RTT), fields["nodes"].want)
}

// PlanFor reads a wish such as "rate=20000/s,acquire.p99<50ms".
func PlanFor(question string, r *capacity.Report) (capacity.Wish, error) {
	var bound time.Duration
	s := capacity.Scenario{Hold: r.Setup.Hold, Keys: r.Setup.Keys}
	own := func(part string) (bool, error) {
		if !strings.ContainsAny(part, "<>") {
			return false, nil
		}
		o, err := slo.ParseAll([]string{part})
		if err != nil {
			return false, err
		}
		if bound > 0 {
			return false, errors.New("acquire.p99 is bounded twice")
		}
		if bound = o[0].AcquireP99(); bound == 0 {
			return false, fmt.Errorf("%q: the model predicts acquire.p99 alone: want an objective such as acquire.p99<50ms", part)
		}
		return true, nil
	}
	if err := read("--plan", question, &s, []string{"rate", "nodes", "rtt", "keys", "hold"}, own); err != nil {
		return capacity.Wish{}, err
	}
	if s.Masters == 0 && len(s.RTT) > 1 { // one for every master
		s.Masters = len(s.RTT)
	}
	if err := oddMasters(s); s.Masters > 0 && err != nil {
		return capacity.Wish{}, fmt.Errorf("--plan: %w", err)
	}
	if s.Rate == 0 {
		return capacity.Wish{}, errors.New("--plan: want a rate, such as rate=20000/s,acquire.p99<50ms")
	}
	return capacity.Wish{Rate: s.Rate, P99: bound, Keys: s.Keys, Zipf: s.Zipf, Hold: s.Hold, RTT: s.RTT, Nodes: s.Masters}, nil
}

// Load reads a calibration: a capacity.json, the folder that holds one, or the newest
// below a folder of results.
func Load(path string) (*capacity.Report, string, error) {
	file, err := find(path)
	if err != nil {
		return nil, "", err
	}
	raw, err := config.ReadAtMost(file, maxCalibration, "a calibration of torture capacity")
	if err != nil {
		return nil, "", err
	}
	var r capacity.Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	if err := r.Sound(reports.Schema); err != nil {
		return nil, "", errors.New(file + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+file+": "))
	}
	r = printable.Of(r) // somebody else may have written it
	return &r, file, nil
}

// maxCalibration is how many bytes a calibration may have; one has some hundred thousand.
const maxCalibration = 64 << 20

func find(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: run torture capacity first, or name its capacity.json with --from", err)
	case !info.IsDir():
		return path, nil
	}
	if file := filepath.Join(path, capacity.JSONFile); exists(file) {
		return file, nil
	}
	all, err := filepath.Glob(filepath.Join(path, "*", capacity.JSONFile))
	if err != nil {
		return "", err
	}
	newest, at := "", time.Time{}
	for _, file := range all {
		if info, err := os.Stat(file); err == nil && info.ModTime().After(at) {
			newest, at = file, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("no calibration in %s: run torture capacity first, or name its capacity.json with --from", path)
	}
	return newest, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
