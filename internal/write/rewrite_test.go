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

func TestFix(t *testing.T) {
	for _, c := range []struct{ name, file, want, done string }{
		{"nothing to do", `[ {"id":1,"subject":"A"} ]`, `[ {"id":1,"subject":"A"} ]`, ""},
		{"byte order mark", "\uFEFF[]", "[]", "removed the byte order mark"},
		{"code block", "```json\n[]\n```\n", "[]\n", "removed the Markdown code block around the file"},
		{"trailing commas", "[\n {\"id\": 1, \"subject\": \"A\", \"blocks\": [1,],},\n]\n",
			"[\n {\"id\": 1, \"subject\": \"A\", \"blocks\": [1]}\n]\n", "removed trailing commas"},
		{"comma after the array", "[{\"id\": 1, \"subject\": \"A\"}],\n", "[{\"id\": 1, \"subject\": \"A\"}]\n", "removed trailing commas"},
		{"object with tasks", `{"tasks": [{"id": 1, "subject": "A"}]}`, `{"tasks": [{"id": 1, "subject": "A"}]}`, ""},
		{"Markdown with a frontmatter", "---\nname: a\n---\n# A\n", "---\nname: a\n---\n# A\n", ""},
		{"several YAML documents", "- id: 1\n---\n- id: 2\n", "- id: 1\n---\n- id: 2\n", ""},
		{"a missing comma", `[{"id":1 "subject":"A"}]`, `[{"id":1 "subject":"A"}]`, ""},
		{"a missing comma between numbers", `[{"id": 1, "blockedBy": [2 3]}]`, `[{"id": 1, "blockedBy": [2 3]}]`, ""},
		{"a missing value", `[{"id":, "subject": "A"}]`, `[{"id":, "subject": "A"}]`, ""},
		{"a comma too many", `[{"id":, 2}]`, `[{"id":, 2}]`, ""},
		{"missing quotation marks", `[{id:1,subject:"A"}]`, `[{id:1,subject:"A"}]`, ""},
		{"text that is not YAML", "- id: [\n", "- id: [\n", ""},
		{"a word", "steps\n", "steps\n", ""},
		{"a state machine", `{"id": "m", "states": {}}`, `{"id": "m", "states": {}}`, ""},
		{"ids", `[{"id": "1", "subject": "7", "blocks": ["2", 3], "blockedBy": ["x"]}]`,
			`[{"id": 1, "subject": "7", "blocks": [2, 3], "blockedBy": ["x"]}]`, "made ids numbers, which were strings"},
		{"names", `[{"ID": "1", "title": "A", "depends_on": ["1"]}]`, `[{"id": 1, "subject": "A", "blockedBy": [1]}]`,
			`renamed "ID" to "id"; renamed "title" to "subject"; renamed "depends_on" to "blockedBy"; made ids numbers, which were strings`},
		{"name of a field that the task has", `[{"id": 1, "subject": "A", "title": "B"}]`, `[{"id": 1, "subject": "A", "title": "B"}]`, ""},
		{"two names of one field", `[{"id": 1, "title": "A", "name": "B"}]`, `[{"id": 1, "subject": "A", "name": "B"}]`,
			`renamed "title" to "subject"`},
		{"parts", `[{"id": "1", "subject": "A", "do": [{"ID": "1", "title": "B", "do": [{"Id": 1, "subject": "C"}]}]}]`,
			`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "do": [{"id": 1, "subject": "B", "do": [{"id": 1, "subject": "C"}]}]}]}`,
			`made ids numbers, which were strings; renamed "ID" to "id"; renamed "title" to "subject"; renamed "Id" to "id"; ` +
				`put the array into an object, which its steps need`},
		{"outcomes in an array", "[\n  {\"id\": 1, \"subject\": \"A\", \"outcomes\": {\"ok\": {}}}\n]\n",
			"{\"fsm\": 2, \"steps\": [\n  {\"id\": 1, \"subject\": \"A\", \"outcomes\": {\"ok\": {}}}\n]}\n",
			"put the array into an object, which its steps need"},
		{"single texts", `[{"id": 1, "subject": "A", "produces": "a.md", "ready": "b.md", "blockedBy": 2, "blocks": "3"}]`,
			`[{"id": 1, "subject": "A", "produces": ["a.md"], "ready": ["b.md"], "blockedBy": [2], "blocks": [3]}]`,
			`put the value of "blocks" into brackets; put the value of "blockedBy" into brackets; put the value of "produces" into brackets; ` +
				`put the value of "ready" into brackets; made ids numbers, which were strings`},
		{"steps without a version", `{"steps": [{"id": "1", "subject": "A"}]}`, `{"steps": [{"id": 1, "subject": "A"}]}`,
			"made ids numbers, which were strings"},
		{"names in an object", `{"fsm": 2, "steps": [{"ID": 1, "title": "A"}]}`, `{"fsm": 2, "steps": [{"id": 1, "subject": "A"}]}`,
			`renamed "ID" to "id"; renamed "title" to "subject"`},
		{"comment without a place", `[1 /* one */]`, `[1 /* one */]`, ""},
		{"beyond repair", `[{"id": 1 "subject"`, `[{"id": 1 "subject"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fixed, done := write.Fix([]byte(c.file))
			assert.Equal(t, c.want, string(fixed))
			assert.Equal(t, c.done, strings.Join(done, "; "))
			again, done := write.Fix(fixed)
			assert.Equal(t, c.want, string(again))
			assert.Empty(t, done, "a second repair finds nothing")
		})
	}
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
		fixed, done := write.Fix(file)
		require.Empty(t, done, "a valid file needs no repair")
		require.Equal(t, string(file), string(fixed))
	})
}

// Fix leaves comments where they are: JSON has none, and their author knows where they belong.
func TestFixKeepsComments(t *testing.T) {
	const file = "[/* a */{\"id\": \"1\", // b\n\"subject\": \"A\"}]"
	fixed, done := write.Fix([]byte(file))
	assert.Equal(t, strings.Replace(file, `"1"`, "1", 1), string(fixed))
	assert.Len(t, done, 1)
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
