package trial

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// seen is what a test has shown of a workflow.
type seen struct {
	Spec  string             `json:"spec"`  // path of the fsm.json, relative to the project
	Steps map[string]sighted `json:"steps"` // by their place in the fsm.json; see state.State.PlaceInFile
}

// sighted is what was seen of a step.
type sighted struct {
	Refused   map[string]int `json:"refused"` // by the gate; see gateKey
	Broken    map[string]int `json:"broken"`  // how often its command could not run
	Ended     map[string]int `json:"ended"`   // how often it ended, by the outcome, with its gates
	Calls     int            `json:"calls"`   // of tools that its rules let through
	Started   bool           `json:"started"` // its gates of the start let it
	Needed    bool           `json:"needed"`
	NotNeeded bool           `json:"notNeeded"`
}

// The kinds of gates that are no fsmspec.GateKind.
const onlyRules = "only"

// gateKey names a gate of a step: by its kind, and the outcome that it belongs to.
func gateKey(kind, outcome string) string {
	if outcome == "" {
		return kind
	}
	return kind + "/" + outcome
}

// seenIn returns what the runs in a list show, those of workflows in the project.
func seenIn(ctx context.Context, list, project string) ([]seen, error) {
	runs, err := state.Runs(ctx, list)
	if err != nil {
		return nil, err
	}
	all := map[string]*seen{}
	for _, s := range runs {
		for _, c := range s.Steps {
			w := c.Workflow
			rel, err := filepath.Rel(safefile.Resolve(project), safefile.Resolve(w.Spec))
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			one := all[rel]
			if one == nil {
				one = &seen{filepath.ToSlash(rel), map[string]sighted{}}
				all[rel] = one
			}
			place := s.PlaceInFile(c)
			one.Steps[place] = one.Steps[place].plus(sightOf(s, c))
		}
	}
	var found []seen
	for _, one := range all {
		found = append(found, *one)
	}
	return found, nil
}

func sightOf(s *state.State, c *state.Current) sighted {
	x := sighted{Refused: map[string]int{}, Broken: map[string]int{}, Ended: map[string]int{}, NotNeeded: c.NotNeeded,
		Needed: !c.NotNeeded && s.Word(c) != state.Blocked}
	for _, e := range append(slices.Clone(s.Evidence), s.Calls...) {
		if e.Step != c.ID {
			continue
		}
		switch {
		case e.Rule != "":
			switch {
			case e.Refuses():
				x.Refused[onlyRules]++
			case e.Verdict == state.Allow && e.Permit == "":
				x.Calls++
			}
		case e.Refuses() || e.Verdict == state.Ask && e.By.Who != state.ThePerson: // who was not asked
			x.refuse(c, e)
		case e.GonePast() != "" || !e.Lets() || len(e.Gaps) > 0 || e.IsQuiet():
		case e.To == workflow.InProgress:
			x.Started, x.Needed = true, true
		case e.To == workflow.Completed || e.Outcome != "":
			x.Started, x.Needed = true, true
			x.Ended[e.Outcome]++
			if e.Check != nil && !e.Check.Passed() && c.HasCheck(e.Check.Run) {
				x.count(e)[string(fsmspec.CheckPasses)]++
			}
		}
	}
	return x
}

// count returns what a refusal adds to.
func (x sighted) count(e state.Evidence) map[string]int {
	if e.Check != nil && !e.Check.Ran() {
		return x.Broken
	}
	return x.Refused
}

// refuse counts a refusal, or a question to the person that holds the step up.
func (x sighted) refuse(c *state.Current, e state.Evidence) {
	kind := string(e.Gate)
	if e.Verdict == state.Declined || e.Verdict == state.Ask {
		kind = string(fsmspec.PersonApproves)
	}
	count := x.count(e)
	for _, g := range c.Gates() {
		if string(g.Kind) == kind {
			count[kind]++
		}
	}
	if kind == string(fsmspec.InOrder) {
		count[kind]++
	}
	for _, o := range c.Outcomes {
		for _, g := range o.Gates() {
			belongs := e.Outcome == "" || e.Outcome == o.Name
			if e.Check != nil && g.Check != nil {
				belongs = e.Check.Run == g.Check.Run
			}
			if string(g.Kind) == kind && belongs {
				count[gateKey(kind, o.Name)]++
			}
		}
	}
}

// plus returns both together.
func (x sighted) plus(y sighted) sighted {
	sum := func(a, b map[string]int) map[string]int {
		all := map[string]int{}
		for _, m := range []map[string]int{a, b} {
			for name, n := range m {
				all[name] += n
			}
		}
		return all
	}
	return sighted{sum(x.Refused, y.Refused), sum(x.Broken, y.Broken), sum(x.Ended, y.Ended), x.Calls + y.Calls,
		x.Started || y.Started, x.Needed || y.Needed, x.NotNeeded || y.NotNeeded}
}
