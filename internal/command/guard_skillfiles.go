package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardSkillFiles(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "skill-files",
		Short: "Keep the model from reading the fsm.json of a skill, as a hook of the client",
		Long: "skill-files answers a PreToolUse event for " + guard.SkillFilesMatcher + ": the model has the steps of a skill as tasks, and\n" +
			"reading its fsm.json wastes context. Nothing installs this hook unless asked to. " + guard.SkillFilesBypass + ",\n" +
			"set to anything in the client's environment, lets every call pass. Exit code 2 means refused.",
		Example: example("fsmtx guard skill-files < event.json"),
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return answered(guard.SkillFiles(s)) },
	}
}
