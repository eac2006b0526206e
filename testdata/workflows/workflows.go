// Package workflows holds fifteen complete workflows, from 3 to 40 steps, five of them with
// outcomes, for fsmtx new --template, the demo, the tests and the documentation.
package workflows

import "embed"

// FS has a directory for each workflow, named like the skill, with its SKILL.md and fsm.json.
//
//go:embed */SKILL.md */fsm.json
var FS embed.FS
