package rules

import "github.com/fsmtx/fsmtx/internal/guard"

var preservationRows = summaryRows("the state is appended to the instructions for the summary")

const preserve = "Preserve this planning state verbatim in the summary:\n"

func contextPreservation(c *call) (guard.Verdict, error) {
	return c.summaryFacts().decide("PRESERVE", preserve), nil
}
