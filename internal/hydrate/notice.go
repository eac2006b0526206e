package hydrate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// Notice returns the line for the person about what a hydration did, "" if it did nothing.
func Notice(r Request, result Result) string {
	var parts []string
	undo := result.Undo
	if undo != "" {
		undo = workflow.Outside + undo
	}
	if len(result.Created)+len(result.Deleted)+len(result.Restored) > 0 {
		parts = append(parts, changes(result))
	}
	if len(parts) > 0 && result.Mistake != nil {
		parts[0] += fmt.Sprintf(" (late: the client runs it from %s)", clip(result.Mistake.Dir))
	}
	switch n := result.Nested; {
	case n != nil && r.Typed:
		parts = append(parts, clip(n.Skill)+" goes on afterwards; "+workflow.Outside+n.EndOuter+" ends it, and "+result.Undo+
			" takes the new tasks out again")
	case n != nil:
		parts = append(parts, undo+" takes them out again")
	case len(result.Lost) > 0:
		parts = append(parts, workflow.HasReplaced(r.Command, result.Lost, undo))
	}
	parts = append(parts, changed(r, result)...)
	if result.Apart {
		parts = append(parts, "its steps are not enforced, because it runs in an agent of its own: take \"context: fork\" out of its SKILL.md")
	}
	if text := warned(result, "%s"); text != "" {
		parts = append(parts, text)
	}
	if result.Lacking != "" {
		parts = append(parts, result.Lacking)
	}
	if result.Recovered.Outcome == txn.RolledBack {
		parts = append(parts, fmt.Sprintf("an interrupted change was %s first", result.Recovered.Outcome))
	}
	for _, c := range result.Recovered.Conflicts {
		parts = append(parts, message.Words(conflictText(c)))
	}
	if result.Unreleased != nil {
		parts = append(parts, message.Words(Unreleased(result.Unreleased)))
	}
	if len(parts) == 0 {
		return ""
	}
	text := clip(r.Command) + ": " + strings.Join(parts, "; ")
	return shorten(text, maxNotice, "…")
}

// warned formats the first warning and the number of further ones. It returns "" if there
// is no warning.
func warned(result Result, format string) string {
	if len(result.Warnings) == 0 {
		return ""
	}
	w := result.Warnings[0]
	text := fmt.Sprintf("warning: fsm.json:%d:%d: %s", w.Line, w.Column, clip(w.Message))
	if n := len(result.Warnings) - 1; n > 0 {
		text += fmt.Sprintf(" … and %s; fsmtx validate shows all", terminal.Count(n, "more warning"))
	}
	return fmt.Sprintf(format, text)
}

// conflictText describes a file that another program changed after a transaction was
// interrupted.
func conflictText(c txn.Conflict) string {
	if c.MovedTo == "" {
		return fmt.Sprintf("%s: %s", c.Name, c.Why)
	}
	return fmt.Sprintf("%s: %s; moved to %s", c.Name, c.Why, c.MovedTo)
}

// FailureNotice returns the line for the person about a failed hydration.
func FailureNotice(r Request, err error, explained string) string {
	headline, _, _ := strings.Cut(explained, "\n")
	if e, ok := errors.AsType[*SpecError](err); ok {
		headline, _, _ = strings.Cut(e.Error(), ":\n")
	}
	return shorten(cmp.Or(clip(r.Command), "fsmtx")+": "+message.Words(headline), maxNotice, "…")
}

// changed says that the definition of the workflow is another one than that of the open steps, as parts of a sentence.
func changed(r Request, result Result) (parts []string) {
	if result.Changed != "" {
		parts = append(parts, fmt.Sprintf("%s has changed since it was begun (%s)", r.definition(), result.Changed))
	}
	if n := result.Unrecorded; n > 0 {
		parts = append(parts, "nothing is on record of "+terminal.Count(n,
			"open step")+" that it replaces, so it is not known whether the fsm.json has changed")
	}
	return parts
}
