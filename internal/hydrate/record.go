package hydrate

import (
	"cmp"
	"os"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/steps"
)

// record returns what the transaction records of the plan's workflow: its steps by their
// numbers in the list, with their gates. It returns "" for a workflow without steps.
func (h *Hydration) record(plan *fsmspec.Plan) (string, error) {
	if len(plan.Creations()) == 0 {
		return "", nil
	}
	w := steps.Workflow{
		Command: strings.ToValidUTF8(h.request.Command, "\uFFFD"), // as in the tag
		Spec:    h.result.Spec,
		SHA256:  h.result.SHA256,
		Session: h.request.Session,
		Dir:     h.dir,
		Steps:   h.steps(plan),

		Outcomes: h.spec.Version() == fsmspec.WithOutcomes,
	}
	return w.Encode()
}

// steps returns the steps of the plan, one for each of its creations.
func (h *Hydration) steps(plan *fsmspec.Plan) (all []steps.Step) {
	created, entries := plan.Creations(), h.spec.Tasks()
	if len(created) == 0 {
		return nil
	}
	base := created[0].ID - entries[0].ID
	for _, task := range entries {
		all = append(all, stepOf(task, base))
	}
	return all
}

func stepOf(task fsmspec.Task, base int64) steps.Step {
	s := steps.Step{
		ID:       base + task.ID,
		Local:    task.ID,
		Subject:  task.Subject,
		Status:   task.Status.String(),
		Produces: task.Gates.Produces,
		Ready:    task.Gates.Ready,
		Approval: task.Gates.Approval,

		Description: task.Shown(base),
	}
	for _, id := range task.BlockedBy {
		s.BlockedBy = append(s.BlockedBy, base+id)
	}
	addFlow(&s, task.Flow, base)
	s.Check = checkOf(task.Gates.Check)
	return s
}

func checkOf(c *fsmspec.Check) *steps.Check {
	if c == nil {
		return nil
	}
	return &steps.Check{Run: c.Run, Timeout: c.Timeout.Seconds(), Dir: c.Dir, Env: c.Env}
}

// addFlow adds the outcomes of a step, its conditions and who decides, with numbers of the
// list.
func addFlow(s *steps.Step, f fsmspec.Flow, base int64) {
	for _, o := range f.Outcomes {
		r := steps.Outcome{Name: o.Name, Max: o.Max, Then: o.Then, Stop: o.Stop, Produces: o.Gates.Produces, Check: checkOf(o.Gates.Check), Approval: o.Gates.Approval}
		if o.Back != 0 {
			r.Back = base + o.Back
		}
		s.Outcomes = append(s.Outcomes, r)
	}
	for _, c := range f.When {
		s.When = append(s.When, steps.Condition{Step: base + c.Task, Outcomes: c.Outcomes})
	}
	if f.Decides != fsmspec.ByAgent {
		s.Decides = f.Decides.String()
	}
	s.Chooser = checkOf(f.Chooser)
}

// projectDir returns the directory that the paths of gates are relative to: the project
// directory, which does not follow the model's cd (fact 21, client 2.1.197).
func projectDir(r Request, env Env) string {
	here, _ := os.Getwd()
	return cmp.Or(env.get("CLAUDE_PROJECT_DIR"), r.Cwd, here, "/")
}
