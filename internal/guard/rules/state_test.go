package rules

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

func parseState(t *testing.T, text string) stateFile {
	return stateOf(must(frontmatter.Parse([]byte(text))))
}

func TestStateOf(t *testing.T) {
	s := parseState(t, "phase: \" PLAN\\t1 \"\nmode: 7\nuser_decisions:\n  B: [x, y]\n  A: \"a\\nb\"\n  Open:\n  3: {k: v}\n  E: \"\"\n")
	assert.Equal(t, "PLAN 1", s.phase)
	assert.Equal(t, "7", s.mode)
	assert.Equal(t, []userDecision{{"B", "[x, y]"}, {"A", "a b"}, {"3", "{k: v}"}, {"E", ""}}, s.decisions,
		"in the order of the file, without open questions")
	for _, text := range []string{"phase: [A]\n", "phase: {a: b}\n", "phase: ~\n", "phase:\n", "phase: \"\"\n", "x: y\n"} {
		assert.Empty(t, parseState(t, text).phase, text)
	}
	for text, want := range map[string][]userDecision{
		"[a]":                          {{"a", ""}},
		"['Cache: Redis']":             {{"Cache", "Redis"}},
		"[{question: A, answer: b}]":   {{"A", "b"}},
		"[{key: A, value: b}, [x], 7]": {{"A", "b"}, {"7", ""}},
		"[{Cache: Redis, DB: }]":       {{"Cache", "Redis"}},
		"7":                            nil,
	} {
		assert.Equal(t, want, parseState(t, "user_decisions: "+text+"\n").decisions, text)
	}
}

func TestGates(t *testing.T) {
	want := []gate{{"1", "PASS", "", "4.2"}, {"2", "", "RED", ""}, {"", "YELLOW", "red", ""}}
	assert.Equal(t, want, parseState(t,
		"gate_results:\n- {phase: 1, verdict: PASS, score: 4.2}\n- {phase: 2, status: RED}\n- {verdict: YELLOW, status: red}\n").gates)
	want = []gate{{"1", "RED", "", ""}, {"8", "PASS", "", "3"}}
	assert.Equal(t, want, parseState(t, "gate_results:\n  1: RED\n  x: {phase: 8, verdict: PASS, score: 3}\n").gates)
	assert.Empty(t, parseState(t, "gate_results: RED\n").gates)
}

func TestQuestionsOf(t *testing.T) {
	for input, want := range map[string][]string{
		`{"questions":[{"question":" a\nb "},{"question":""},{"question":"c"}]}`: {"a b", "c"},
		`{"questions":[{"question":"a"}],"question":"b"}`:                        {"a"},
		`{"questions":[{"question":" "}],"question":"b"}`:                        {"b"},
		`{"questions":[7,null,{"question":7},{"question":"a"}]}`:                 {"a"},
		`{"questions":{"question":"a"}}`:                                         nil,
		`{"question":"b"}`:                                                       {"b"},
		`"x"`:                                                                    nil,
	} {
		var texts []string
		for _, q := range questionsOf(&client.Event{ToolInput: []byte(input)}) {
			texts = append(texts, q.text)
		}
		assert.Equal(t, want, texts, input)
	}
	assert.Empty(t, questionsOf(&client.Event{}))
}

func TestReadState(t *testing.T) {
	path := t.TempDir() + "/" + stateName
	for text, want := range map[string]stateFile{
		"---\nmode: x\n---\n":     {exists: true, mode: "x"},
		"---\nphase: PLAN\n---\n": {exists: true, phase: "PLAN"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		assert.Equal(t, want, readState(path))
	}
	assert.Equal(t, stateFile{}, readState(path+"x"))
}

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
