// Package sample holds a skill with a workflow, small and whole, for whatever
// has to show or try what this program does.
//
// Its SKILL.md has no name in the frontmatter, so that the client calls it by its
// folder: a plugin's skill with a name may arrive without the plugin's. And it
// does not mention fsm.json, for an agent that is told of the file reads it.
package sample

import "embed"

// Skill is the name of the skill, which is its folder's.
const Skill = "release-checklist"

// FS holds the skill as skills/<Skill>/SKILL.md and fsm.json: the layout of a
// plugin and of a .claude directory alike.
//
//go:embed skills
var FS embed.FS
