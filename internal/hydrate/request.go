package hydrate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// ErrEvent is returned for an event in which a required field is missing or has the wrong
// type.
var ErrEvent = errors.New("the event cannot be used")

// Request is what a hydration needs from an event.
type Request struct {
	Event      string // PostToolUse or UserPromptExpansion
	Session    string
	List       string              // directory of the task list; empty is that of the session
	Command    string              // the command name of the skill
	Folder     string              // of the skill; empty if it is to be found by its name
	File       *File               // the workflow itself, whatever the folder has; nil if it is to be read
	PlanForm   string              // see workflow.Workflow
	Plan       []workflow.PlanLine // see workflow.Workflow; the path of File is that of the plan
	Unticked   string              // of a plan, see Plan
	Project    string              // the directory that paths of gates are relative to; empty is the client's
	Root       bool                // Project is the root of the repository, because nobody has said where the session is
	Args       string              // the arguments of its call
	Cwd        string              // may be empty
	Transcript string              // path of the client's transcript; may be empty
	Prompt     string              // id of the prompt to which the model answers; may be empty
	Agent      string              // id of the subagent from which the event came, which shares its parent's list; "" for the session's
	Typed      bool                // a person typed the skill
	By         string              // who began it, or agreed to it; see tasks.Label
	Unseen     bool                // of a command that no hook has seen; see Beginning
	BegunBy    string              // see workflow.Workflow; empty for a call of the skill in the client
	Client     string              // the client's name and version, by its own word; empty if it is not known so
	Apart      bool                // the skill runs in an agent of its own
	Invocation string              // identifies the call of the skill; empty if unknown
	Way        progress.Way        // how the agent works on the steps, for the announcement
	Chosen     bool                // the agent has chosen Project
	Begun      bool                // a command or a tool of the agent began it, whose answer the agent alone reads
	Stopped    bool                // a hook has already kept the agent from stopping
}

// named names the skill, or the plan.
func (r Request) named() string {
	if r.Plan != nil {
		return "plan " + filepath.Base(r.File.Path)
	}
	return "skill " + clip(r.Command)
}

// definition names the file that has the workflow.
func (r Request) definition() string {
	if r.Plan != nil {
		return "the " + r.named()
	}
	return "the fsm.json of " + clip(r.Command)
}

// File is a workflow that was read before, for a preview.
type File struct {
	Path string
	Data []byte
}

// Understand returns the request in an event. skip, if not empty, is the reason why there
// is nothing to do: the event is of another tool, or the skill did not run.
// The error is ErrEvent.
//
// An event without a name counts as PostToolUse, the only event in the requirements.
func Understand(e *client.Event) (r Request, skip string, err error) {
	r = Request{Event: e.Name, Session: e.SessionID, Cwd: e.Cwd, Transcript: e.TranscriptPath, Prompt: e.PromptID, Agent: e.AgentID}
	var missing []string
	switch e.Name {
	case client.UserPromptExpansion:
		r.Typed = true
		r.Command, missing = typed(e)
		r.Args = arguments(e.CommandArgs)
		r.Invocation = join("prompt", e.PromptID, r.Command)
	case client.PostToolUse, "":
		r.Event = client.PostToolUse
		if e.ToolName != "" && e.ToolName != "Skill" {
			return r, fmt.Sprintf("the event is about the tool %q, not about Skill", e.ToolName), nil
		}
		if r.Command, skip, r.Apart, missing = called(e); skip != "" {
			return r, skip, nil
		}
		r.Invocation = join("tool", e.ToolUseID)
		r.Args = arguments(e.InputText("args"))
	default:
		return r, fmt.Sprintf("hydrate does not handle the event %q", e.Name), nil
	}
	if e.SessionID == "" {
		missing = append(missing, lack(e, "session_id"))
	}
	if len(missing) > 0 {
		return r, "", fmt.Errorf("%w: %s", ErrEvent, strings.Join(missing, "; "))
	}
	return r, "", nil
}

// maxArgs limits the arguments that are kept, in characters.
const maxArgs = 10_000

// arguments returns the arguments of a call as the workflow gets them: trimmed, cut if they
// are very long, and without NUL characters, which no environment variable can have.
func arguments(text string) string {
	return strings.TrimSpace(message.Clip(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""), maxArgs))
}

// typed reads the event of a skill that the user typed as a slash command (facts 19 and
// 20, client 2.1.329).
func typed(e *client.Event) (command string, missing []string) {
	if e.CommandName == "" {
		missing = append(missing, lack(e, "command_name"))
	}
	return e.CommandName, missing
}

// called reads the event of a skill that the model called (fact 18, client 2.1.197). apart is set for a skill that runs in
// an agent of its own, whose id the response has.
func called(e *client.Event) (command, skip string, apart bool, missing []string) {
	const field = "tool_response.commandName"
	if e.Member("tool_response") == nil {
		return "", "", false, []string{"missing " + field}
	}
	response, err := jsonx.Members(e.ToolResponse)
	success, agent, name := response["success"].Kind(), response["agentId"], response["commandName"]
	switch {
	case err != nil, !slices.Contains([]jsontext.Kind{absent, 'n', 't', 'f'}, success):
		return "", "", false, []string{"missing " + field + ": tool_response is not a response of the Skill tool"}
	case success == 'f':
		return "", "the skill was not run: success is false", false, nil
	case name == nil || name.Kind() == 'n':
		return "", "", false, []string{"missing " + field}
	}
	if err := json.Unmarshal(name, &command, jsonx.Tolerant); err != nil {
		return "", "", false, []string{field + " is not a string"}
	}
	if command == "" {
		return "", "", false, []string{field + " is empty"}
	}
	return command, "", agent != nil && agent.Kind() != 'n', nil
}

// absent is the kind of a member that an object does not have.
const absent = jsontext.KindInvalid

// lack returns why a field has no usable value.
func lack(e *client.Event, field string) string {
	switch {
	case slices.Contains(e.WrongType, field):
		return field + " is not a string"
	case e.Has(field):
		return field + " is empty"
	}
	return "missing " + field
}

// join joins the parts of a key. The key is empty if one of them is.
func join(parts ...string) string {
	if slices.Contains(parts, "") {
		return ""
	}
	return strings.Join(parts, ":")
}
