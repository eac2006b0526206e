package gates

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// FilesOf returns the digests of the files below dir that the tasks, or their parts, produce, and on which their checks stand, by
// their slash-separated names. A value in a pattern may be any.
func FilesOf(ctx context.Context, dir string, all []fsmspec.Task) map[string]string {
	return facts.Digests(ctx, dir, withAny(patternsOf(all)))
}

func patternsOf(all []fsmspec.Task) (patterns []string) {
	for _, t := range all {
		patterns = append(append(patterns, t.Produced()...), patternsOf(t.Parts)...)
	}
	return patterns
}

// withAny returns patterns in which the name of a value stands for any value.
func withAny(patterns []string) (all []string) {
	for _, p := range patterns {
		any := map[string]string{}
		for _, name := range fsmspec.Named(p) {
			any[name] = "*"
		}
		if p = fsmspec.Fill(p, any); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// filesBefore is what is known of files that are to be produced anew.
const filesBefore fsmspec.GateKind = "files before"

// filesOpened returns the patterns of what steps produce that are opened again, with what is under them.
func filesOpened(s *state.State, ids []int64) (patterns []string) {
	for _, c := range s.Steps {
		above := s.Above(c.Workflow)
		if slices.Contains(ids, c.ID) || slices.ContainsFunc(above, func(p *state.Current) bool { return slices.Contains(ids, p.ID) }) {
			step := c.Step
			if c.Template != nil {
				step = *c.Template
			}
			patterns = append(patterns, step.Produced()...)
		}
	}
	return withAny(patterns)
}

// filesBefore returns the digests of what is there of the files that steps produce which a person is about to open again. Nothing is
// locked meanwhile.
func (f *Frame) filesBefore(ctx context.Context, id int64,
	opens func(*state.State, *state.Current) (machine.Transition, error)) map[string]string {
	s, err := f.Now(ctx)
	if err != nil || s.Step(id) == nil {
		return nil
	}
	tr, err := opens(s, s.Step(id))
	if err != nil {
		return nil
	}
	return facts.Digests(ctx, s.Step(id).Workflow.Dir, filesOpened(s, tr.Reopens))
}

// filesForLines returns the digests of the files below dir that the copies of a step produce.
func filesForLines(e *fsmspec.Each, ctx context.Context, dir string) map[string]string {
	var patterns []string
	for _, step := range e.ForEachLine() {
		for _, p := range step.Produced() {
			patterns = append(patterns, strings.ReplaceAll(p, fsmspec.AnyLine, "*"))
		}
	}
	return facts.Digests(ctx, dir, withAny(patterns))
}

// digestLists returns the digests of the lists for whose lines steps of the target's workflow are done: its gates have seen them.
func (c *call) digestLists() map[string]string {
	lists := map[string]string{}
	for _, r := range c.steps {
		if r.Each == nil || r.Each.Lines == "" || r.Workflow != c.target.Workflow {
			continue
		}
		f := c.workplace(r.Workflow)
		if sum, err := facts.DigestOf(filepath.Join(f.dir, filepath.FromSlash(r.Each.Lines))); err == nil {
			lists[r.Each.Lines] = sum
		}
	}
	return lists
}

// changedSince returns the number of the step whose gates have seen the list of a step as another one than it is, by its digest, or 0.
func changedSince(s *state.State, c *state.Current, sum string) int64 {
	for _, e := range slices.Backward(s.Evidence) {
		if was := e.Files[c.Each.Lines]; was != "" && e.Lets() && e.To == workflow.Completed && len(e.Reopens) == 0 {
			return map[bool]int64{true: e.Step}[was != sum]
		}
	}
	return 0
}

// filesWere returns the digests of files as they were before the step was worked on in this round, and those of which it was said
// since that they are unchanged.
func filesWere(s *state.State, c *state.Current) (files map[string]string, said []string) {
	for _, e := range slices.Backward(s.Evidence) {
		switch {
		case brings(s, e, c):
			return e.Files, said
		case e.Step == c.ID && e.Verdict == state.Deny:
			said = append(said, e.Unchanged...)
		}
	}
	return s.OfSkill(c.Workflow).Files, said
}

// brings reports whether a line of evidence has opened the step again, or brought it into the list.
func brings(s *state.State, e state.Evidence, c *state.Current) bool {
	return slices.ContainsFunc(append([]*state.Current{c}, s.Above(c.Workflow)...), func(b *state.Current) bool {
		return slices.Contains(e.Reopens, b.ID) || e.Verdict == state.Expand && e.Expands == b.Workflow.Expands
	})
}

// isRefused reports whether files are as they were, and that was not said yet.
func (f fact) isRefused() bool {
	return slices.ContainsFunc(f.Unchanged, func(name string) bool { return !slices.Contains(f.said, name) })
}

// unchanged refuses once to complete a step whose files are as they were.
func unchanged(c *state.Current, f fact) Verdict {
	v := Verdict{unchanged: f.Unchanged}
	if f.isRefused() {
		list, verb, why := state.Quoted(f.Unchanged), "is as it was", "a file is unchanged: "
		if len(f.Unchanged) > 1 {
			verb, why = "are as they were", "files are unchanged: "
		}
		v = deny(c, why+list, c.Name()+" cannot be completed: "+list+" "+verb+" before the step was worked on. Write what has to be "+
			"written; if nothing has to be, complete the step again: it is recorded and shown as unchanged")
		v.unchanged = f.Unchanged
	}
	return v
}

// asideOf says of a completion, in parentheses, what was not enforced, and which files are as they were or weaker.
func asideOf(e state.Evidence) (text string) {
	text = state.WordsOf(e.Gaps)
	if beside := e.ForPerson(); beside != "" {
		text += " (" + beside + ": " + e.Why + ")"
	}
	if stood := filesAside(e); stood != "" {
		text += " (" + stood + ")"
	}
	return text
}

// filesAside says of a completion which files are as they were or weaker; empty if none are.
func filesAside(e state.Evidence) string {
	switch weak := e.Watched.Weakened(); {
	case !e.Lets():
		return ""
	case weak != "":
		return "of " + weak
	case len(e.Unchanged) > 1:
		return state.Quoted(e.Unchanged) + " were not changed for it"
	case len(e.Unchanged) > 0:
		return state.Quoted(e.Unchanged) + " was not changed for it"
	}
	return ""
}

// besides says for the person which steps were completed with files that are as they were or weaker. News says it with the completion.
func besides(s *state.State, lines []state.Evidence) (text message.ForPerson) {
	for _, e := range lines {
		if c, stood := s.Step(e.Step), filesAside(e); c != nil && stood != "" {
			text = message.Join(text, message.ForPerson(c.Name()+" is completed, and "+stood))
		}
	}
	return text
}

// tellLines tells the person which steps are done for no line, or for others than a gate has seen.
func tellLines(s *state.State, lines []state.Evidence) (text string) {
	for _, e := range lines {
		c := s.Step(e.Step)
		switch {
		case c == nil || e.Verdict != state.Expand || e.Changed == 0 && len(e.Items) > 0:
		case e.Changed != 0:
			text = message.Join(text, fmt.Sprintf("%s has changed since #%d was completed: %s is done for %s of it", c.Each.Source(),
				e.Changed,
				c.Name(),
				state.CountItems(len(e.Items))))
		default:
			text = message.Join(text, c.Name()+" has nothing to be done for: "+c.Each.Source()+" has no lines")
		}
	}
	return text
}
