package rules

import (
	"os"
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
