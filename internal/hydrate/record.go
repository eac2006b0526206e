package hydrate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// record returns what the transaction records of the plan's workflow: its steps by their
// numbers in the list, with their gates. The text is "" for a workflow without steps if there is nothing to tell about what it replaces.
func (h *Hydration) record(plan *fsmspec.Plan) (tasks.Record, error) {
	h.planned = plan
	w := workflow.Planned(h.spec, plan)
	w.Definition = h.result.Definition
	again, lost := h.compare(plan, &w)
	w.Lost = h.result.Lost
	if h.reloads == nil && (h.request.Begun || !h.options.isOfClient()) { // of a reload, a person has read it
		begun := h.begunByAgent(plan, again)
		if len(begun) > 0 && lost != "" && !slices.Contains(w.Lost, lost) {
			w.Lost = append(w.Lost[:len(w.Lost):len(w.Lost)], lost)
		}
		w.Changed = strings.Join(append(begun, changed(h.request, h.result)...), "; ")
	}
	if len(w.Steps) == 0 && w.Changed == "" && len(w.Lost) == 0 {
		return tasks.Record{}, nil
	}
	w.Command = h.request.tag()
	w.Spec, w.Plan, w.PlanForm = h.result.Spec, h.request.Plan, h.request.PlanForm
	w.SHA256, w.Unticked = h.result.SHA256, h.request.Unticked
	w.Session, w.Agent, w.Client = h.request.Session, h.request.Agent, cmp.Or(h.request.Client, h.env.get("AI_AGENT"), h.options.Program)
	w.BegunBy = cmp.Or(h.request.BegunBy, decisions.ByCall(h.request.Typed))
	w.Dir, w.Inode, w.Repo = h.dir, state.Inode(h.dir), state.RepositoryOf(h.dir)
	w.Chosen, w.Files, w.Content = h.request.Chosen, h.files, h.content
	if h.options.Answerers != nil {
		w.Answerers = h.options.Answerers()
	}
	if p := h.place.Parent; p != nil {
		w.Parent, w.Round, w.Called = p.ID, p.Round, p.Status == fsmspec.InProgress.String()
	}
	w.Args = h.request.Args
	w.Vars = h.spec.Initial(w.Args)
	delete(w.Vars, fsmspec.Args)
	h.reloads.keep(&w)
	text, err := w.Encode()
	return tasks.Record{Text: text, Under: w.Parent, Tells: w.Changed != "" || len(w.Lost) > 0}, err
}

// begunByAgent says that an agent has begun the workflow by a command or a tool, whose answer reaches it alone.
func (h *Hydration) begunByAgent(plan *fsmspec.Plan, again bool) []string {
	n, more := len(plan.Creations()), ""
	if !h.request.Begun || h.request.By != "" || n == 0 {
		return nil
	}
	if again {
		more = " again"
	}
	text := message.Sprintf("the agent has begun %s%s (%s), from %s", h.request.tag(), more, terminal.Count(n, "step"), h.result.Spec)
	if h.request.Unseen {
		text += state.WordsOf([]state.Gap{state.Unseen})
	}
	return []string{text}
}

// givingWay returns the state of the list, and its workflows that are not finished and that the plan replaces.
func (h *Hydration) givingWay(plan *fsmspec.Plan) (s *state.State, all []*workflow.Workflow) {
	if s = h.state; s == nil { // the list has no tasks; a script may have removed them
		var err error
		if s, err = (&state.Store{List: h.list}).Now(context.Background()); err != nil {
			return nil, nil
		}
	}
	h.result.Unrecorded = 0
	deleted := map[int64]bool{}
	for _, d := range plan.Deletions() {
		deleted[d.Number] = true
		if c := s.Step(d.Number); d.Status != fsmspec.Completed.String() && (c == nil || c.Unread) {
			h.result.Unrecorded++
		}
	}
	for _, c := range s.Steps {
		w := s.OfSkill(c.Workflow)
		gone := s.IsMissing(c) && w.Command == h.request.tag()
		if (gone || deleted[c.ID] && !c.Done() && !c.Unread) && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return s, all
}

// compare finds out in what w differs from the earlier workflow of the same skill whose steps were open. If the
// client ran another folder than was predicted, the two files are not compared. again says that there is one, and lost how much of it is
// done, empty if nothing is.
func (h *Hydration) compare(plan *fsmspec.Plan, w *workflow.Workflow) (again bool, lost string) {
	s, replaced := h.givingWay(plan)
	h.result.Changed = ""
	for _, old := range replaced {
		if old.Command != h.request.tag() || !state.SameFile(old.Spec, h.result.Spec) {
			continue
		}
		if n := s.CountIn(old); n.Open < n.All() {
			lost = fmt.Sprintf("%s (%s)", old.Command, n.Short())
		}
		if again = true; old.SHA256 != h.result.SHA256 && h.result.Mistake == nil {
			h.result.Changed = s.Changes(old, w)
		}
	}
	return again, lost
}

// StartOf returns the directory in which a session of a client finds the skill, as its project's: its folder is in .claude/skills there.
// It is empty if there is none; a home is no project.
func StartOf(skill string) string {
	above := filepath.Dir(skill)
	if filepath.Base(above) != "skills" || !strings.HasPrefix(filepath.Base(filepath.Dir(above)), ".") {
		return ""
	}
	dir := filepath.Dir(filepath.Dir(above))
	if home, _ := os.UserHomeDir(); dir == home {
		return ""
	}
	return dir
}

// startIn returns the directory of a skill's project below the root of the repository, in which its sessions begin: spec is its fsm.json.
func startIn(root, spec string) string {
	if start := StartOf(filepath.Dir(spec)); start != "" && gates.IsIn(root, start) {
		return safefile.Resolve(start)
	}
	return root
}

// projectDir returns the directory that the paths of gates are relative to: the project
// directory, which does not follow the model's cd (fact 21, client 2.1.197).
func projectDir(r Request, env Env) string {
	here, _ := os.Getwd()
	return cmp.Or(r.Project, env.get("CLAUDE_PROJECT_DIR"), r.Cwd, here, "/")
}
