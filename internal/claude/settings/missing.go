package settings

import "github.com/fsmtx/fsmtx/internal/claude/event"

// missingScript reports to the person and the model that PATH has no Program. The client
// reports a hook that it cannot start only in a line on the terminal (fact 46, client
// 2.1.329); fact 71 shows that this hook works.
//
// The text identifies the hook. If it is changed, the old text has to be recognised too.
const missingScript = `command -v ` + Program + ` >/dev/null 2>&1 || printf '%s\n' ` +
	`'{"systemMessage": "` + Program + ` is not on your PATH: the workflows of this project are not put into the task list, and their steps do not hold. Install it, then start the client again.", ` +
	`"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "The program ` + Program + `, which puts the workflow of a skill into the task list, is not installed here. If a skill that you run has an fsm.json beside its SKILL.md, its steps are in that file: take a step only when those in its blockedBy are completed. Tell the user once that ` + Program + ` is missing."}}'`

// unusableScript is the same for a plugin, whose program may be missing, not executable or
// for another platform. So the script runs the program. The client puts the plugin's
// directory into the environment (fact 25, client 2.1.197).
const unusableScript = `"$CLAUDE_PLUGIN_ROOT/bin/` + Program + `" version >/dev/null 2>&1 || printf '%s\n' ` +
	`'{"systemMessage": "The program of a plugin, bin/` + Program + `, does not run on this machine: workflows are not put into the task list, and their steps do not hold. Ask the author of the plugin for one that has the program for this platform.", ` +
	`"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "The program ` + Program + ` of a plugin, which puts the workflow of a skill into the task list, does not run on this machine. If a skill that you run has an fsm.json beside its SKILL.md, its steps are in that file: take a step only when those in its blockedBy are completed. Tell the user once that the plugin\u0027s program does not run here."}}'`

// Unusable returns a hook for a plugin: when a session starts, a shell reports if the
// plugin's program does not run on this machine.
func Unusable() Hook {
	return Hook{Event: event.SessionStart, Command: "sh", Args: []string{"-c", unusableScript}, Timeout: TimeLimit(0)}
}

// Missing returns a hook for a settings file that several people share: when a session
// starts, a shell reports if PATH has no Program.
func Missing() Hook {
	return Hook{Event: event.SessionStart, Command: "sh", Args: []string{"-c", missingScript}, Timeout: TimeLimit(0)}
}
