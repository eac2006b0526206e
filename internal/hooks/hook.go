package hooks

import (
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Hook is one handler of a configuration.
type Hook struct {
	Type    string
	Name    string
	Command string
	Args    []string          // not nil: Command is a program, started without a shell
	Env     map[string]string // added to the hook's environment
	Timeout time.Duration
	Async   bool // started and not waited for

	Event   string
	Matcher string
	Pointer jsontext.Pointer // where it stands below hooks
	Scope   Scope
	Source  string // the name of the source it comes from
	Root    string // the plugin's directory, else empty
	Data    string // where the plugin keeps data, else empty

	sequential bool
	match      matcher
}

// Matches reports whether the hook is for a subject, such as a tool's name.
func (h Hook) Matches(subject string) bool {
	matched, _ := h.match(subject)
	return matched
}

// label is the hook in a sentence.
func (h Hook) label() string {
	switch {
	case h.Name != "":
		return strconv.Quote(h.Name)
	case h.Command != "":
		return strconv.Quote(firstLine(h.Command, 80))
	}
	return "of type " + strconv.Quote(h.Type)
}

// parseTimeout reads a timeout in a dialect's unit. As in JavaScript, a string
// that spells a number is that number and zero is at once; what is no number at
// all, or negative, is not ok.
func parseTimeout(value jsontext.Value, unit time.Duration) (timeout time.Duration, ok bool) {
	digits := string(value)
	if s, isText := stringOf(value); isText {
		digits = trim(s)
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
