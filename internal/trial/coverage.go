package trial

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of what the command prints with --json.
func Schema() []byte { return schema }

// covered is a workflow, with what its tests have shown.
type covered struct {
	Skill    string           `json:"skill"`
	Spec     string           `json:"spec"`
	Tests    int              `json:"tests"`
	Ran      int              `json:"ran"`    // of them
	Failed   int              `json:"failed"` // of these, which show nothing
	Gates    []coveredGate    `json:"gates"`
	Outcomes []coveredOutcome `json:"outcomes"`
	Branches []coveredBranch  `json:"branches"`
}

// coveredGate is a gate that the fsm.json declares.
type coveredGate struct {
	Step    string `json:"step"` // its id in the fsm.json; 2.1 is part 1 of step 2
	Subject string `json:"subject"`
	Kind    string `json:"kind"`
	Outcome string `json:"outcome"` // that it belongs to; empty if it is the step's
	Text    string `json:"text"`
	Refused int    `json:"refused"`
	Passed  int    `json:"passed"`
	Broken  int    `json:"couldNotRun"`
}

// coveredOutcome is an outcome that the fsm.json declares.
type coveredOutcome struct {
	Step    string `json:"step"`
	Subject string `json:"subject"`
	Outcome string `json:"outcome"`
	Back    int64  `json:"back"` // where it leads back; 0 if it goes forward
	Taken   int    `json:"taken"`
}

// coveredBranch is a step that is needed only under a condition.
type coveredBranch struct {
	Step      string `json:"step"`
	Subject   string `json:"subject"`
	Needed    bool   `json:"needed"`
	NotNeeded bool   `json:"notNeeded"`
}

// cover returns what of a workflow was seen.
func cover(spec *fsmspec.Spec, steps map[string]sighted) (c covered) {
	c.Gates, c.Outcomes, c.Branches = []coveredGate{}, []coveredOutcome{}, []coveredBranch{}
	c.level("", spec.Tasks(), steps)
	return c
}

func (c *covered) level(above string, tasks []fsmspec.Task, steps map[string]sighted) {
	for _, t := range tasks {
		place := above + strconv.FormatInt(t.ID, 10)
		if t.Each != nil && len(t.Parts) == 0 { // its gates are those of the copies
			if inner, err := fsmspec.ForItem(t.Each.Workflow, fsmspec.AnyLine); err == nil && len(inner.Tasks()) == 1 {
				subject, when := t.Subject, t.When
				t = inner.Tasks()[0]
				t.Subject, t.When = subject, when
			}
		}
		c.step(place, t, steps[place])
		c.level(place+".", t.Parts, steps)
	}
}

func (c *covered) step(place string, t fsmspec.Task, x sighted) {
	ended := 0
	for name, n := range x.Ended {
		if name != machine.Failed && name != machine.Late && !leadsBack(t, name) {
			ended += n
		}
	}
	add := func(g fsmspec.Gate, outcome string, passed int) {
		kind := string(g.Kind)
		c.Gates = append(c.Gates, coveredGate{place, t.Subject, kind, outcome, g.String(), x.Refused[gateKey(kind, outcome)], passed,
			x.Broken[gateKey(kind, outcome)]})
	}
	for _, g := range t.Gates() {
		switch {
		case g.When == fsmspec.AtStart && x.Started:
			add(g, "", max(ended, 1))
		default:
			add(g, "", ended)
		}
	}
	if len(t.Only) > 0 {
		c.Gates = append(c.Gates, coveredGate{place, t.Subject, onlyRules, "", strings.Join(t.Only, ", "), x.Refused[onlyRules], x.Calls, 0})
	}
	for _, o := range t.Outcomes {
		for _, g := range o.Gates() {
			add(g, o.Name, x.Ended[o.Name])
		}
		c.Outcomes = append(c.Outcomes, coveredOutcome{place, t.Subject, o.Name, o.Back, x.Ended[o.Name]})
	}
	if len(t.When) > 0 {
		c.Branches = append(c.Branches, coveredBranch{place, t.Subject, x.Needed, x.NotNeeded})
	}
}

func leadsBack(t fsmspec.Task, name string) bool {
	i := slices.IndexFunc(t.Outcomes, func(o fsmspec.Outcome) bool { return o.Name == name })
	return i >= 0 && t.Outcomes[i].Back != 0
}

// name is what the gate is called in a line.
func (g coveredGate) name() string {
	text := g.Kind + " of #" + g.Step
	if g.Outcome != "" {
		text = strings.TrimPrefix(g.Kind, "outcome ") + " of " + g.Outcome + " of #" + g.Step
	}
	return text
}

// word is what was seen of a gate.
func (c covered) word(g coveredGate) string {
	switch {
	case c.Failed > 0 && !g.isSeen():
		return "not counted: " + terminal.Count(c.Failed, "test") + " failed"
	case g.Broken > 0 && !g.isSeen():
		return "could not run, or did not end"
	case g.Refused > 0 && g.Passed > 0:
		return "refused, passed"
	case g.Refused > 0:
		return "refused, never passed"
	case g.Passed > 0:
		return "passed, never refused"
	}
	return "never seen"
}

// isSeen reports whether the gate was seen refusing and passing.
func (g coveredGate) isSeen() bool { return g.Refused > 0 && g.Passed > 0 }

// compare sorts workflows by their names.
func compare(a, b covered) int {
	return cmp.Or(strings.Compare(a.Skill, b.Skill), strings.Compare(a.Spec, b.Spec))
}
