package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Version and Commit are set by the linker (see the Makefile). Without them the
// program reports what the Go toolchain recorded.
var (
	Version string
	Commit  string
)

func newVersion(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit, Go version and platform",
		Example: example("fsmtx version"),
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return printVersion(s) },
	}
}

func printVersion(s terminal.Streams) error {
	version, commit := built()
	_, err := fmt.Fprintf(s.Out, "fsmtx %s (commit %s, %s, %s/%s)\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

func built() (version, commit string) {
	version, commit = Version, Commit
	info, ok := debug.ReadBuildInfo()
	if ok && version == "" {
		version = info.Main.Version
	}
	if ok && commit == "" {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				commit = setting.Value
			}
		}
	}
	return orUnknown(version), orUnknown(commit)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
