package tools

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardExplain(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "Show which row of a guard's table decides an event, and on which facts",
		Long: "explain reads an event from standard input and decides as the guard would in the same environment\n" +
			"(CLAUDE_PLUGIN_ROOT, CLAUDE_PROJECT_DIR, PLANNING_FEATURE_DIR, PLANNING_STATE_DIR, PLANNING_BINDS). It\n" +
			"counts nothing, logs nothing and changes no file. A file of the configuration that cannot be read is not\n" +
			"used; it is shown with the line of the mistake.",
		Example: command.Example("fsmtx guard explain H02 < event.json"),
		Args:    cobra.ExactArgs(1),

		ValidArgsFunction: command.CompleteGuards,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := command.FindRule(args[0])
			if err != nil {
				return err
			}
			if s.InputIsTerminal() {
				return command.NotFed("fsmtx guard explain " + r.ID)
			}
			return printExplanation(s.Out, r, guard.Explain(r, s.In, s.Env))
		},
	}
}

func printExplanation(out io.Writer, r guard.Rule, e guard.Explanation) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	message.Fprintf(w, "guard\t%s: %s\n", r.ID, r.Brief)
	message.Fprintf(w, "decision\t%s\n", e.Word)
	message.Fprintf(w, "row\t%s\n", describeRow(r, e.Row))
	message.Fprintf(w, "detail\t%s\n", e.Detail)
	for _, f := range e.Facts {
		message.Fprintf(w, "fact\t%s: %s\n", f.Name, f.Value)
	}
	for _, m := range e.Mistakes {
		message.Fprintf(w, "mistake\t%s\n", m.String())
	}
	if e.Message != "" && e.Message != e.Detail {
		message.Fprintf(w, "message\t%s\n", message.Lines(strings.ReplaceAll(e.Message, "\n", "\n\t"))) // last, because it can have many lines
	}
	return w.Flush()
}

func describeRow(r guard.Rule, row int) string {
	if row < 1 || row > len(r.Rows) {
		return "none: decided before the table"
	}
	return fmt.Sprintf("%d of %d: %s", row, len(r.Rows), r.Rows[row-1])
}
