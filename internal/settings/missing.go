package settings

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
)

// Missing returns what the hook of SessionStart reports if the program cannot be started: whose workflows are not enforced and the remedy
// for the person; whose program it is, what has become of it, and what to tell the person for the model. The client reports a hook that
// it cannot start only in a line on the terminal (fact 46, client 2.1.329), and the hooks do nothing without their program. Fact 71
// shows that the report works. Neither text has a character that a shell has to quote.
//
// A program by its name is in a file that several people share; a path may disappear with an update; that of a
// plugin may be one for another platform.
func Missing(program string) (person message.ForPerson, model message.ForAgent) {
	switch {
	case strings.HasPrefix(program, pluginRoot):
		return absence("The program of a plugin, bin/"+Program+", does not run on this machine: workflows",
			"Ask the author of the plugin for one that has the program for this platform, or get it from "+programs.Home+".",
			" of a plugin", "does not run on this machine", "the program of the plugin does not run here")
	case strings.ContainsAny(program, `/\`):
		return absence("The program "+Program+" is not where the hooks expect it: workflows",
			"Run fsmtx install again, or fsmtx install --remove. The program is at "+programs.Home+".", "", "was removed from this machine",
			Program+" is missing")
	}
	return absence(Program+" is not on your PATH: the workflows of this project",
		"Get it from "+programs.Home+", then start the agent again.", "", "is not installed here",
		Program+" is missing, and is at "+programs.Home)
}

// MissingReport is the answer to SessionStart that has both texts of Missing.
func MissingReport(program string) string {
	person, model := Missing(program)
	return strings.TrimSpace(client.Tell(client.SessionStart, model, person).Output)
}

func absence(workflows, remedy, of, fate, tell string) (person message.ForPerson, model message.ForAgent) {
	return message.ForPerson(workflows + " are not put into the task list, and their steps do not hold. " + remedy),
		message.ForAgent("The program " + Program + of + ", which puts the workflow of a skill into the task list, " + fate +
			". If a skill that you run has an fsm.json beside its SKILL.md, its steps are in that file: take a step only when those in " +
			"its blockedBy are completed. Tell the user once that " + tell + ".")
}
