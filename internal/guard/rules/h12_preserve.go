package rules

import (
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// h12 gives the state of the workflow to the model that summarises the session in a
// compaction. Its table is the one of summaryFacts.decide, in h06_inject.go.
func h12() guard.Rule {
	return guard.Rule{
		ID: "H12", Name: "H12_preserve_context", Event: client.PreCompact,
		Flag: "hooks_context_preservation", Timeout: 5,
		Brief: "the summary of a compaction contains the state of the workflow",
		Rows:  summaryRows("the state is appended to the instructions for the summary"), Decide: decideBy(runH12),
	}
}

const preserve = "Preserve this planning state verbatim in the summary:\n"

func runH12(c *call) (guard.Verdict, error) {
	return c.summaryFacts().decide(1, "PRESERVE", preserve), nil
}
