package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the release; a release build sets commit by -ldflags -X.
const version = "0.1.0"

var commit = ""

// revision is the commit that the binary was built from, as far as it knows,
// marked when the tree had changes beside it.
func revision() string {
	if commit != "" {
		return commit
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return revisionOf(build.Settings)
}

func revisionOf(settings []debug.BuildSetting) string {
	id, changed := "unknown", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision" && s.Value != "":
			id = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	return id + changed
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
