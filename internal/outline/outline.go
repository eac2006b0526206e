// Package outline finds the steps that a Markdown text describes, such as the body of a
// SKILL.md, so that an author who has written them for an agent need not write them again.
//
// It reads the blocks of the text (scan.go), collects everything that could be a sequence of
// steps (headings.go, lists.go, blocks.go), and ranks these candidates (rank.go). A text
// without a convincing candidate has no steps: steps that are missing are noticed, but
// invented ones are followed. The package reads no files.
//
// It knows the workflow files of other programs too: it tells what a text is, and reads the steps
// in a tasks.json of task-master (foreign.go, taskmaster.go).
package outline

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// Step is a task of an fsm.json.
type Step struct {
	ID          int64   `json:"id"`
	Subject     string  `json:"subject"`
	Description string  `json:"description,omitzero"`
	ActiveForm  string  `json:"activeForm,omitzero"`
	Status      string  `json:"status,omitzero"`
	BlockedBy   []int64 `json:"blockedBy,omitzero"`

	Line int    `json:"-"` // where the text has the step, from 1; 0 if it is not from a text
	File string `json:"-"` // the file of Line, if it is not the text itself
}

// Outline is what a text says about its steps.
type Outline struct {
	Steps []Step // in order, each blocked by the one before it; nil if there are none
	What  string // what became the steps, such as "headings with a number of a step"
	Why   string // why these and not something else of the text
	Tied  []Left // sequences of which each may be the steps, so that none became them
	Left  []Left // what did not become steps, in the order of the text
	Hints []Hint // what the text says about the steps and an author may want to add

	// Foreign reports that there are no hints, and that the text does not seem to be in English: hints are found in
	// English only.
	Foreign bool
}

// Left is a part of the text that is not in any step.
type Left struct {
	Line int    `json:"line"` // from 1
	What string `json:"what"`
	Why  string `json:"why"` // "" for a section that has no steps
}

// JSON returns the steps as an fsm.json.
func JSON(steps []Step) []byte {
	// A Step has no value that JSON cannot represent, so there is no error.
	text, _ := json.Marshal(steps, jsontext.AllowInvalidUTF8(true))
	return text
}

// Markdown returns the steps in a text.
func Markdown(text []byte) Outline {
	d := scan(text)
	found, others, tied := d.choose()
	if found == nil {
		return Outline{Left: d.rejected(others), Tied: d.alternatives(tied)}
	}
	o := Outline{What: found.what(), Why: found.why(), Steps: d.steps(found)}
	if len(o.Steps) > fsmspec.MaxTasks {
		return o // too many for a workflow, and so for the rest
	}
	o.Left = d.leftOut(found, others)
	o.Hints = d.hints(o.Steps, found)
	o.Foreign = len(o.Hints) == 0 && (d.foreign && d.instructions(found, true) < 0.5 || d.isInOtherLetters()) // a terse text may be in English
	return o
}

// steps makes a chain of the marks of a candidate.
func (d *document) steps(c *candidate) (steps []Step) {
	for _, m := range c.marks {
		subject, rest := subject(m.title)
		if subject == "" {
			continue
		}
		step := Step{ID: int64(len(steps) + 1), Subject: subject, Line: d.lines[m.at].number}
		step.Description = join(rest, d.body(m))
		if m.done {
			step.Status = "completed"
		}
		if len(steps) > 0 {
			step.BlockedBy = []int64{int64(len(steps))}
		}
		steps = append(steps, step)
	}
	return steps
}

func (l Left) String() string {
	if l.Why == "" {
		return l.What
	}
	return l.What + ": " + l.Why
}
