package settings

import "strings"

// missing returns what the hook of SessionStart reports, to the person and the model, if the program cannot be
// started. The client reports a hook that it cannot start only in a line on the terminal (fact 46, client 2.1.329),
// and the hooks do nothing without their program. Fact 71 shows that the report works.
//
// A program by its name is in a file that several people share; a path may disappear with an update; that of a
// plugin may be one for another platform.
func missing(program string) string {
	switch {
	case strings.HasPrefix(program, pluginRoot):
		return notUsable
	case strings.Contains(program, "/"):
		return notThere
	}
	return notOnPath
}

const (
	notOnPath = `{"systemMessage": "` + Program +
		` is not on your PATH: the workflows of this project are not put into the task list, and their steps do not hold. Install it, ` +
		`then start the client again.", ` +
		`"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "The program ` + Program +
		`, which puts the workflow of a skill into the task list, is not installed here. If a skill that you run has an fsm.json beside its ` +
		`SKILL.md, its steps are in that file: take a step only when those in its blockedBy are completed. Tell the user once that ` +
		Program + ` is missing."}}`

	notUsable = `{"systemMessage": "The program of a plugin, bin/` + Program +
		`, does not run on this machine: workflows are not put into the task list, and their steps do not hold. Ask the author of the plugin ` +
		`for one that has the program for this platform.", ` +
		`"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "The program ` + Program +
		` of a plugin, which puts the workflow of a skill into the task list, does not run on this machine. If a skill that you run has an ` +
		`fsm.json beside its SKILL.md, its steps are in that file: take a step only when those in its blockedBy are completed. ` +
		`Tell the user once that the plugin\u0027s program does not run here."}}`

	notThere = `{"systemMessage": "The program ` + Program +
		` is not where the hooks expect it: workflows are not put into the task list, and their steps do not hold. Run fsmtx install again, ` +
		`or fsmtx install --remove.", ` +
		`"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "The program ` + Program +
		`, which puts the workflow of a skill into the task list, was removed from this machine. If a skill that you run has an fsm.json ` +
		`beside its SKILL.md, its steps are in that file: take a step only when those in its blockedBy are completed. Tell the user once that ` +
		Program + ` is missing."}}`
)
