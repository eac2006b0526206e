package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// MaxBytes is the limit on an event. The client passes whole files through
// tool_input and tool_response, so the limit is generous; it keeps a runaway
// writer from exhausting memory.
const MaxBytes = 64 << 20

// Names of the events this program handles, as the client spells them
// (facts 18, 19, 26, 38, 40, client 2.1.329).
const (
	PreToolUse          = "PreToolUse"
	PostToolUse         = "PostToolUse"
	PostToolUseFailure  = "PostToolUseFailure"
	UserPromptSubmit    = "UserPromptSubmit"
	UserPromptExpansion = "UserPromptExpansion"
	SessionStart        = "SessionStart"
	Stop                = "Stop"
	SubagentStop        = "SubagentStop"
	PreCompact          = "PreCompact"
	TaskCompleted       = "TaskCompleted"
)

var (
	// ErrEmpty is returned when standard input holds nothing but white space.
	ErrEmpty = errors.New("no event on standard input")
	// errUnread is returned when standard input cannot be read.
	errUnread = errors.New("reading standard input")
	// ErrTooLarge is returned when the event is larger than MaxBytes.
	ErrTooLarge = errors.New("event is larger than 64 MiB")
	// ErrMalformed is returned when the event is not a JSON object. The error's
	// text gives the line and the column in standard input.
	ErrMalformed = errors.New("event is not a JSON object")
)

// Event is one hook call, with the fields of facts 18, 19, 26 and 40 (clients
// 2.1.197 and 2.1.329). A field that the client did not send, or sent as null, has its
// zero value. A field of the wrong type also has its zero value, and is listed in
// WrongType. Raw values are the client's own bytes, nil if absent.
type Event struct {
	Name           string // hook_event_name
	SessionID      string // session_id: names the session's task list
	TranscriptPath string // transcript_path: JSON lines, one per message
	Cwd            string // cwd: follows the model's cd (fact 21, client 2.1.197)
	PromptID       string // prompt_id: the user's prompt this belongs to
	PermissionMode string // permission_mode
	AgentID        string // agent_id: set if a subagent caused the event
	AgentType      string // agent_type: "plugin:agent" of that subagent

	ToolName     string         // tool_name
	ToolUseID    string         // tool_use_id
	ToolInput    jsontext.Value // tool_input: an object, the tool's own shape
	ToolResponse jsontext.Value // tool_response: any JSON, the tool's own shape

	ExpansionType string // expansion_type of UserPromptExpansion
	CommandName   string // command_name of UserPromptExpansion, without the slash
	CommandArgs   string // command_args of UserPromptExpansion
	CommandSource string // command_source of UserPromptExpansion

	Prompt               string         // prompt of UserPromptSubmit
	Source               string         // source of SessionStart: startup, resume, clear, compact, fork
	StopHookActive       bool           // stop_hook_active: a Stop hook has already blocked this stop
	LastAssistantMessage string         // last_assistant_message of Stop and SubagentStop
	AgentTranscriptPath  string         // agent_transcript_path of SubagentStop
	BackgroundTasks      jsontext.Value // background_tasks: an array of objects
	SessionCrons         jsontext.Value // session_crons of Stop: an array of objects
	WrongType            []string       // sorted names of fields whose value had the wrong type
	Raw                  jsontext.Value // the whole object as it was read
	members              map[string]jsontext.Value
	input                map[string]jsontext.Value // members of ToolInput, nil if they were not read yet
}

// Read reads one event to the end of r. It returns ErrEmpty, ErrTooLarge,
// ErrMalformed or errUnread. It accepts duplicate names, of which the last one
// counts, and invalid UTF-8, because tool inputs and results quote files. Beside ErrTooLarge it
// returns an Event with the fields before the one in which the limit was reached.
func Read(r io.Reader) (*Event, error) {
	data, err := ReadAll(r)
	if errors.Is(err, ErrTooLarge) {
		e := &Event{members: jsonx.Begun(data)}
		e.fill()
		return e, err
	}
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// ReadAll reads r to its end. It returns errUnread, or what it has read and ErrTooLarge for more than
// MaxBytes.
func ReadAll(r io.Reader) ([]byte, error) {
	data := make([]byte, 0, usualBytes)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > MaxBytes:
			return data[:MaxBytes], ErrTooLarge
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errUnread, err)
		case len(data) == cap(data):
			data = append(make([]byte, 0, MaxBytes+1), data...)
		}
	}
}

// usualBytes is more than most events have. A longer one is read into room for the largest, of which the system provides only
// the pages that are used: a buffer that grows would be copied, and need memory for both.
const usualBytes = 64 << 10

// Parse reads an event from data, which the result keeps. It returns ErrEmpty or
// ErrMalformed.
func Parse(data []byte) (*Event, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, ErrEmpty
	}
	members, input, err := jsonx.MembersWithin(data, "tool_input")
	e := &Event{Raw: jsontext.Value(data), members: members, input: input}
	if _, wrong := errors.AsType[*json.SemanticError](err); wrong || err == nil && e.members == nil {
		return nil, malformedError{"a JSON object", notObject(data)}
	}
	if err != nil {
		return nil, malformedError{"valid JSON", jsonx.Explain(data, err)}
	}
	e.fill()
	return e, nil
}

// malformedError is ErrMalformed with the place in standard input.
type malformedError struct {
	want string // what the event is not
	err  error  // begins with line and column
}

func (e malformedError) Error() string {
	return "the event on standard input is not " + e.want + ": " + e.err.Error()
}
func (e malformedError) Is(target error) bool { return target == ErrMalformed }
func (e malformedError) Unwrap() error        { return e.err }

func notObject(data []byte) error {
	offset := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
	got := jsonx.Got(jsontext.Value(data).Kind(), "an object")
	return &jsonx.SyntaxError{Position: jsonx.PositionAt(data, offset), Offset: offset, Err: errors.New(got)}
}

// Member returns the raw value of any top-level field, nil if it is absent.
func (e *Event) Member(name string) jsontext.Value { return e.members[name] }

// Text returns the value of a top-level field that is a string, "" for any other.
func (e *Event) Text(name string) string { return jsonx.Text(e.members[name]) }

// Input returns the raw value of a member of tool_input, nil if it is absent.
func (e *Event) Input(name string) jsontext.Value {
	if e.input == nil {
		e.input, _ = jsonx.Members(e.ToolInput) // nil if it is not an object
	}
	return e.input[name]
}

// InputText returns the value of a member of tool_input that is a string, "" for any other.
func (e *Event) InputText(name string) string { return jsonx.Text(e.Input(name)) }

func (e *Event) fill() {
	for _, text := range []struct {
		name  string
		field *string
	}{
		{"hook_event_name", &e.Name},
		{"session_id", &e.SessionID},
		{"transcript_path", &e.TranscriptPath},
		{"cwd", &e.Cwd},
		{"prompt_id", &e.PromptID},
		{"permission_mode", &e.PermissionMode},
		{"agent_id", &e.AgentID},
		{"agent_type", &e.AgentType},
		{"tool_name", &e.ToolName},
		{"tool_use_id", &e.ToolUseID},
		{"expansion_type", &e.ExpansionType},
		{"command_name", &e.CommandName},
		{"command_args", &e.CommandArgs},
		{"command_source", &e.CommandSource},
		{"prompt", &e.Prompt},
		{"source", &e.Source},
		{"last_assistant_message", &e.LastAssistantMessage},
		{"agent_transcript_path", &e.AgentTranscriptPath},
	} {
		e.decode(text.name, text.field)
	}
	e.decode("stop_hook_active", &e.StopHookActive)
	e.ToolInput = e.members["tool_input"]
	e.ToolResponse = e.members["tool_response"]
	e.BackgroundTasks = e.members["background_tasks"]
	e.SessionCrons = e.members["session_crons"]
	slices.Sort(e.WrongType)
}

func (e *Event) decode(name string, into any) {
	raw, ok := e.members[name]
	if !ok {
		return
	}
	if err := json.Unmarshal(raw, into, jsonx.Tolerant); err != nil {
		e.WrongType = append(e.WrongType, name)
	}
}

// Has reports whether the event has the field and its value is not null.
func (e *Event) Has(name string) bool {
	raw, ok := e.members[name]
	return ok && raw.Kind() != 'n'
}

// Foreign reports whether another agent has sent the event: some agents read the hooks of
// Claude Code's settings and plugins, or their users copy them. Such an event may have
// Claude Code's names, and its session has none of our lists, so a hook does nothing with it
// and prints nothing, because other agents read other things into an answer.
//
// The marks were measured with Codex 0.169.0 and 0.171.0, Copilot CLI 1.0.102, Gemini CLI 0.61.0
// and Qwen Code 0.15.10 and 0.24.4 (fact 128). An event without any of them counts as Claude
// Code's.
func (e *Event) Foreign() bool {
	switch {
	case e.Name == "":
		return slices.ContainsFunc([]string{"hookName", "hookEventName", "sessionId", "toolName", "agent_action_name"}, e.Has)
	case isCamelCase(e.Name), strings.HasPrefix(e.Name, "Before"), strings.HasPrefix(e.Name, "After"):
		return true // as Copilot, Cursor and Gemini name their events
	case e.PromptID != "" && !strings.Contains(e.PromptID, "########"):
		return false // Qwen Code 0.24.4 alone sends another one: SESSION########NUMBER
	}
	return e.Has("timestamp") || e.Has("turn_id") || strings.HasPrefix(filepath.Base(e.TranscriptPath), "rollout-")
}

// isCamelCase reports whether a name is like preToolUse.
func isCamelCase(name string) bool {
	return 'a' <= name[0] && name[0] <= 'z' && strings.ToLower(name) != name
}
