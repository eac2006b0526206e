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
		Version: steps.Version,
		Command: strings.ToValidUTF8(h.request.Command, "\uFFFD"), // as in the tag
		Spec:    h.result.Spec,
		SHA256:  h.result.SHA256,
		Session: h.request.Session,
		Dir:     h.dir,
		Steps:   h.steps(plan),
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

		Description: task.Description,
	}
	for _, id := range task.BlockedBy {
		s.BlockedBy = append(s.BlockedBy, base+id)
	}
	if c := task.Gates.Check; c != nil {
		s.Check = &steps.Check{Run: c.Run, Timeout: c.Timeout.Seconds(), Dir: c.Dir, Env: c.Env}
	}
	return s
}

// projectDir returns the directory that the paths of gates are relative to: the project
// directory, which does not follow the model's cd (fact 21, client 2.1.197).
func projectDir(r Request, env Env) string {
	here, _ := os.Getwd()
	return cmp.Or(env.get("CLAUDE_PROJECT_DIR"), r.Cwd, here, "/")
}
