package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardSkillFiles(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "skill-files",
		Short: "As a hook: keep the model from reading the fsm.json of a skill",
		Long: "skill-files decides a PreToolUse event for " + rules.SkillFilesMatcher + ". It refuses to read the fsm.json of a\n" +
			"skill, which would waste context, because the model already has the steps as tasks. This hook is\n" +
			"installed only on request. Any value of " + rules.SkillFilesBypass + " in the client's environment\n" +
			"switches it off. It exits with 2 if it refuses.",
		Example: Example("fsmtx guard skill-files < event.json"),
		Args:    NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if s.InputIsTerminal() {
				return NotFed("fsmtx guard skill-files")
			}
			return exit(hook.Deliver(s, rules.RunSkillFiles(s.In, s.Getenv)))
		},
	}
}
