package gates

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// A check may name the files on which it stands, such as tests. That they were removed or made shorter while the step was worked on
// refuses nothing: the person is told when the check passes, and it is on record.

// watchedNow returns the digests of the files on which the checks of the target stand, if the update starts it.
func (c *call) watchedNow(ctx context.Context) map[string]string {
	patterns := c.target.Watching()
	if c.update.Status != workflow.InProgress || len(patterns) == 0 {
		return nil
	}
	return facts.Digests(ctx, c.workplace(c.target.Workflow).dir, patterns)
}

// watched compares the files that match patterns with what they were.
func watched(s *state.State, c *state.Current, patterns []string, seen facts.Sight) *state.Watched {
	if seen.Limit != "" {
		return &state.Watched{Unknown: seen.Limit}
	}
	before, now := map[string]string{}, seen.Digests
	for name, sum := range stoodOn(s, c) {
		if slices.ContainsFunc(patterns, func(p string) bool { return pattern.Path(p, name) }) {
			before[name] = sum
		}
	}
	w := &state.Watched{Before: extentOf(before), After: extentOf(now)}
	for name, sum := range before {
		switch is, ok := now[name]; {
		case !ok:
			w.Removed = append(w.Removed, name)
		case facts.LinesIn(is) < facts.LinesIn(sum):
			w.Shorter = append(w.Shorter, name)
		}
	}
	slices.Sort(w.Removed)
	slices.Sort(w.Shorter)
	return w
}

// stoodOn returns the digests of files at the first start of the step in this round, because to start it again must not hide what was
// removed since; else when it was opened again or came.
func stoodOn(s *state.State, c *state.Current) (files map[string]string) {
	for _, e := range slices.Backward(s.Evidence) {
		if e.Step == c.ID && e.Verdict == state.Allow && e.To == workflow.InProgress && e.Files != nil {
			files = e.Files
		}
		if brings(s, e, c) {
			break
		}
	}
	if files == nil {
		files, _ = filesWere(s, c)
	}
	return files
}

func extentOf(files map[string]string) (x state.Extent) {
	for _, sum := range files {
		x.Files++
		x.Lines += facts.LinesIn(sum)
	}
	return x
}
