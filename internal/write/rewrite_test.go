package write_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/write"
)

func TestFormat(t *testing.T) {
	file := `[{"colour":{"a":[1,2]},"status":null,"blockedBy":[20.0,3e0],"subject":"\u0041\/b","id":1e0,"metadata":{"k":[{"x":1.50}]},` +
		`"description":""},
		{"id":3,"subject":"B"},{"id":20,"subject":"C","blocks":[]}]`
	formatted, err := write.Format([]byte(file))
	require.NoError(t, err)
	assert.Equal(t, `[
  {
    "id": 1,
    "subject": "A/b",
    "description": "",
    "blockedBy": [20, 3],
    "metadata": {
      "k": [
        {
          "x": 1.50
        }
      ]
    },
    "colour": {
      "a": [
        1,
        2
      ]
    }
  },
  {
    "id": 3,
    "subject": "B"
  },
  {
    "id": 20,
    "subject": "C",
    "blocks": []
  }
]
`, string(formatted))
	file = `{"steps":[{"id":4,"subject":"A"},{"when":{"9":["b","skipped"]},"id":7.0,"subject":"B","blockedBy":[4],"check":"make",
		"outcomes":{"\u0061":{"max":3e0,"back":4.0,"then":"b"},"b":{"stop":null,"check":{"run":"x","timeout":9}},"c":null}},
		{"id":9,"subject":"C","outcomes":["b","c"],"decides":{"run":"x"}}],"fsm":2.0}`
	formatted, err = write.Format([]byte(file))
	require.NoError(t, err)
	assert.Equal(t, `{
  "fsm": 2,
  "steps": [
    {
      "id": 4,
      "subject": "A"
    },
    {
      "id": 7,
      "subject": "B",
      "blockedBy": [4],
      "check": "make",
      "outcomes": {
        "a": {"max": 3, "back": 4, "then": "b"},
        "b": {"check": {"run": "x", "timeout": 9}},
        "c": {}
      },
      "when": {"9": ["b", "skipped"]}
    },
    {
      "id": 9,
      "subject": "C",
      "outcomes": ["b", "c"],
      "decides": {"run": "x"}
    }
  ]
}
`, string(formatted))
	_, err = write.Format([]byte(`[{}]`))
	assert.ErrorAs(t, err, new(*fsmspec.InvalidError))
	empty, err := write.Format([]byte(" [ ]"))
	require.NoError(t, err)
	assert.Equal(t, "[]\n", string(empty))
}

// withOutcomes draws a valid file in the object form.
func withOutcomes(t *rapid.T) string {
	ids := rapid.SliceOfNDistinct(rapid.Int64Range(1, 50), 1, 6, rapid.ID[int64]).Draw(t, "ids")
	var steps []string
	for i, id := range ids {
		previous := ids[max(i-1, 0)]
		fields := []string{`"id": ID`, `"subject": "S"`, rapid.SampledFrom([]string{
			`"outcomes": ["a", "b"]`,
			`"outcomes": {"a": {"max": 2.0, "back": ID, "then": "b"}, "b": {"stop": true}}`,
			`"decides": {"run": "x"}, "outcomes": {"c": null, "b": {"check": "true", "approval": true}}`,
		}).Draw(t, "outcomes")}
		if i > 0 {
			fields = append(fields, rapid.SampledFrom([]string{
				`"blockedBy": [BEFORE]`, `"when": {"BEFORE": "skipped"}`, `"blockedBy": [BEFORE.0], "when": {"BEFORE": ["skipped", "\u0062"]}`,
			}).Draw(t, "before"))
		}
		step := "{" + strings.Join(fields, ", ") + "}"
		steps = append(steps, strings.NewReplacer("ID", fmt.Sprint(id), "BEFORE", fmt.Sprint(previous)).Replace(step))
	}
	object := rapid.SampledFrom([]string{`{"fsm": 2, "steps": [STEPS]}`, `{"steps": [STEPS], "fsm": 2.0}`}).Draw(t, "object")
	return strings.Replace(object, "STEPS", strings.Join(steps, ", "), 1)
}

// workflow draws a valid file.
func workflow(t *rapid.T) string {
	if rapid.Bool().Draw(t, "with outcomes") {
		return withOutcomes(t)
	}
	ids := rapid.SliceOfNDistinct(rapid.Int64Range(1, 50), 1, 6, rapid.ID[int64]).Draw(t, "ids")
	var tasks []string
	for _, id := range ids {
		task := fmt.Sprintf(`"subject": %q, "id": %s`, "S"+rapid.StringMatching(`[a-z/ ]*`).Draw(t, "subject"),
			rapid.SampledFrom([]string{"%d", "%d.0", "%de0"}).Draw(t, "spelling"))
		task = fmt.Sprintf(strings.ReplaceAll(task, "%%", "%"), id)
		for _, field := range []string{"blocks", "blockedBy"} {
			var refs []string
			for _, ref := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, 3).Draw(t, field) {
				refs = append(refs, fmt.Sprint(ref))
			}
			task += fmt.Sprintf(`, %q: [%s]`, field, strings.Join(refs, ","))
		}
		task += rapid.SampledFrom([]string{"", `, "status": "completed"`, `, "metadata": {"a": [1, {"b": "ä\u00e4"}]}`, `, "owner": null`,
			`, "x": 1`, `, "produces": ["a", "\u0062/*"], "check": {"run": "make", "timeout": 1.5e1}`,
			`, "ready": ["` + strings.Repeat("long/", 30) + `x"], "approval": "Go?"`}).Draw(t, "more")
		tasks = append(tasks, "{"+task+"}")
	}
	tasks = append(tasks, `{"subject": "Free", "id": 51}`) // one can start
	return "[" + strings.Join(tasks, ", ") + "]"
}

func tasksOf(t require.TestingT, file []byte) []fsmspec.Task {
	spec, err := fsmspec.Parse(file)
	require.NoError(t, err, "%s", file)
	tasks := spec.Tasks()
	for i := range tasks {
		tasks[i].Metadata = strings.Join(strings.Fields(tasks[i].Metadata), "") // layout may change
	}
	return tasks
}

func TestFormatKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := []byte(workflow(t))
		formatted, err := write.Format(file)
		require.NoError(t, err)
		require.Equal(t, tasksOf(t, file), tasksOf(t, formatted))
		again, err := write.Format(formatted)
		require.NoError(t, err)
		require.Equal(t, string(formatted), string(again), "formatting twice changes nothing")
	})
}

// The parts of a step are written like steps.
func TestFormatParts(t *testing.T) {
	file := `{"fsm": 2, "steps": [{"do": [{"id": 5, "subject": "C"}, {"id": 3, "subject": "D", "blockedBy": [5], ` +
		`"outcomes": {"a": {"back": 5, "max": 1}}}], "each": {"inTurn":true,"lines":"x"}, "subject": "B", "id": 5}, {"id": 3, ` +
		`"subject": "E", "when": {"5": "done"}}]}`
	formatted, err := write.Format([]byte(file))
	require.NoError(t, err)
	assert.Equal(t, `{
  "fsm": 2,
  "steps": [
    {
      "id": 5,
      "subject": "B",
      "each": {"inTurn": true, "lines": "x"},
      "do": [
        {
          "id": 5,
          "subject": "C"
        },
        {
          "id": 3,
          "subject": "D",
          "blockedBy": [5],
          "outcomes": {
            "a": {"back": 5, "max": 1}
          }
        }
      ]
    },
    {
      "id": 3,
      "subject": "E",
      "when": {"5": "done"}
    }
  ]
}
`, string(formatted))
	again, err := write.Format(formatted)
	require.NoError(t, err)
	assert.Equal(t, string(formatted), string(again))
}

func TestExampleWorkflowsAreCanonical(t *testing.T) {
	files, err := filepath.Glob("../../testdata/workflows/*/fsm.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		formatted, err := write.Format(data)
		require.NoError(t, err)
		assert.Equal(t, string(data), string(formatted), path)
	}
}
