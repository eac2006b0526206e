package gates

import (
	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/state"
)

// fact is what was found out about a gate of a step outside of every lock.
type fact struct {
	dir    string        // where it was looked for, or where the check ran
	away   string        // what has become of that directory, so that nothing was looked for and nothing ran; usually empty
	result *state.Result // of the check

	facts.Sight
	said []string // files of which it was said before that they are unchanged

	text []byte // of the file with the lines for which a step is done
	sum  string // its digest
	err  error  // why it cannot be read
}

// factKey names the fact about a gate.
type factKey struct {
	step int64
	kind fsmspec.GateKind
}

// evaluate decides whether the gate lets its step pass. f is the fact that it depends on.
func evaluate(g fsmspec.Gate, c *state.Current, f fact) (v Verdict) {
	switch g.Kind {
	case fsmspec.SkillCalled:
		v = called(c)
	case fsmspec.ReadyFiles, fsmspec.ProducedFiles, fsmspec.OutcomeFiles:
		v = files(c, g.When, f)
	default:
		v = command(c, g.Command(), *f.result)
	}
	v.gate = g.Kind
	return v
}
