package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func TestRecognise(t *testing.T) {
	for text, want := range map[string]Format{
		`{"master": {"tasks": [{"id": 1, "title": "a", "dependencies": []}], "metadata": {}}}`:           TaskMaster,
		`{"tasks": [{"id": 1, "title": "a", "testStrategy": ""}]}`:                                       TaskMaster,
		`{"master": {"tasks": [], "metadata": {}}}`:                                                      TaskMaster,
		`[{"id": "1", "title": "a", "subtasks": []}]`:                                                    TaskMaster,
		`{"id": 1, "title": "a", "details": "b", "dependencies": [1]}`:                                   Task,
		`{"formula": "release", "version": 1, "type": "workflow", "steps": [{"id": "a", "title": "b"}]}`: Formula,
		"formula = \"release\"\nversion = 1\n\n[[steps]]\nid = \"a\"\n":                                  Formula,
		"schema_version: \"1.0\"\nworkflow:\n  id: x\nsteps:\n  - id: a\n    command: speckit.specify\n": SpecKit,
		`{"schema_version": "1.0", "workflow": {"id": "x"}, "steps": []}`:                                SpecKit,
		`[{"id": 1, "subject": "a"}]`:                                                                    Unknown,
		`{"tasks": [{"id": 1, "subject": "a"}]}`:                                                         Unknown,
		`{"id": 1, "subject": "a", "title": "b", "details": "c"}`:                                        Unknown,
		`{"title": "a"}`:      Unknown,
		`{"master": `:         Unknown,
		"steps:\n - a":        Unknown,
		"# Steps\n1. formula": Unknown,
		"":                    Unknown,
	} {
		assert.Equal(t, want, Recognise([]byte(text)), text)
		assert.Equal(t, want, Recognise([]byte("\ufeff"+text)), text)
	}
}

const tagged = `{
  "master": {
    "tasks": [
      {"id": 1, "title": "Set up\n the store", "description": "Make it.", "details": "Use SQLite.", "testStrategy": "Start it.", "status": "done", "dependencies": [], "priority": "high", "subtasks": []},
      {"id": 2, "title": "Import", "description": "", "status": "in-progress", "dependencies": [1, "4"], "subtasks": [
        {"id": 1, "title": "Parse", "status": "pending", "dependencies": []},
        {"id": 2, "title": "Load", "status": "deferred", "dependencies": [1, "3.1"]},
        {"id": 3, "title": "Undo", "status": "cancelled", "dependencies": []}
      ]},
      {"id": "3", "title": "Export", "status": "review", "dependencies": ["2.2", 9], "subtasks": [{"id": "3.1", "title": "Write", "dependencies": []}]},
      {"id": 4, "title": "Maybe", "status": "cancelled", "dependencies": [1], "subtasks": [{"id": 1, "title": "Never"}]},
      {"id": 5, "title": "Ship", "status": "pending", "dependencies": [2, 4, "4.1", 5]}
    ],
    "metadata": {"created": "2025-01-01"}
  },
  "feature": {"tasks": [{"id": 7, "title": "Other"}]}
}`

// lines shows steps: number, subject, status, what they wait for.
func lines(o Outline) (all []string) {
	for _, s := range o.Steps {
		all = append(all, fmt.Sprintf("%d %s %s %v line %d", s.ID, s.Subject, s.Status, s.BlockedBy, s.Line))
	}
	for _, l := range o.Left {
		all = append(all, fmt.Sprintf("left %d: %s: %s", l.Line, l.What, l.Why))
	}
	return all
}

func TestReadTaskMaster(t *testing.T) {
	o, err := ReadTaskMaster([]byte(tagged), "")
	require.NoError(t, err)

	assert.Equal(t, []string{
		"1 Set up the store completed [] line 4",
		"2 Parse  [1] line 6",
		"3 Load  [1 2 5] line 7",
		"4 Import in_progress [1 2 3] line 5",
		"5 Write  [3] line 10",
		"6 Export in_progress [3 5] line 10",
		"7 Ship  [1 4] line 12",
		"left 8: task 3: Undo: it is cancelled",
		"left 10: the dependency of 3 on 9: there is no such task",
		"left 11: task 4: Maybe: it is cancelled",
	}, lines(o))
	assert.Equal(t, "Make it.\n\nUse SQLite.\n\nTo test: Start it.", o.Steps[0].Description)
	_, err = fsmspec.Parse(JSON(o.Steps))
	require.NoError(t, err)
}

func TestTags(t *testing.T) {
	o, err := ReadTaskMaster([]byte(tagged), "feature")
	require.NoError(t, err)
	assert.Equal(t, []string{"1 Other  [] line 16"}, lines(o))

	_, err = ReadTaskMaster([]byte(tagged), "none")
	require.EqualError(t, err, `the file has no tag "none"; its tags are feature, master`)
	_, err = ReadTaskMaster([]byte(`{"a": {"tasks": []}, "b": {"tasks": []}}`), "")
	require.EqualError(t, err, "the file has several tags: a, b")
	for _, text := range []string{`{"tasks": [{"id": 3, "title": "x"}]}`, `[{"id": 3, "title": "x", "details": ""}]`,
		`{"id": 3, "title": "x", "details": ""}`, `{"only": {"tasks": [{"id": 3, "title": "x"}]}}`} {
		o, err := ReadTaskMaster([]byte(text), "")
		require.NoError(t, err, text)
		assert.Equal(t, []string{"1 x  [] line 1"}, lines(o), text)
	}
	for _, text := range []string{``, `{`, `{"tasks": [{"id": true, "title": "x"}]}`, `{"tasks": [{"id": 1, "title": 2}]}`,
		`{"tasks": [3]}`, `{"tasks": [{"id": 1, "title": "x"}, {"id": "1", "title": "x"}]}`} {
		_, err := ReadTaskMaster([]byte(text), "")
		require.Error(t, err, text)
	}
}

// TestEveryFileBecomesAWorkflow: numbers are 1, 2, 3 and so on, and each dependency is one of
// them, whatever the file says.
func TestEveryFileBecomesAWorkflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := func(depth int) string { return "" }
		one = func(depth int) string {
			id := rapid.IntRange(1, 4).Draw(t, "id")
			deps := rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3", `"1.1"`, `"2.2"`, `"4"`, `"x"`}), 0, 3).Draw(t, "dependencies")
			status := rapid.SampledFrom([]string{"pending", "done", "cancelled", "in-progress", "?"}).Draw(t, "status")
			var subtasks []string
			for range rapid.IntRange(0, 2-2*depth).Draw(t, "subtasks") {
				subtasks = append(subtasks, one(depth+1))
			}
			return fmt.Sprintf(`{"id": %d, "title": "t", "status": %q, "dependencies": [%s], "subtasks": [%s]}`, id, status,
				strings.Join(deps, ","), strings.Join(subtasks, ","))
		}
		var all []string
		for range rapid.IntRange(0, 4).Draw(t, "tasks") {
			all = append(all, one(0))
		}
		o, err := ReadTaskMaster([]byte(`{"master": {"tasks": [`+strings.Join(all, ",")+`]}}`), "")
		if err != nil {
			require.ErrorContains(t, err, "a second task has the id")
			return
		}
		for i, s := range o.Steps {
			require.EqualValues(t, i+1, s.ID)
			for _, b := range s.BlockedBy {
				require.True(t, b >= 1 && int(b) <= len(o.Steps))
				require.NotEqual(t, s.ID, b)
			}
		}
	})
}
