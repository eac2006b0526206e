package fsmspec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// nowhere is the entry of a finding that belongs to none.
const nowhere = -1

// finding is a problem before it is known how to call the task it belongs to:
// its id and subject may come later in the file than what is wrong with it.
type finding struct {
	at      int
	pointer string
	text    string
	entry   int // index of the task, or nowhere
}

// findings collects up to MaxProblems, or less if they are long, and counts the
// rest: a pointer alone can be as long as the file.
type findings struct {
	list []finding
	size int // bytes of pointers and texts
	more int // that found it full
}

// turnsAway reports whether there is no room for one more, and counts it then.
// It is asked before a problem is put into words: a file can hold millions.
func (f *findings) turnsAway() bool {
	if len(f.list) < MaxProblems && f.size < MaxBytes {
		return false
	}
	f.more++
	return true
}

// add is for one that was not turned away.
func (f *findings) add(one finding) {
	f.size += len(one.pointer) + len(one.text)
	f.list = append(f.list, one)
}

// problems sorts what was found by its place in the file and finishes it. who
// returns what an entry is called in a message.
func (f *findings) problems(pos *jsonx.Index, warning bool, who func(entry int) string) []Problem {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b finding) int { return cmp.Compare(a.at, b.at) })
	problems := make([]Problem, 0, len(f.list)+1)
	for _, one := range f.list {
		text := one.text
		if one.entry != nowhere {
			text = who(one.entry) + ": " + text
		}
		at := pos.At(one.at)
		problems = append(problems, Problem{at.Line, at.Column, int64(one.at), one.pointer, text, warning})
	}
	if f.more > 0 {
		last := problems[len(problems)-1]
		last.Pointer, last.Message = "", fmt.Sprintf("and %d more, which are not listed", f.more)
		problems = append(problems, last)
	}
	return problems
}

// Error is "line:column: message".
func (p Problem) Error() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message) }

// Error lists every problem, one a line, each with its line and column.
func (e *InvalidError) Error() string {
	var text strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(p.Error())
	}
	return text.String()
}

// Unwrap returns the problems, each as a Problem.
func (e *InvalidError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}
