package client

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// OthersRun reports whether another agent is running, by the background_tasks of a Stop or
// SubagentStop event: the turn ends and is resumed when that agent has finished. self is the
// id of the subagent that is about to stop, which the client still lists (fact 40, client
// 2.1.329); it is empty for the session's own agent.
//
// Shells and monitors do not count: one may run a server or watch a log, which never ends by itself.
func OthersRun(backgroundTasks jsontext.Value, self string) bool {
	var all []jsontext.Value
	_ = json.Unmarshal(backgroundTasks, &all, jsonx.Tolerant) // a value of another type has no tasks
	for _, task := range all {
		id := jsonx.StringMember(task, "id")
		running, kind := jsonx.StringMember(task, "status") == "running", jsonx.StringMember(task, "type")
		if running && !strings.Contains(kind, "shell") && kind != "monitor" && (id == "" || id != self) {
			return true
		}
	}
	return false
}

// Wakes reports whether the client will wake the agent once, by the session_crons of a Stop event:
// ScheduleWakeup tells the agent to end its turn (fact 180, client 2.1.329). What recurs does not
// count: it does not end.
func Wakes(sessionCrons jsontext.Value) bool {
	var all []jsontext.Value
	_ = json.Unmarshal(sessionCrons, &all, jsonx.Tolerant) // a value of another type has none
	return slices.ContainsFunc(all, func(cron jsontext.Value) bool { return string(jsonx.Member(cron, "recurring")) == "false" })
}
