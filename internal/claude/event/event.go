package event

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxBytes bounds an event: the client passes whole files through tool_input
// and tool_response, so the bound is generous, and it is there so that a
// runaway writer cannot exhaust memory.
const MaxBytes = 64 << 20

// Names of the events this program handles, as the client spells them.
const (
	PreToolUse          = "PreToolUse"
	PostToolUse         = "PostToolUse"
	UserPromptSubmit    = "UserPromptSubmit"
	UserPromptExpansion = "UserPromptExpansion"
	SessionStart        = "SessionStart"
	Stop                = "Stop"
	SubagentStop        = "SubagentStop"
	PreCompact          = "PreCompact"
)

var (
	// ErrEmpty means that standard input held no byte but white space.
	ErrEmpty = errors.New("no event on standard input")
	// ErrTooLarge means that the event is larger than MaxBytes.
	ErrTooLarge = fmt.Errorf("event is larger than %d MiB", MaxBytes>>20)
	// ErrMalformed means that the event is no JSON object; it wraps the cause.
	ErrMalformed = errors.New("event is not valid JSON")
)

// Event is one hook call. A field the client did not send, or sent as null, is
// the zero value; one it sent with another type is the zero value too and is
// named in WrongType. Raw values are the client's own bytes, nil if absent.
type Event struct {
	Name           string // hook_event_name
	SessionID      string // session_id: names the session's task list
	TranscriptPath string // transcript_path: JSON lines, one per message
	Cwd            string // cwd: follows the model's cd
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
	Source               string         // source of SessionStart: startup, resume, clear, compact
	StopHookActive       bool           // stop_hook_active: a Stop hook has already blocked this stop
	LastAssistantMessage string         // last_assistant_message of Stop and SubagentStop
	AgentTranscriptPath  string         // agent_transcript_path of SubagentStop
	BackgroundTasks      jsontext.Value // background_tasks: an array of objects
	WrongType            []string       // sorted names of fields whose value had another type
	Raw                  jsontext.Value // the whole object as it was read
	members              map[string]jsontext.Value
}

// Read reads one event to the end of r. It returns ErrEmpty, ErrTooLarge,
// ErrMalformed or what reading returned. Duplicate names (the last one counts)
// and ill-formed UTF-8 are tolerated: the client's tools carry what files hold.
func Read(r io.Reader) (*Event, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	if len(data) > MaxBytes {
		return nil, ErrTooLarge
	}
	return Parse(data)
}

// Parse reads an event from data, which the result keeps.
func Parse(data []byte) (*Event, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, ErrEmpty
	}
	e := &Event{Raw: jsontext.Value(data)}
	if err := json.Unmarshal(data, &e.members, Tolerant); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, plain(err))
	}
	if e.members == nil {
		return nil, fmt.Errorf("%w: it is null, and an object is wanted", ErrMalformed)
	}
	e.fill()
	return e, nil
}

// Member returns the raw value of any top-level field, nil if it is absent.
func (e *Event) Member(name string) jsontext.Value { return e.members[name] }

// Tolerant are the options with which the client's JSON is read: duplicate names
// (the last one counts) and ill-formed UTF-8 are let pass.
var Tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func (e *Event) fill() {
	for name, field := range map[string]*string{
		"hook_event_name":        &e.Name,
		"session_id":             &e.SessionID,
		"transcript_path":        &e.TranscriptPath,
		"cwd":                    &e.Cwd,
		"prompt_id":              &e.PromptID,
		"permission_mode":        &e.PermissionMode,
		"agent_id":               &e.AgentID,
		"agent_type":             &e.AgentType,
		"tool_name":              &e.ToolName,
		"tool_use_id":            &e.ToolUseID,
		"expansion_type":         &e.ExpansionType,
		"command_name":           &e.CommandName,
		"command_args":           &e.CommandArgs,
		"command_source":         &e.CommandSource,
		"prompt":                 &e.Prompt,
		"source":                 &e.Source,
		"last_assistant_message": &e.LastAssistantMessage,
		"agent_transcript_path":  &e.AgentTranscriptPath,
	} {
		e.decode(name, field)
	}
	e.decode("stop_hook_active", &e.StopHookActive)
	e.ToolInput = e.members["tool_input"]
	e.ToolResponse = e.members["tool_response"]
	e.BackgroundTasks = e.members["background_tasks"]
	slices.Sort(e.WrongType)
}

func (e *Event) decode(name string, into any) {
	raw, ok := e.members[name]
	if !ok {
		return
	}
	if err := json.Unmarshal(raw, into, Tolerant); err != nil {
		e.WrongType = append(e.WrongType, name)
	}
}

// Has reports whether the field is there and not null.
func (e *Event) Has(name string) bool {
	raw, ok := e.members[name]
	return ok && raw.Kind() != 'n'
}

// plain strips the library's name and Go types from a decoding error, which is
// shown to people who never heard of either.
func plain(err error) error {
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("%w at byte %d", s.Err, s.ByteOffset)
	}
	if s, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Errorf("an object is wanted, found %s", kindName(s.JSONKind))
	}
	return err
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "something else"
}
