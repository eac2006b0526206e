package guard

import "github.com/fsmtx/fsmtx/internal/claude/event"

const preserve = "Preserve this planning state verbatim in the summary:\n"

func contextPreservation() Guard {
	return Guard{
		ID: "H12", Name: "H12_preserve_context", Event: event.PreCompact,
		Flag: "hooks_context_preservation", Timeout: 5,
		Brief: "the summary of a compaction carries the state of the workflow",
		Rows:  summaryRows("the state is appended to the instructions for the summary"),
		judge: func(c *call) (Verdict, error) {
			return c.tell("PRESERVE", preserve, c.readState()), nil
		},
	}
}
