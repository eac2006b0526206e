package install

import "embed"

// Names of the skills in Skills and of their folders.
const (
	Skill  = "release-checklist"
	Writer = "write-workflow" // makes an agent write the workflow of another skill
)

// Skills holds two complete skills with workflows, for the plugin, fsmtx init and tests:
// skills/NAME/SKILL.md and skills/NAME/fsm.json, the layout of both a plugin and a .claude directory.
//
// Their SKILL.md have no name in the frontmatter, because the client may report a plugin's
// skill with a name there without the plugin's prefix (fact 20). They do not mention
// fsm.json, because an agent that knows about the file reads it.
//
//go:embed skills
var Skills embed.FS
