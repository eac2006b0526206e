package hydrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// maxPlaces is how many places of one problem are listed.
const maxPlaces = 20

// Folded is one problem at several places, in the order of the file.
type Folded []fsmspec.Problem

// Fold joins problems whose messages differ only in the task, in a value of the wrong type
// or in a suggestion. The result is in the order of the first places.
func Fold(problems []fsmspec.Problem) []Folded {
	type same struct {
		warning bool
		text    string
	}
	var order []same
	places := map[same]Folded{}
	for _, p := range problems {
		key := same{p.Warning, general(withoutTask(p.Message))}
		if places[key] == nil {
			order = append(order, key)
		}
		places[key] = append(places[key], p)
	}
	var list []Folded
	for _, key := range order {
		list = append(list, places[key])
	}
	return list
}

// The parts in which equal problems differ.
var (
	differingTask       = pattern.New(`^(?:task|entry) \d+(?: \("(?:[^"\\]|\\.)*"\))?: `)
	differingValue      = pattern.New(`, not the (string|number) (?:"(?:[^"\\]|\\.)*"|[^ ]*)`)
	differingNumber     = pattern.New(`\(write [^ ]* without the quotes\)`)
	differingSuggestion = pattern.New(` \(did you mean [^)]*\)$`)
)

func withoutTask(message string) string { return differingTask.Regexp().ReplaceAllString(message, "") }

// general returns a message without the value that is wrong, and without a suggestion.
func general(message string) string {
	message = differingValue.Regexp().ReplaceAllString(message, ", not a $1")
	message = differingNumber.Regexp().ReplaceAllString(message, "(write the number without quotes)")
	return differingSuggestion.Regexp().ReplaceAllString(message, "")
}

// Listed returns the number of places that String lists.
func (f Folded) Listed() int { return min(len(f), maxPlaces) }

// Text returns the message at the first place and the other places: message (×3: also at
// 2:1, 3:1). What is not the same at all places, a value or a suggestion, is left out. It is
// one line that is safe to print.
func (f Folded) Text() string {
	text := message.Line(f[0].Message)
	if len(f) == 1 {
		return text
	}
	if slices.ContainsFunc(f, func(p fsmspec.Problem) bool { return withoutTask(p.Message) != withoutTask(f[0].Message) }) {
		text = message.Line(general(f[0].Message))
	}
	var places []string
	for _, p := range f[1:f.Listed()] {
		places = append(places, fmt.Sprintf("%d:%d", p.Line, p.Column))
	}
	if f.Listed() < len(f) {
		places = append(places, "…")
	}
	return fmt.Sprintf("%s (×%d: also at %s)", text, len(f), strings.Join(places, ", "))
}

// String returns "line:column: " and Text.
func (f Folded) String() string { return fmt.Sprintf("%d:%d: %s", f[0].Line, f[0].Column, f.Text()) }
