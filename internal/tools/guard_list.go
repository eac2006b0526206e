package tools

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardList(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the guards with their events, matchers and switches",
		Example: command.Example("fsmtx guard list"),
		Args:    command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			fmt.Fprint(w, "ID\tEVENT\tMATCHER\tSWITCH\tENFORCES THAT\n")
			for _, r := range rules.All() {
				message.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Event, cmp.Or(r.Matcher, "-"), cmp.Or(r.Flag, "-"), r.Brief)
			}
			return w.Flush()
		},
	}
}
