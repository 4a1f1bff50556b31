package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What a flag may be at most, where more is a slip of the pen and would end the machine
// or never end at all.
const (
	mostAtOnce = 4096
	longest    = 366 * 24 * time.Hour
)

// atOnce are the flags that say how many processes, runs or rounds there are at once.
var atOnce = []string{"jobs", "scouts", "slots"}

// mayBeEmpty are the flags whose empty value means something: the folder that one is in,
// no mutant (of a job whose setting was left empty), no further locks.
var mayBeEmpty = []string{"out", "plant-mutant", "known-bad"}

// listedBy names, for flags whose values are names, the command that lists these.
var listedBy = map[string]string{
	"lock": " (torture list locks)", "only": " (torture list locks)", "fault": " (torture list faults)", "without": " (torture list faults)",
	"scenario": " (torture list scenarios)", "accept": " (torture list anomalies)",
}

// flagError says of a value that is none of its flag's type what would be right.
func flagError(_ *cobra.Command, err error) error {
	invalid, is := errors.AsType[*pflag.InvalidValueError](err)
	if !is {
		return err
	}
	f := invalid.GetFlag()
	want := map[string]string{
		"bool":        "true or false",
		"int":         fmt.Sprintf("a whole number, at most %d", int64(1<<63-1)),
		"uint64":      fmt.Sprintf("a whole number from 0 to %d", uint64(1<<64-1)),
		"float64":     "a number such as 250 or 0.5",
		"duration":    fmt.Sprintf("a time such as 1m30s or 250ms, at most %v", longest),
		"intSlice":    "whole numbers, by comma",
		"uintSlice":   "whole numbers from 0, by comma",
		"stringSlice": "names, by comma",
	}[f.Value.Type()]
	if want == "" { // the setting has its own words
		return fmt.Errorf("--%s: %w", f.Name, invalid.Unwrap())
	}
	return fmt.Errorf("--%s is %q: want %s", f.Name, invalid.GetValue(), want)
}

// checkFlags names the first flag that was given a value which no verb can mean,
// before the verb looks at it.
func checkFlags(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil {
			err = checkFlag(f)
		}
	})
	return err
}

func checkFlag(f *pflag.Flag) error {
	if slices.Contains(mayBeEmpty, f.Name) && emptyFlag(f) {
		return nil
	}
	if list, is := f.Value.(pflag.SliceValue); is {
		switch items := list.GetSlice(); {
		case emptyFlag(f):
			return fmt.Errorf("--%s is empty: at least one%s, or leave it out", f.Name, listedBy[f.Name])
		case slices.Contains(items, ""):
			return fmt.Errorf("--%s names one that is empty: leave the comma out", f.Name)
		}
		return nil
	}
	if emptyFlag(f) {
		return fmt.Errorf("--%s is empty: give a value%s, or leave it out", f.Name, listedBy[f.Name])
	}
	switch f.Value.Type() {
	case "duration":
		if d, err := time.ParseDuration(f.Value.String()); err == nil && d > longest {
			return fmt.Errorf("--%s is %v: at most %v", f.Name, d, longest)
		}
	case "int":
		var n int
		if _, err := fmt.Sscan(f.Value.String(), &n); err == nil && n > mostAtOnce && slices.Contains(atOnce, f.Name) {
			return fmt.Errorf("--%s is %d: at most %d", f.Name, n, mostAtOnce)
		}
	}
	return nil
}

// emptyFlag reports whether a flag was given an empty value, or a list of nothing.
func emptyFlag(f *pflag.Flag) bool {
	if list, is := f.Value.(pflag.SliceValue); is {
		items := list.GetSlice()
		return len(items) == 0 || len(items) == 1 && items[0] == ""
	}
	return f.Value.Type() == "string" && f.Value.String() == ""
}
