package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the release; a release build may set commit by -ldflags -X.
const version = "0.1.0"

var commit = ""

// revision is the commit that the binary was built from, as far as it knows.
func revision() string {
	if commit != "" {
		return commit
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print version, commit and platform",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "torture %s\ncommit %s\n%s %s/%s\n", version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
