package gates

import (
	"context"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// EndCommand returns the command with which a person ends the workflow of a step.
func (f *Frame) EndCommand(c *state.Current) string { return endCommand(c.ID, f.ListFlag()) }

func endCommand(id int64, list string) string {
	return fmt.Sprintf(`fsmtx step end %d --because "..."%s`, id, list)
}

// WouldReplace returns which unfinished workflows a skill would replace, with how much of them is done. It is
// empty if that is not known.
func (f *Frame) WouldReplace(ctx context.Context, c state.Calling) (lost []string) {
	s, err := f.Now(ctx)
	if err != nil {
		return nil
	}
	p, err := s.Place(c)
	if err != nil || p.Parent != nil {
		return nil
	}
	for _, l := range p.Lost {
		lost = append(lost, l.Text)
	}
	all, _ := s.TaggedTasks(f.List.Dir) // the command itself looks again
	for _, t := range all {
		if text := state.Unrecorded(t.Tag); t.Tag != c.Command && t.File.Status != workflow.Completed && !slices.Contains(lost, text) {
			lost = append(lost, text)
		}
	}
	return lost
}
