package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/guard/skillfiles"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardSkillFiles(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "skill-files",
		Short: "Keep the model from reading the fsm.json of a skill, as a hook of the client",
		Long: "skill-files decides a PreToolUse event for " + skillfiles.Matcher + ": the model has the steps of a skill as tasks, and\n" +
			"reading its fsm.json wastes context. This hook is installed only on request. Any value of\n" +
			skillfiles.Bypass + " in the client's environment lets every call pass. It exits with 2 if it refuses.",
		Example: example("fsmtx guard skill-files < event.json"),
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return deliver(s, skillfiles.Run(s.In, s.Getenv))
		},
	}
}
