package hooks

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Hook is one handler of a configuration.
type Hook struct {
	Type    string
	Name    string
	Command string
	Args    []string          // if not nil, Command is a program that runs without a shell
	Env     map[string]string // added to the hook's environment
	Timeout time.Duration
	Shell   string // "powershell", or another word for the agent's shell
	Async   bool   // runs in the background
	Rewake  bool   // with Async: exit 2 makes the model go on

	If         string       // the permission rule that selects tool calls; empty if there is none
	OnFailure  string       // "block": a failure blocks
	Target     string       // the url, prompt or tool of a hook that is not a command
	Headers    jsonx.Object // of the request of an http hook
	AllowedEnv []string     // environment variables that the headers may use

	Event   string
	Matcher string
	Pointer jsontext.Pointer // its place in the member hooks of the source
	Scope   dialect.Scope
	Source  string // the name of its source
	Root    string // the plugin's directory; empty for other hooks
	Data    string // the plugin's data directory; empty for other hooks

	Skill   string            // the skill whose frontmatter has the hook; empty for other hooks
	Options map[string]string // the values of its plugin's options

	sequential bool
	inactive   bool // its skill has not been called
	match      matcher
}

// Matches reports whether the hook runs for a subject, such as a tool's name.
func (h Hook) Matches(subject string) bool {
	matched, _ := h.match(subject)
	return matched
}

// IsPowerShell reports whether PowerShell runs the command.
func (h Hook) IsPowerShell(d dialect.Dialect) bool {
	return d.Hooks.PowerShell && h.Shell == "powershell" && h.Args == nil
}

// Same reports whether the agent treats two hooks as duplicates, of which one runs.
func (h Hook) Same(d dialect.Dialect, other Hook) bool { return h.identity(d) == other.identity(d) }

// identity returns a key of the fields that are equal in duplicates.
func (h Hook) identity(d dialect.Dialect) string {
	var key []string
	for _, field := range d.Hooks.Identity {
		switch field {
		case dialect.FieldType:
			key = append(key, h.Type)
		case dialect.FieldName:
			key = append(key, h.Name)
		case dialect.FieldCommand:
			key = append(key, h.Command)
		case dialect.FieldRoot:
			key = append(key, h.Root)
		case dialect.FieldPlace:
			key = append(key, h.Source, string(h.Pointer))
		case dialect.FieldIf:
			key = append(key, h.If)
		case dialect.FieldTarget:
			key = append(key, h.Target)
		case dialect.FieldArgs:
			key = append(key, h.Args...)
		}
	}
	return strings.Join(key, "\x00")
}

// label names the hook in a message.
func (h Hook) label() string {
	switch {
	case h.Name != "":
		return strconv.Quote(h.Name)
	case h.Command != "":
		return strconv.Quote(message.FirstLine(h.Command, 80))
	case h.Target != "":
		return h.Type + " " + strconv.Quote(message.FirstLine(h.Target, 80))
	}
	return "of type " + strconv.Quote(h.Type)
}

// problem returns the problem that the hook does not run.
func (h Hook) problem(why string) Problem {
	return Problem{Source: h.Source, Pointer: h.Pointer, Message: why, Hook: message.FirstLine(cmp.Or(h.Name, h.Command, h.Target,
		h.Type), 80), Dropped: true}
}

// parseTimeout reads a timeout in a dialect's unit. As in JavaScript, a string that
// contains a number is that number. ok is false for a negative number and for any other
// value.
func parseTimeout(value jsontext.Value, unit time.Duration) (timeout time.Duration, ok bool) {
	digits := string(value)
	if s, isText := jsonx.String(value); isText {
		digits = jsonx.Trim(s)
	} else if value.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil && !math.IsInf(n, 1) || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	if n >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64, true
	}
	return time.Duration(n * float64(unit)), true
}

// lines joins the texts that are not empty by newlines.
func lines(texts []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" }), "\n")
}
