package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrUnknown is returned when there is no dialect of a name.
var ErrUnknown = errors.New("unknown dialect")

// CommandType is the type of a hook that runs a command.
const CommandType = "command"

// RequestType is the type of a hook that is an HTTP request.
const RequestType = "http"

// Dialect is everything in which one agent differs from the others.
type Dialect struct {
	Name  string // on the command line
	Title string // for people

	Events []Event
	Tools  []string // the names of the agent's own tools

	// SampleTool is a call, in JSON, for sample events of tools.
	SampleTool string

	// Unrecorded are the events that a hook which only watches would disturb.
	Unrecorded []string

	// Unskilled are the events at which hooks of a skill do not run.
	Unskilled []string

	// Aliases are former names of tools, which matchers still match.
	Aliases map[string][]string

	Settings Settings
	Hooks    Hooks
	Answers  Answers
	Around   Around
}

// Settings is where an agent keeps its hooks.
type Settings struct {
	Files      []File   // in order of precedence
	Extensions []string // directories of extensions, below the project and the home
	Plugins    bool     // hooks may come from Claude Code's plugins
	Skills     bool     // hooks may come from the frontmatter of skills and commands
	Comments   bool     // files may contain comments and trailing commas

	// Reviewed is the file in which the agent notes what hooks the user has reviewed; it does
	// not run others. Without a path no review is needed.
	Reviewed File

	// Options is the setting with the values of plugins' options, and OptionPrefix how the
	// variables of hooks with these values begin.
	Options, OptionPrefix string

	ManagedOnly string // the setting of the organisation that allows only its hooks

	Switch   Switch   // turns all hooks on or off
	ToEnable string   // for people: what must be set for hooks to run
	Disabled []Path   // lists of names or commands of hooks that do not run
	NotEvent []string // members of hooks that are settings and not events
}

// Hooks is what one hook's entry may contain, and how it is run.
type Hooks struct {
	Types    []string // accepted handler types
	Fields   []string // of an entry; others mean nothing
	Identity []Field  // hooks that are equal in these fields run once

	Timeout     time.Duration // unless the entry has one
	TimeoutUnit time.Duration // what a timeout of 1 is

	Shell      []string // runs a command; /bin/sh -c if it is empty
	Sequential bool     // groups may ask to run one after the other
	RunsOn     bool     // a block does not end a sequence
	Args       bool     // with args, command is a program that runs without a shell
	Env        bool     // an entry may add to the environment
	Async      bool     // an entry may ask not to be waited for
	Once       bool     // an entry in the frontmatter of a skill may ask to run once
	If         bool     // an entry may have a permission rule that selects calls of tools
	OnFailure  bool     // an entry may ask that its failure blocks
	Requests   bool     // entries of type http are sent
	Positive   bool     // a timeout that is not a positive number is a mistake

	Newline bool // standard input ends in a newline
	Blank   bool // a matcher of blanks matches nothing
	Braces  bool // a variable that is not set may not be used in braces

	ToolMatcher  Matching // how matchers of tool names are read
	OtherMatcher Matching // and those of other subjects

	Variables  []Variable
	Timestamps bool // standard input has a timestamp
}

// Answers is how a hook's output is read, where that does not depend on the event.
type Answers struct {
	BlockDecision string // the decision that exit 2 stands for
	SilentReason  string // the reason of an exit 2 without standard error; "" means no output

	DecodesTwice bool // a JSON string that contains JSON is decoded twice
	Loose        bool // whichever output is not empty is read, whatever the exit: exit 1 warns, a higher one blocks
	StopReason   bool // stopReason is the reason of a block too
	Escapes      bool // < and > in additional context are escaped
	Tail         bool // hooks may ask for another tool, or that the conversation is forgotten
	Heard        bool // a JSON object counts whatever the exit
	Schema       Schema
	NeedsReason  bool // a block without a reason is ignored

	InputField    string // the field of hookSpecificOutput with a changed tool input
	InputReplaces bool   // it replaces the input; otherwise it is merged into it
}

// Around is what an agent does around a tool or a model.
type Around struct {
	BeforeTool, AfterTool string // the names of these events
	AfterFailure          string // after a tool that failed, if that is another event

	BlockAfterTool      AfterBlock
	MessagesToModel     bool   // system messages are for the model, otherwise for the user
	ContextFormat       string // how additional context is shown to the model; %s is the context
	AnswersWithoutBlock bool   // BeforeModel may answer for the model without blocking
}

// Field is a field of a hook's entry.
type Field int

// The fields that identify hooks.
const (
	FieldType Field = iota + 1
	FieldName
	FieldCommand
	FieldRoot // the plugin's directory
	FieldArgs
	FieldPlace // where it is configured: no two hooks are the same
	FieldIf
	FieldTarget // the url, the prompt or the tool of a hook that is not a command
)

// Matching is how a matcher is read. An empty matcher and * match everything.
type Matching int

const (
	// MatchRegexp is an unanchored JavaScript regular expression; an invalid one matches
	// only the subject of exactly that text.
	MatchRegexp Matching = iota + 1
	// MatchExact matches only the subject of exactly that text.
	MatchExact
	// MatchNames is a list of exact names, separated by | or comma. With any character
	// that names do not have it is read as MatchRegexp.
	MatchNames
)

// AfterBlock is what a block after a tool ran does to the tool's result.
type AfterBlock int

// What a block after a tool does.
const (
	BlockIgnored     AfterBlock = iota
	BlockHidesResult            // the model reads the reason in place of the result
	BlockIsToldModel            // the model reads the result and the reason
)

// Variable is set in a hook's environment, and may be used in its command.
type Variable struct {
	Name  string
	Value Value
}

// Value is what a variable contains.
type Value int

// The values of variables.
const (
	ValueCwd     Value = iota + 1 // the hook's working directory
	ValueProject                  // the project's directory
	ValueSessionID
	ValuePluginRoot // the plugin's directory; only set for a plugin's hook
	ValuePlans      // where the agent keeps plans
	ValuePluginData // the plugin's data directory; only set for a plugin's hook
)

// All returns the dialects.
func All() []Dialect { return []Dialect{LLxprt(), Gemini(), Claude(), Codex()} }

// Named returns the dialect of a name, or ErrUnknown.
func Named(name string) (Dialect, error) {
	var names []string
	for _, d := range All() {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return Dialect{}, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, InWords(names))
}

// Event returns the event of a name; ok is false if the dialect does not have it.
func (d Dialect) Event(name string) (e Event, ok bool) {
	i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Name == name })
	if i < 0 {
		return Event{}, false
	}
	return d.Events[i], true
}

// EventNames returns the names of the events, sorted.
func (d Dialect) EventNames() []string {
	names := make([]string, len(d.Events))
	for i, e := range d.Events {
		names[i] = e.Name
	}
	slices.Sort(names)
	return names
}

// MatchingOf returns how matchers of an event are read.
func (d Dialect) MatchingOf(e Event) Matching {
	if e.Subject == "" || e.Subject == ToolName {
		return d.Hooks.ToolMatcher
	}
	return d.Hooks.OtherMatcher
}

// ReaderOfMessages names who reads system messages.
func (d Dialect) ReaderOfMessages() string {
	if d.Around.MessagesToModel {
		return "the model"
	}
	return "the user"
}

// UnitName returns the unit of timeouts.
func (d Dialect) UnitName() string {
	if d.Hooks.TimeoutUnit == time.Second {
		return "seconds"
	}
	return "milliseconds"
}

// Suggest returns a hint, which begins with a semicolon, for a name that is not an
// event: the name of the same event in this dialect, or its spelling.
func (d Dialect) Suggest(name string) string {
	for _, same := range sameEvent(name) {
		if _, ok := d.Event(same); ok {
			return fmt.Sprintf("; %s calls it %s", d.Title, same)
		}
	}
	for _, e := range d.Events {
		if strings.EqualFold(e.Name, name) {
			return fmt.Sprintf("; it is spelled %s", e.Name)
		}
	}
	return ""
}

// sameEvent returns the names that dialects have for one event.
func sameEvent(name string) []string {
	for _, names := range [][]string{
		{BeforeTool, "PreToolUse"},
		{AfterTool, "PostToolUse"},
		{"BeforeAgent", "UserPromptSubmit"},
		{"AfterAgent", "Stop"},
		{"PreCompress", "PreCompact"},
	} {
		if slices.Contains(names, name) {
			return names
		}
	}
	return nil
}

// InWords joins names by commas and an "and".
func InWords(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
