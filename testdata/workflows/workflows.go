// Package workflows holds sixteen complete workflows, from 3 to 40 steps, six of them with
// outcomes, for fsmtx new --template, the demo, the tests and the documentation.
package workflows

import "embed"

// FS has a directory for each workflow, named like the skill, with its SKILL.md, fsm.json and tests.
//
//go:embed */SKILL.md */fsm.json */tests/*.txtar
var FS embed.FS

// Planning has the folder of the skill planning, with its SKILL.md: the planning workflow that
// the guards were made for.
//
//go:embed planning
var Planning embed.FS
