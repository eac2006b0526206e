package rules

import (
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
)

func h12() guard.Rule {
	return guard.Rule{
		ID: "H12", Name: "H12_preserve_context", Event: event.PreCompact,
		Flag: "hooks_context_preservation", Timeout: 5,
		Brief: "the summary of a compaction carries the state of the workflow",
		Rows:  preservationRows, Decide: decide(contextPreservation),
		Settings: []string{"feature_flags.hooks_context_preservation", "workflow"},
	}
}

var preservationRows = summaryRows("the state is appended to the instructions for the summary")

const preserve = "Preserve this planning state verbatim in the summary:\n"

func contextPreservation(c *call) (guard.Verdict, error) {
	return c.summaryFacts().decide(1, "PRESERVE", preserve), nil
}
