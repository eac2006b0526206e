package command

import (
	"os"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksSample(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	c := &cobra.Command{
		Use:     "sample EVENT",
		Short:   "Print a realistic event for fsmtx hooks fire",
		Long:    "Prints an event with the fields that the agent sends, as input for fsmtx hooks fire or for a test.",
		Example: example("fsmtx hooks sample PreToolUse --dialect claude | fsmtx hooks fire PreToolUse --dialect claude"),
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := dialect.Named(flags.dialect)
			if err != nil {
				return err
			}
			e, known := d.Event(args[0])
			if !known {
				return unknownEvent(d, args[0])
			}
			cwd, err := os.Getwd()
			if err != nil {
				return err
			}
			sample := d.Sample(e, cwd)
			if err := sample.Indent(jsontext.WithIndent("  ")); err != nil {
				return err
			}
			return writeJSON(s.Out, sample)
		},
	}
	flags.addDialect(c, "llxprt")
	return c
}
