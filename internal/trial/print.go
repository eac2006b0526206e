package trial

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// outcome is what the command prints.
type outcome struct {
	cwd       string
	tests     []*trialled
	workflows []covered // nil: not all tests have ended
	strict    bool
	verbose   bool
	narrowed  bool // not every test was run
}

// shownTest is a test as JSON.
type shownTest struct {
	File    string  `json:"file"`
	Skill   string  `json:"skill"`
	Result  string  `json:"result"`
	Line    int     `json:"line"`
	Message string  `json:"message"`
	Log     string  `json:"log"`
	Seconds float64 `json:"seconds"`
}

type shownSummary struct {
	Tests    int `json:"tests"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
	Gates    int `json:"gates"`
	Seen     int `json:"seen"`     // gates that were seen refusing and passing
	Untested int `json:"untested"` // workflows without a test
}

type shown struct {
	Tests     []shownTest  `json:"tests"`
	Workflows []covered    `json:"workflows"`
	Summary   shownSummary `json:"summary"`
}

func (o outcome) shown() shown {
	x := shown{Tests: []shownTest{}, Workflows: append([]covered{}, o.workflows...), Summary: o.summary()}
	for _, t := range o.tests {
		log := t.Log
		if !t.Failed && !o.verbose {
			log = ""
		}
		x.Tests = append(x.Tests, shownTest{command.Relative(o.cwd, t.file), filepath.Base(t.suite.skill), t.word(), t.Line, t.Message, log,
			t.took.Seconds()})
	}
	return x
}

func (t *trialled) word() string {
	switch {
	case t.Failed:
		return "failed"
	case t.Skipped:
		return "skipped"
	}
	return "passed"
}

func (o outcome) summary() (sum shownSummary) {
	for _, t := range o.tests {
		sum.Tests++
		switch t.word() {
		case "failed":
			sum.Failed++
		case "skipped":
			sum.Skipped++
		default:
			sum.Passed++
		}
	}
	for _, w := range o.workflows {
		if w.Tests == 0 {
			sum.Untested++
		}
		if w.Ran == 0 && o.narrowed {
			continue
		}
		for _, g := range w.Gates {
			sum.Gates++
			if g.isSeen() {
				sum.Seen++
			}
		}
	}
	return sum
}

func (o outcome) print(s terminal.Streams) {
	for _, t := range o.tests {
		message.Fprintf(s.Out, "%-7s  %s\n", t.word(), command.Relative(o.cwd, t.file))
		if t.Failed || o.verbose {
			printIndented(s, t.Log)
		}
		if t.Failed || t.Skipped && t.Message != "" {
			place := ""
			if t.Line > 0 {
				place = fmt.Sprintf(":%d", t.Line)
			}
			message.Fprintf(s.Out, "    %s%s: %s\n", command.Relative(o.cwd, t.file), place, indented(t.Message))
		}
	}
	for _, w := range o.workflows {
		if w.Ran > 0 || !o.narrowed {
			w.print(s)
		}
	}
	sum := o.summary()
	message.Fprintf(s.Out, "\n%s: %d passed, %d failed", terminal.Count(sum.Tests, "test"), sum.Passed, sum.Failed)
	if sum.Skipped > 0 {
		message.Fprintf(s.Out, ", %d skipped", sum.Skipped)
	}
	if o.workflows != nil {
		message.Fprintf(s.Out, "; %d of %s seen refusing and passing", sum.Seen, terminal.Count(sum.Gates, "gate"))
	}
	message.Fprintf(s.Out, "\n")
	if sum.Untested > 0 {
		s.Hintf("fsmtx test --write writes a first test for each workflow that has none")
	}
}

// print prints what was seen of a workflow.
func (c covered) print(s terminal.Streams) {
	message.Fprintf(s.Out, "\n%s (%s): ", c.Skill, c.Spec)
	if c.Tests == 0 {
		message.Fprintf(s.Out, "no tests\n")
		return
	}
	seen := 0
	for _, g := range c.Gates {
		if g.isSeen() {
			seen++
		}
	}
	message.Fprintf(s.Out, "%s, %d of %s seen refusing and passing\n", terminal.Count(c.Tests, "test"), seen,
		terminal.Count(len(c.Gates), "gate"))
	for _, g := range c.Gates {
		message.Fprintf(s.Out, "  %s: %s\n", g.name(), c.word(g))
	}
	c.printWays(s)
}

// printWays prints which outcomes, loops and branches were gone through.
func (c covered) printWays(s terminal.Streams) {
	var step string
	var taken, never []string
	flush := func() {
		if step == "" {
			return
		}
		text := "none taken"
		if len(taken) > 0 {
			text = strings.Join(taken, ", ")
		}
		if len(never) > 0 {
			text += "; never " + strings.Join(never, ", ")
		}
		message.Fprintf(s.Out, "  outcomes of #%s: %s\n", step, text)
		taken, never = nil, nil
	}
	for _, o := range c.Outcomes {
		if o.Step != step {
			flush()
			step = o.Step
		}
		name := o.Outcome
		if o.Back != 0 {
			name += fmt.Sprintf(" (back to #%d)", o.Back)
		}
		if o.Taken > 0 {
			taken = append(taken, name)
		} else {
			never = append(never, name)
		}
	}
	flush()
	for _, b := range c.Branches {
		text := "never needed"
		switch {
		case b.Needed && b.NotNeeded:
			text = "needed, not needed"
		case b.Needed:
			text = "needed, never left out"
		}
		message.Fprintf(s.Out, "  branch #%s: %s\n", b.Step, text)
	}
}

func printIndented(s terminal.Streams, text string) {
	if text != "" {
		message.Fprintf(s.Out, "    %s\n", indented(text))
	}
}

func indented(text string) message.Lines {
	return message.Lines(strings.ReplaceAll(text, "\n", "\n    "))
}

// printForGitHub prints a line for each test that fails, and for each gate that was not seen refusing and passing.
func (o outcome) printForGitHub(s terminal.Streams) {
	for _, t := range o.tests {
		if t.Failed {
			place := ""
			if t.Line > 0 {
				place = fmt.Sprintf(",line=%d", t.Line)
			}
			message.Fprintf(s.Out, "%s\n", message.GitHub("error", command.Relative(o.cwd, t.file), place, cmp.Or(t.Message, "it failed")))
		}
	}
	severity := "warning"
	if o.strict {
		severity = "error"
	}
	for _, w := range o.workflows {
		for _, g := range w.Gates {
			if !g.isSeen() && w.Failed == 0 && (w.Ran > 0 || !o.narrowed) {
				message.Fprintf(s.Out, "%s\n", message.GitHub(severity, w.Spec, "", g.name()+": "+w.word(g)))
			}
		}
	}
	sum := o.summary()
	message.Fprintf(s.Out, "%s: %d passed, %d failed; %d of %s seen refusing and passing\n", terminal.Count(sum.Tests, "test"),
		sum.Passed, sum.Failed, sum.Seen, terminal.Count(sum.Gates, "gate"))
}
