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
		return absence("The program of a plugin, bin/"+Program+", does not run on this machine: workflows",
			"Ask the author of the plugin for one that has the program for this platform.",
			" of a plugin", "does not run on this machine", `the plugin\u0027s program does not run here`)
	case strings.Contains(program, "/"):
		return absence("The program "+Program+" is not where the hooks expect it: workflows",
			"Run fsmtx install again, or fsmtx install --remove.", "", "was removed from this machine", Program+" is missing")
	}
	return absence(Program+" is not on your PATH: the workflows of this project", "Install it, then start the client again.",
		"", "is not installed here", Program+" is missing")
}

// absence returns the answer of a hook without its program, in JSON: whose workflows are not enforced and the remedy are for the person;
// whose program it is, what has become of it, and what to tell the person are for the model.
func absence(workflows, remedy, of, fate, tell string) string {
	return `{"systemMessage": "` + workflows + ` are not put into the task list, and their steps do not hold. ` + remedy + `", ` +
		`"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "The program ` + Program + of +
		`, which puts the workflow of a skill into the task list, ` + fate + `. If a skill that you run has an fsm.json beside its ` +
		`SKILL.md, its steps are in that file: take a step only when those in its blockedBy are completed. Tell the user once that ` +
		tell + `."}}`
}
