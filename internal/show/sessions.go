package show

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// completeSessions completes the sessions whose lists have a history.
func completeSessions(s terminal.Streams) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		dirs, err := tasklist.WithHistory(s.Getenv)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var sessions []string
		for _, dir := range dirs {
			all, _ := ReadHistory(dir)
			if len(all) > 0 {
				last := all[len(all)-1]
				sessions = command.Offer(sessions, last.Session, last.Skill+", "+last.Time.Local().Format("2006-01-02 15:04"))
			}
		}
		slices.Sort(sessions)
		return slices.Compact(sessions), cobra.ShellCompDirectiveNoFileComp
	}
}
