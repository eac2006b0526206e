package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/state"
)

// pass is something that has to have stood on the content of the commit.
type pass struct {
	what    string
	content *Content
}

// passes returns what has to have stood on the content of the commit: the last pass of the check of each step that is named; without
// names that of the check that passed last; without a check the end of the run. missing says what is named and has not passed.
func (r Run) passes(names []string) (all []pass, missing []string) {
	for _, name := range names {
		steps := r.named(name)
		if len(steps) == 0 {
			missing = append(missing, fmt.Sprintf("the policy wants the check of step %q, and the run has no such step", name))
		}
		checked := false
		for _, s := range steps {
			if d := s.passed(); d != nil {
				all, checked = append(all, pass{fmt.Sprintf("the check of step %q passed", s.Subject), d.Content}), true
			}
		}
		if len(steps) > 0 && !checked {
			missing = append(missing, fmt.Sprintf("the policy wants the check of step %q, and none has passed", name))
		}
	}
	if len(names) > 0 {
		return all, missing
	}
	var last *Decision
	what := ""
	for _, s := range r.Steps {
		if d := s.passed(); d != nil && (last == nil || last.Time.Before(d.Time)) {
			last, what = d, fmt.Sprintf("the check of step %q passed", s.Subject)
		}
	}
	for _, s := range r.Steps {
		if d := s.completed(); what == "" && d != nil && (last == nil || last.Time.Before(d.Time)) {
			last = d
		}
	}
	if last == nil && r.Ended.IsZero() {
		return nil, nil // that it has not ended is said
	}
	if last == nil {
		return []pass{{what: atEnd}}, nil
	}
	if what == "" {
		what = atEnd
	}
	return []pass{{what, last.Content}}, nil
}

// atEnd is the pass of a run without a check that passed.
const atEnd = "the run ended"

// named returns the steps with a subject, and those under them.
func (r Run) named(subject string) (all []Step) {
	ids := map[int64]bool{}
	for { // until nothing is added: a step may come before the one that it is under
		before := len(ids)
		for _, s := range r.Steps {
			ids[s.ID] = ids[s.ID] || s.Subject == subject || ids[s.Under]
			if !ids[s.ID] {
				delete(ids, s.ID)
			}
		}
		if len(ids) == before {
			break
		}
	}
	for _, s := range r.Steps {
		if ids[s.ID] {
			all = append(all, s)
		}
	}
	return all
}

// passed returns the last decision by which a check of the step passed, nil if none did.
func (s Step) passed() *Decision {
	for i := range slices.Backward(s.Decisions) {
		if d := &s.Decisions[i]; d.Check != nil && d.Check.Exit == 0 && slices.Contains(passing, d.Decision) {
			return d
		}
	}
	return nil
}

// passing are the decisions by which a check has passed: a person may have been asked then.
var passing = []string{string(state.Allow), string(state.Ask), string(state.SeenDone)}

// completed returns the last decision that completed the step, or with it the workflow, nil if none did.
func (s Step) completed() *Decision {
	for i := range slices.Backward(s.Decisions) {
		d := &s.Decisions[i]
		lets := state.Evidence{Verdict: state.Decision(d.Decision)}.Lets()
		if lets && (d.To == "completed" || d.Decision == string(state.End)) && d.Time.Equal(s.Ended) {
			return d
		}
	}
	return nil
}

// content compares the trees on which checks passed with that of the commit.
func (j judge) content(ctx context.Context, s Statement) (problems, notes []string, err error) {
	standing := j.policy.standingOf(s.Predicate.Skill)
	if standing.Content == anyContent {
		return nil, []string{`on which content its checks passed was not compared, as the policy says ("content": "any")`}, nil
	}
	if plan := s.Predicate.FSM; plan.Plan { // its boxes are ticked as its steps are done; its text is compared as that of the workflow
		standing.After = append(slices.Clone(standing.After), pattern.Literal(plan.Path))
	}
	all, problems := s.Predicate.passes(standing.Checks)
	if len(all) == 1 && all[0].what == atEnd {
		notes = append(notes, "no check of it has passed, so the content at its end was compared")
	}
	since, tree, err := j.since(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		switch c := p.content; {
		case c == nil:
			problems = append(problems, p.what+", and it is not on record on which content: "+
				"the repository had no policy in .fsmtx/policy.json then")
		case c.Unknown != "":
			problems = append(problems, fmt.Sprintf("%s, and it is not known on which content: %s", p.what, c.Unknown))
		case tree != "" && (len(c.Differs) == 0) != !slices.ContainsFunc(c.Trees, func(id string) bool { return id != tree }):
			problems = append(problems, p.what+", and what is on record of the content contradicts itself")
		default:
			if left := j.policy.counts(append(slices.Clone(c.Differs), since...), standing.After...); len(left)+c.More > 0 {
				slices.Sort(left)
				problems = append(problems, fmt.Sprintf("%s on other content than the commit has: %s", p.what, listed(slices.Compact(left), c.More)))
			}
		}
	}
	return problems, notes, nil
}

// since returns the paths that have changed from what a statement is about to the commit, and the tree that it is about; empty if that
// is not in this clone, which is said elsewhere.
func (j judge) since(ctx context.Context, s Statement) (paths []string, tree string, err error) {
	what := s.Subject[0]
	id := what.Digest.Commit + what.Digest.Tree
	if t := s.Predicate.Tree; t != nil && !j.in.has(ctx, id) && j.in.has(ctx, t.Base) {
		if paths, err = j.fromTree(ctx, s); errors.Is(err, errTree) {
			return nil, id, nil
		}
		return paths, id, err
	}
	if !j.in.has(ctx, id) {
		return nil, what.Digest.Tree, nil
	}
	if tree = what.Digest.Tree; tree == "" {
		if tree, err = j.in.treeOf(ctx, id); err != nil {
			return nil, "", err
		}
	}
	paths, err = j.in.changed(ctx, tree, j.commit)
	return paths, tree, err
}

// listed returns names as a list for people, of which some are not known.
func listed(names []string, more int) string {
	if more > 0 {
		return fmt.Sprintf("%s and %d more", words(names), more)
	}
	return words(names)
}
