package turn

import (
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
// Shells do not count: one may run a server, which never ends by itself.
func OthersRun(backgroundTasks jsontext.Value, self string) bool {
	var all []jsontext.Value
	_ = json.Unmarshal(backgroundTasks, &all, jsonx.Tolerant) // a value of another type has no tasks
	for _, task := range all {
		id := jsonx.StringMember(task, "id")
		running := jsonx.StringMember(task, "status") == "running"
		if running && !strings.Contains(jsonx.StringMember(task, "type"), "shell") && (id == "" || id != self) {
			return true
		}
	}
	return false
}
