package agent

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/agent/tracker"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// trackerOf returns the directory of Gemini CLI's task tracker, if it is switched on. It is below
// that of the project's temporary files, in which the transcript is too, and has the session's name.
func trackerOf(e *event.Event, config string) string {
	session := e.SessionID
	project := filepath.Dir(filepath.Dir(e.TranscriptPath)) // …/tmp/NAME/chats/session-….jsonl
	if session == "" || session != filepath.Base(session) || strings.HasPrefix(session, ".") ||
		filepath.Dir(project) != filepath.Join(config, "tmp") {
		return ""
	}
	for _, file := range settingsOfGemini(Trust{Config: filepath.Dir(config), Dir: e.Cwd, Lookup: os.LookupEnv}) {
		if on, known := tracks(file); known {
			if on {
				return filepath.Join(project, session, "tracker")
			}
			break
		}
	}
	return ""
}

// tracks returns what a settings file says about the tracker; known is false if it says nothing.
func tracks(file string) (on, known bool) {
	value := jsonx.Member(jsonx.Member(readPlain(file), "experimental"), "taskTracker")
	return value.Kind() == 't', value.Kind() == 't' || value.Kind() == 'f'
}

// trackerUpdate returns what a tool of the tracker changes.
func trackerUpdate(e *event.Event) *TaskUpdate {
	var input struct {
		ID           string   `json:"id"`
		Title        *string  `json:"title"`
		Description  *string  `json:"description"`
		Status       string   `json:"status"`
		Dependencies []string `json:"dependencies"`

		TaskID       string `json:"taskId"`
		DependencyID string `json:"dependencyId"`
	}
	if e.ToolName != "tracker_update_task" && e.ToolName != "tracker_add_dependency" ||
		json.Unmarshal(e.ToolInput, &input, jsonx.Tolerant) != nil {
		return nil
	}
	u := &TaskUpdate{ID: tracker.ID(input.ID), Status: tracker.Status(input.Status), Subject: input.Title, Description: input.Description}
	if e.ToolName == "tracker_add_dependency" {
		u, input.Dependencies = &TaskUpdate{ID: tracker.ID(input.TaskID)}, []string{input.DependencyID}
	}
	for _, id := range input.Dependencies {
		if known := tracker.ID(id); known != "" {
			id = known
		}
		u.After = append(u.After, id)
	}
	return u
}
