// Package sample holds a small, complete skill with a workflow, for the demo, the
// plugin and tests.
//
// Its SKILL.md has no name in the frontmatter, because the client may report a plugin's
// skill with a name there without the plugin's prefix (fact 20). It does not mention
// fsm.json, because an agent that knows about the file reads it.
package sample

import "embed"

// Skill is the name of the skill and of its folder.
const Skill = "release-checklist"

// FS holds skills/<Skill>/SKILL.md and skills/<Skill>/fsm.json, the layout of both a
// plugin and a .claude directory.
//
//go:embed skills
var FS embed.FS
