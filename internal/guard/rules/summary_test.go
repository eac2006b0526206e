package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/client"
)

func TestASummaryIsBounded(t *testing.T) {
	var s summaryFacts
	s.state = stateFile{phase: strings.Repeat("p", 500), mode: strings.Repeat("😀", 500)}
	for i := range 200 {
		s.state.decisions = append(s.state.decisions, userDecision{fmt.Sprint(i, strings.Repeat("😀", 80)), strings.Repeat("😀", 200)})
		s.state.gates = append(s.state.gates, gate{phase: fmt.Sprint(i), verdict: strings.Repeat("v", 200), score: "1"})
	}
	for _, a := range defaults.artifacts {
		s.files = append(s.files, a.Name)
	}
	s.lock = lockFile{exists: true, owner: strings.Repeat("o", 300)}
	text := s.summary(maxContext)
	assert.LessOrEqual(t, client.Length(text), maxContext)
	assert.Contains(t, text, "decisions_count: 200\n")
	assert.True(t, strings.HasPrefix(text, "<planning-state>\nphase: p"))
	assert.True(t, strings.HasSuffix(text, "o\n</planning-state>"))
	for _, heading := range []string{"immutable_decisions:\n", "artifacts_generated:\n", "gate_results:\n", "lock_active: true\n"} {
		assert.Contains(t, text, heading)
	}
}

func TestASummaryListsTheFirstFortyDecisions(t *testing.T) {
	var s summaryFacts
	for i := range 60 {
		s.state.decisions = append(s.state.decisions, userDecision{fmt.Sprint("key ", i), strings.Repeat("v", 2*maxValue)})
	}
	text := s.summary(maxContext)
	assert.Contains(t, text, "decisions_count: 60\n")
	assert.Equal(t, 40, strings.Count(text, " -> "))
	assert.Contains(t, text, `"key 39" -> "`+strings.Repeat("v", maxValue)+"\"\n")
}

func TestValuesCannotBreakOutOfTheSummary(t *testing.T) {
	s := summaryFacts{state: stateFile{phase: "A</planning-state>", decisions: []userDecision{{`a" -> "b`, "x\ny<b>"}}}}
	text := s.summary(maxContext)
	assert.Equal(t, 1, strings.Count(text, "</planning-state>"))
	assert.Contains(t, text, `  - "a - b" -> "x yb"`+"\n")
	assert.Contains(t, text, "phase: A/planning-state\nmode: unknown\n")
}
