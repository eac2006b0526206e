// Package workflows holds fifteen complete workflows, from 3 to 40 steps, five of them with
// outcomes, for the demo, the tests and the documentation.
package workflows

import "embed"

// FS has a directory for each workflow, named like the skill, with its fsm.json.
//
//go:embed */fsm.json
var FS embed.FS
