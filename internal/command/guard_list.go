package command

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardList(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the guards with their events, matchers and switches",
		Example: example("fsmtx guard list"),
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tEVENT\tMATCHER\tSWITCH\tHOLDS THAT")
			for _, g := range guard.All() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", g.ID, g.Event, orDash(g.Matcher), orDash(g.Flag), g.Brief)
			}
			return w.Flush()
		},
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
