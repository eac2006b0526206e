package hydrate

import (
	"cmp"
	"os"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/steps"
)

// record returns what the transaction records of the plan's workflow: its steps by their
// numbers in the list, with their gates. It returns "" for a workflow without steps.
func (h *Hydration) record(plan *fsmspec.Plan) (string, error) {
	h.planned = plan
	if len(plan.Creations()) == 0 {
		return "", nil
	}
	w := steps.Planned(plan.Levels(), 0)[0]
	w.Command = h.request.tag()
	w.Spec = h.result.Spec
	w.SHA256 = h.result.SHA256
	w.Session, w.Agent = h.request.Session, h.request.Agent
	w.Dir = h.dir
	w.Outcomes = h.spec.Version() == fsmspec.WithOutcomes
	if p := h.place.Parent; p != nil {
		w.Parent, w.Round, w.Called = p.ID, p.Round, p.Status == fsmspec.InProgress.String()
	}
	if w.Outcomes {
		w.Args, w.Values = h.request.Args, h.spec.HasValues()
		w.Vars = h.spec.Initial(w.Args)
		delete(w.Vars, fsmspec.Args)
	}
	return w.Encode()
}

// projectDir returns the directory that the paths of gates are relative to: the project
// directory, which does not follow the model's cd (fact 21, client 2.1.197).
func projectDir(r Request, env Env) string {
	here, _ := os.Getwd()
	return cmp.Or(r.Project, env.get("CLAUDE_PROJECT_DIR"), r.Cwd, here, "/")
}
