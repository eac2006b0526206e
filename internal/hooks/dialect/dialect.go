package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// errUnknown is returned when no dialect has the name.
var errUnknown = errors.New("unknown dialect")

// CommandType is the type of a hook that runs a command.
const CommandType = "command"

// RequestType is the type of a hook that is an HTTP request.
const RequestType = "http"

// Dialect is everything in which one agent differs from the others.
type Dialect struct {
	Name  string // on the command line
	Title string // in messages

	Events []Event  // the table: what an exit code and an output mean at each event
	Tools  []string // the names of the agent's own tools
	Former []string // the names of tools that earlier versions had

	// NoSkillHooks lists the events at which hooks of a skill do not run.
	NoSkillHooks []string

	// Aliases maps a tool to its former names, which matchers still match.
	Aliases map[string][]string

	Settings Settings
	Hooks    Hooks
	Answers  Answers
	Around   Around
}

// Settings is where an agent keeps its hooks.
type Settings struct {
	Files []File // in order of precedence
	// ConfigDir is the agent's configuration directory in the user's home, "" if that is the home
	// itself. ConfigVariable is the environment variable that names another directory.
	ConfigDir, ConfigVariable string

	Extensions []string // directories of extensions, relative to the project and to the configuration directory
	Plugins    bool     // Claude Code's plugins, and their skills, may have hooks
	Skills     []File   // directories whose skills and commands may have hooks in their frontmatter
	Comments   bool     // files may contain comments and trailing commas
	Marked     bool     // files may begin with a byte order mark
	Members    []string // of a file with hooks alone, which the agent drops if it has another; nil: any

	// Kinds are the types of members of a settings file. The agent drops a file in which one has
	// another type. Only members that matter for hooks are here.
	Kinds map[string]Kind
	Env   string // the setting with variables that hooks get; "" if there is none

	// Features is a file of TOML that may turn hooks off; nil if there is none.
	Features *File

	// RequestURLs and RequestEnv are the settings that limit hooks of type http: the patterns of
	// their URLs, and the variables of their headers.
	RequestURLs, RequestEnv string

	// Options is the setting with the values of plugins' options. OptionPrefix is the prefix
	// of the variables that pass these values to hooks.
	Options, OptionPrefix string

	Switch   Switch   // turns all hooks on or off
	ToEnable string   // in messages: the setting that hooks need to run
	Disabled []Path   // lists of names or commands of disabled hooks
	NotEvent []string // members of the object hooks that are settings, not events
}

// Hooks is what the entry of a hook may contain, and how the hook is run.
type Hooks struct {
	Types    []string // accepted handler types
	Identity []Field  // of hooks that are equal in these fields one runs

	// Entries are the fields of an entry, by type of handler. The agent drops a hook if a field
	// has another type. nil: only the type, the command and the timeout matter.
	Entries      map[string]map[string]Kind
	NullIsAbsent bool // null is accepted for a field that may be absent
	EmptyGroups  bool // a group without the member hooks is an empty one, and no mistake

	Timeout     time.Duration // the default time limit
	TimeoutUnit time.Duration // the unit of the field timeout

	Shell               []string // runs a command; default: /bin/sh -c
	UserShell           bool     // the user's shell runs a command, if it is bash, zsh or sh
	PowerShell          bool     // an entry may set shell to powershell
	Sequential          bool     // a group may set sequential: the hooks run one after the other
	ContinuesAfterBlock bool     // a block does not end a sequence
	Args                bool     // an entry may have args; its command then runs without a shell
	Env                 bool     // an entry may add to the environment
	Async               bool     // an entry may set async: the agent does not wait for the hook
	If                  bool     // an entry may have a permission rule that selects tool calls
	OnFailure           bool     // an entry may set onFailure to block on its failure
	Requests            bool     // entries of type http are sent
	PositiveTimeout     bool     // a timeout that is not a positive number drops the hook
	WholeTimeout        bool     // a timeout with a sign, a fraction or an exponent drops the hook

	MinTimeout time.Duration // a shorter time limit is raised to it
	TimerLimit time.Duration // a longer time limit, or a negative one, expires at once; 0: neither does

	FinalNewline  bool // standard input ends in a newline
	NoUnsetBraces bool // a hook that uses ${NAME} of a plugin's variable outside a plugin does not run

	ToolMatcher  Matching // how matchers of tool names are read
	OtherMatcher Matching // how matchers of other subjects are read

	Variables  []Variable
	Moves      bool // a hook runs where the session is, or where the agent was started, and not always in the project's directory
	Timestamps bool // standard input has a timestamp
}

// Answers is how a hook's output is read, as far as it is the same for all events.
type Answers struct {
	Objects      Objects
	DecodesTwice bool   // a JSON string that contains JSON is read as that JSON
	TextByLook   bool   // what begins with neither { nor [ is text, even if it is JSON
	Schema       Schema // of objects

	BlockDecision string // the decision that the meaning Block stands for
	SilentReason  string // the reason of an exit 2 without standard error; "" makes it mean nothing

	StopReason bool // stopReason is the reason of a block too
	AskReason  bool // the reason of the decision ask is reported
	Escapes    bool // < and > in additional context are escaped
	TailCalls  bool // tailToolCallRequest and clearContext count

	InputField    string // the field of hookSpecificOutput with a changed tool input
	InputReplaces bool   // the changed input replaces the input; otherwise it is merged into it
}

// Objects is where an agent reads a JSON object as a hook's output.
type Objects int

const (
	// ObjectsOnSuccess reads an object on standard output with exit 0.
	ObjectsOnSuccess Objects = iota
	// ObjectsOnAnyExit reads an object on standard output, whatever the exit.
	ObjectsOnAnyExit
	// ObjectsOnAnyStream reads an object whatever the exit, on standard error if standard
	// output is empty. A text is read from the same stream.
	ObjectsOnAnyStream
)

// Around is what an agent does around a tool or a model.
type Around struct {
	BeforeTool, AfterTool string // the names of these events
	AfterFailure          string // the event after a tool that failed; default: AfterTool

	BlockAfterTool      AfterBlock
	BlockFormat         string // how BlockAddsReason shows the reason to the model; %s is the reason
	MessagesToModel     bool   // system messages are for the model, otherwise for the user
	ContextFormat       string // how additional context is shown to the model; %s is the context
	AnswersWithoutBlock bool   // BeforeModel may answer for the model without blocking

	// Results are the members of the results of tools. A hook may replace a result only by a value
	// with these. For a tool that is not here they are those of the result itself.
	Results map[string]map[string]Kind
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
	FieldPlace // the file and the place in it, which no two hooks share
	FieldIf
	FieldTarget // the url, the prompt or the tool of a hook that is not a command
)

// Matching is how a matcher is read. An empty matcher and * match everything.
type Matching int

const (
	// MatchRegexp is an unanchored JavaScript regular expression. An invalid one is read
	// as MatchExact. White space around it does not count.
	MatchRegexp Matching = iota + 1
	// MatchExact matches the subject that equals the matcher.
	MatchExact
	// MatchNames is a list of exact names, separated by | or comma, with or without blanks. A
	// matcher that is not such a list, see IsNameList, is an unanchored JavaScript regular
	// expression.
	MatchNames
	// MatchRustNames is a list of exact names, separated by |. A matcher that is not such a list
	// is an unanchored regular expression of Rust, which is nearly one of Go.
	MatchRustNames
)

// IsNameList reports whether a matcher contains only characters of a list of names.
func (m Matching) IsNameList(matcher string) bool {
	more, isList := map[Matching]string{MatchNames: "_- ,|", MatchRustNames: "_|"}[m]
	return isList && !strings.ContainsFunc(matcher, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(more, c))
	})
}

// Fits reports whether the agent takes a changed result of a tool for a result. result is nil if it is
// not known.
func (a Around) Fits(tool string, result, changed jsontext.Value) bool {
	object, isObject := jsonx.ParseObject(changed)
	kinds, known := a.Results[tool]
	switch {
	case strings.HasPrefix(tool, "mcp__"): // a server may return anything
		return result == nil || typeOf(changed) == typeOf(result)
	case !known || !isObject:
		return hasForm(changed, result)
	}
	for name, kind := range kinds {
		value := object.Get(name)
		if value == nil && kind.Required || value != nil && kind.violation(value) != "" {
			return false
		}
	}
	return true
}

// hasForm reports whether a value has the type of another one and, with their types, its members.
func hasForm(value, form jsontext.Value) bool {
	if form == nil {
		return true
	}
	object, _ := jsonx.ParseObject(form)
	members, _ := jsonx.ParseObject(value)
	for name, below := range object.All() {
		if !members.Has(name) || !hasForm(members.Get(name), below) {
			return false
		}
	}
	return typeOf(value) == typeOf(form)
}

// AfterBlock is what a block after a tool does to the tool's result.
type AfterBlock int

// What a block after a tool does.
const (
	BlockIgnored     AfterBlock = iota
	BlockHidesResult            // the model reads the reason in place of the result
	BlockAddsReason             // the model reads the result and the reason
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
	ValuePlans      // the directory of Gemini CLI's plans of the project
	ValuePluginData // the plugin's data directory; only set for a plugin's hook
	ValuePluginCwd  // the hook's working directory; only set for a plugin's hook
	ValueOne        // "1"
	ValueOther      // only the agent knows it
)

// All returns the dialects.
func All() []Dialect { return []Dialect{LLxprt(), Gemini(), Claude(), Codex()} }

// Named returns the dialect with the name, or errUnknown.
func Named(name string) (Dialect, error) {
	var names []string
	for _, d := range All() {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return Dialect{}, fmt.Errorf("%w %q; known are %s", errUnknown, name, InWords(names))
}

// Event returns the event with the name; ok is false if the dialect does not have it.
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

// MatchingOf returns how the matchers of an event are read.
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

// InWords joins names by commas and an "and".
func InWords(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
