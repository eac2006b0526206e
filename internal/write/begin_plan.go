package write

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
)

// ReadPlan reads a Markdown file whose boxes are steps. form is as new has it.
func ReadPlan(path, form string) (*hydrate.Plan, error) {
	text, err := safefile.ReadFile(path, state.MaxPlan, 0)
	if err != nil {
		return nil, command.Unusable(path, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	o := outline.Markdown(text, cmp.Or(form, outline.Tasks))
	p := planOf{lines: strings.Split(string(text), "\n")}
	p.add(o.Steps, "")
	if len(p.steps) == 0 {
		hint := "fsmtx new DIR --from " + shell.Join(path) + " takes steps of other forms"
		if len(o.Tied) > 0 && strings.HasPrefix(o.Tied[0].Form, outline.Tasks) {
			hint = "--form " + o.Tied[0].Form + " takes " + o.Tied[0].What
		}
		return nil, command.Fail(command.ExitNo, fmt.Errorf("%s has no list of boxes that is the steps%s", path,
			strings.TrimSuffix(": "+o.Unsure, ": ")), hint)
	}
	data, err := Format(outline.JSON(p.steps, nil))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &hydrate.Plan{File: hydrate.File{Path: path, Data: data}, Lines: p.taken}, nil
}

// planOf collects the steps of a plan.
type planOf struct {
	lines, taken []string
	steps        []outline.Step
}

// add adds steps, each after its parts. What has no box, such as a heading, only groups them.
func (p *planOf) add(all []outline.Step, of string) {
	for _, s := range all {
		p.add(s.Do, s.Subject)
		line, _, ok := state.PlanLine(p.lines[s.Line-1])
		if !ok {
			continue
		}
		if of != "" {
			s.Description = strings.TrimSpace("Of: " + of + "\n" + s.Description)
		}
		s.ID, s.Do, s.BlockedBy = int64(len(p.steps)+1), nil, nil
		if s.ID > 1 {
			s.BlockedBy = []int64{s.ID - 1}
		}
		p.steps, p.taken = append(p.steps, s), append(p.taken, line)
	}
}
