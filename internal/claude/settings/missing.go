package settings

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// The reports of a missing program, to the person and the model. The client reports a hook
// that it cannot start only in a line on the terminal (fact 46, client 2.1.329), and the
// hooks do nothing without their program. Fact 71 shows that the report works.
//
// The text identifies the hook. If it is changed, the old text has to be recognised too.
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

// apart returns how a line of the shell ends that prints a report and does nothing else.
func apart(report string) string { return ` || printf '%s\n' '` + report + "'" }

// reportsApart is why a hook that only reports is obsolete.
const reportsApart = "the hooks are those of an earlier version: the hook of SessionStart itself reports a missing program"

// Reporting returns the hooks with the report of [Unusable] or [Missing], which is among them, in
// the hook of SessionStart, so that the event starts one process. Without such a hook they stay as
// they are.
func Reporting(hooks []Hook) []Hook {
	hooks = slices.Clone(hooks)
	starts := slices.IndexFunc(hooks, func(h Hook) bool {
		return h.Event == event.SessionStart && h.Runs("hook") && h.Obsolete == ""
	})
	for i, h := range hooks {
		if starts >= 0 && h.Script != "" {
			hooks[starts].report, hooks[i].Obsolete = h.report, reportsApart
		}
	}
	return hooks
}

// Unusable returns a hook for a plugin: when a session starts, a shell reports if the
// plugin's program does not run on this machine. The program may be missing, not executable
// or for another platform, so the shell runs it.
func Unusable() Hook {
	return script(word(pluginRoot+"/bin/"+Program)+" version >/dev/null 2>&1", notUsable)
}

// Missing returns a hook for a settings file whose hooks run a program by its path or by
// its name: when a session starts, a shell reports if the program is missing. The file may
// be shared by several people, and a path may disappear with an update.
func Missing(program string) Hook {
	if strings.Contains(program, "/") {
		return script("test -x "+word(program), notThere)
	}
	return script("command -v "+word(program)+" >/dev/null 2>&1", notOnPath)
}

func script(condition, report string) Hook {
	return Hook{Event: event.SessionStart, Script: condition + apart(report), report: report, Timeout: TimeLimit(0)}
}
