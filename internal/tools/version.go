package tools

import (
	"cmp"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const versionLong = `Version prints the semantic version, the commit, the version of Go, and the platform. The
version of a build between releases names the commit: 1.2.4-dev.5+g4eb6ddf1ac89 is five
commits after 1.2.3.

--json prints an object with version, commit (may be empty), modified (whether the files
differed from the commit), go, os and arch.`

func newVersion(s terminal.Streams) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit, Go version and platform",
		Long:    versionLong,
		Example: command.Example("fsmtx version", "fsmtx version --json"),
		Args:    command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printVersionJSON(s)
			}
			return printVersion(s)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func printVersion(s terminal.Streams) error {
	b := programs.GetBuild()
	_, err := message.Fprintf(s.Out, "fsmtx %s (commit %s, %s, %s/%s)\n", b.Version, cmp.Or(b.Commit, "unknown"), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
	return err
}

func printVersionJSON(s terminal.Streams) error {
	b := programs.GetBuild()
	return command.PrintJSON(s.Out, struct {
		Version  string `json:"version"`
		Commit   string `json:"commit"`
		Modified bool   `json:"modified"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{b.Version, b.Commit, b.Modified, runtime.Version(), runtime.GOOS, runtime.GOARCH})
}
