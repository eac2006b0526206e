package hydrate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Limits of what the agent reads about a failure. It gets the whole standard error, of
// any length (fact 45, client 2.1.329).
const (
	maxProblems = 20   // listed, of one file
	maxPlaces   = 20   // listed, of one problem
	maxHint     = 2000 // UTF-16 code units
)

// Brief is the error for the agent: what to do first, and at most maxProblems, those
// that say the same as one. Error has them all.
func (e *SpecError) Brief() string {
	invalid, ok := errors.AsType[*fsmspec.InvalidError](e.Err)
	if !ok {
		return e.Error()
	}
	path := terminal.Visible(e.Path)
	head := e.headline(invalid) + ". Correct the file, then invoke the skill again:"
	more := " more: fsmtx validate " + quotePath(path)
	room := maxText - units("fsmtx: \n\n… and 10000") - units(head) - units(more)
	unlisted := len(invalid.Problems)
	var lines strings.Builder
	for i, f := range fold(invalid.Problems) {
		line := "\n" + path + ":" + f.text
		if room -= units(line); i == maxProblems || room < 0 {
			break
		}
		lines.WriteString(line)
		unlisted -= f.listed
	}
	if unlisted == 0 {
		return head + lines.String()
	}
	return fmt.Sprintf("%s%s\n… and %d%s", head, lines.String(), unlisted, more)
}

// folded is one problem with its places.
type folded struct {
	text   string // line:column: message (×3: also at 2:1, 3:1)
	listed int    // how many of the places the text lists
}

// fold joins problems whose messages differ only in the task, in a value of the wrong
// type or in what was probably meant. They are in the order of their first places.
func fold(problems []fsmspec.Problem) []folded {
	task := regexp.MustCompile(`^(?:task|entry) \d+(?: \("(?:[^"\\]|\\.)*"\))?: `)
	value := regexp.MustCompile(`(, not the (?:string|number)) .*| \(did you mean [^)]*\)$`)
	var order []string
	places := map[string][]fsmspec.Problem{}
	for _, p := range problems {
		key := value.ReplaceAllString(task.ReplaceAllString(p.Message, ""), "$1")
		if places[key] == nil {
			order = append(order, key)
		}
		places[key] = append(places[key], p)
	}
	var list []folded
	for _, key := range order {
		list = append(list, foldSame(places[key]))
	}
	return list
}

func foldSame(same []fsmspec.Problem) folded {
	text := terminal.Visible(same[0].Error())
	if len(same) == 1 {
		return folded{text, 1}
	}
	listed := same[:min(len(same), maxPlaces)]
	var places []string
	for _, p := range listed[1:] {
		places = append(places, fmt.Sprintf("%d:%d", p.Line, p.Column))
	}
	if len(listed) < len(same) {
		places = append(places, "…")
	}
	return folded{fmt.Sprintf("%s (×%d: also at %s)", text, len(same), strings.Join(places, ", ")), len(listed)}
}

// quotePath returns the path as the agent's shell takes it.
func quotePath(path string) string {
	plain := func(r rune) bool {
		return r > '~' || strings.ContainsRune("/._-+@%,:", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// bounded cuts a message after limit UTF-16 code units as the terminal would show it.
func bounded(message string, limit int) string {
	message = terminal.Visible(message)
	if units(message) <= limit {
		return message
	}
	const note = "… (the rest is left out; --log keeps the whole message)"
	return cut(message, limit-units(note)) + note
}
