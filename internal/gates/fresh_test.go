package gates

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// lastLine returns the newest line of evidence.
func (l *list) lastLine() state.Evidence {
	l.t.Helper()
	all := l.state().Evidence
	return all[len(all)-1]
}

// inProject hydrates an fsm.json into a list whose project has these files.
func inProject(t *testing.T, file string, files map[string]string) *list {
	t.Helper()
	root := t.TempDir()
	l := &list{t: t, project: filepath.Join(root, "project"), Frame: newFrame(root)}
	require.NoError(t, os.Mkdir(l.project, 0o755))
	for name, text := range files {
		l.write(name, text)
	}
	hydrateSpec(t, l.List, l.project, file)
	return l
}

// A file that was there before the workflow is refused once, and then recorded, and the person is told.
func TestAFileIsNew(t *testing.T) {
	for name, file := range map[string]string{
		"array":      `[{"id": 1, "subject": "Write", "produces": ["notes.md", "out/*.md"]}]`,
		"object":     `{"fsm": 2, "steps": [{"id": 1, "subject": "Write", "produces": ["notes.md", "out/*.md"]}]}`,
		"an outcome": `{"fsm": 2, "steps": [{"id": 1, "subject": "Write", "outcomes": {"done": {"produces": ["notes.md", "out/*.md"]}}}]}`,
		"a value":    `{"fsm": 2, "vars": {"what": "notes"}, "steps": [{"id": 1, "subject": "Write", "produces": ["{what}.md", "out/*.md"]}]}`,
		"with a part": `{"fsm": 2, "steps": [{"id": 2, "subject": "All",
			"do": [{"id": 1, "subject": "Write", "produces": ["notes.md", "out/*.md"]}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := inProject(t, file, map[string]string{"notes.md": "of the last release", "out/a.md": "a", "out/b.md": "b"})
			id := int64(1)
			if name == "with a part" {
				id = 3
			}
			past := time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
			require.NoError(t, os.Chtimes(filepath.Join(l.project, "out/a.md"), past, past), "a time says nothing")
			require.Contains(t, l.denies(id, workflow.Completed),
				`cannot be completed: notes.md and out/a.md are as they were before the step was worked on. `)
			l.write("out/b.md", "other")
			v := l.do(id, workflow.Completed)
			require.True(t, v.Allowed(), "%+v", v)
			require.Contains(t, v.Trouble, `"Write" is completed, and notes.md was not changed for it`)
			require.Equal(t, []string{"notes.md"}, l.lastLine().Unchanged)

			l = inProject(t, file, map[string]string{"notes.md": "of the last release"})
			l.write("notes.md", "of this release")
			l.write("out/c.md", "c")
			v = l.do(id, workflow.Completed)
			require.True(t, v.Allowed(), "%+v", v)
			require.Empty(t, v.Trouble)
			require.Empty(t, l.lastLine().Unchanged)
		})
	}
}

// The file of the round before is that of the round before, also where a part or a copy has written it.
func TestAFileIsOfTheRound(t *testing.T) {
	for name, file := range map[string]string{
		"a step": `{"fsm": 2, "steps": [{"id": 1, "subject": "Write", "produces": ["notes.md"]},
			{"id": 2, "subject": "Review", "blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`,
		"a part": `{"fsm": 2, "steps": [{"id": 1, "subject": "All", "do": [{"id": 1, "subject": "Write", "produces": ["notes.md"]}]},
			{"id": 2, "subject": "Review", "blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`,
		"a copy": `{"fsm": 2, "steps": [{"id": 1, "subject": "All", "each": {"lines": "list"},
				"do": [{"id": 1, "subject": "Write", "produces": ["{item}.md"]}]},
			{"id": 2, "subject": "Review", "blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := inProject(t, file, map[string]string{"list": "notes"})
			if name == "a copy" {
				l.begin(1)
			}
			id := map[string]int64{"a step": 1, "a part": 3, "a copy": 3}[name]
			l.write("notes.md", "first")
			require.True(t, l.end(id, "").Allowed())
			if id != 1 {
				require.True(t, l.end(1, "").Allowed())
			}
			require.NotNil(t, l.end(2, "again").Turn)
			if name == "a copy" {
				l.begin(1)
				id = 4
			}
			require.Contains(t, l.denies(id, workflow.Completed), "notes.md is as it was")
			l.write("notes.md", "second")
			require.True(t, l.end(id, "").Allowed())
			require.Empty(t, l.lastLine().Unchanged)
		})
	}
}

// A link that leads out of the project does not count, nor does a directory of that kind.
func TestALinkOutOfTheProjectDoesNotCount(t *testing.T) {
	l := inProject(t, `[{"id": 1, "subject": "Write", "produces": ["a.md", "d/a.md"]}]`, map[string]string{"real.md": "x"})
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "a.md"), []byte("x"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(outside, "a.md"), filepath.Join(l.project, "a.md")))
	require.NoError(t, os.Symlink(outside, filepath.Join(l.project, "d")))
	require.Contains(t, l.denies(1, workflow.Completed), `it needs a.md and d/a.md, which are missing or empty in `+l.project+
		`. a.md and d/a.md leads out of it, and does not count`)
	require.NoError(t, os.Remove(filepath.Join(l.project, "a.md")))
	require.NoError(t, os.Remove(filepath.Join(l.project, "d")))
	require.NoError(t, os.Symlink(filepath.Join(l.project, "real.md"), filepath.Join(l.project, "a.md")))
	l.write("d/a.md", "x")
	l.allows(1, workflow.Completed)
}

// The person is told of a list that is empty, or is not the one that a gate has seen, and the line has the count.
func TestAListThatHasChangedIsTold(t *testing.T) {
	const file = `{"fsm": 2, "steps": [{"id": 1, "subject": "List", "check": "test -s list"},
		{"id": 2, "subject": "Migrate", "blockedBy": [1], "each": {"lines": "list"}, "do": [{"id": 1, "subject": "Change {item}"}]}]}`
	for name, c := range map[string]struct{ list, told, why string }{
		"the same": {"a\nb", "", "in order, for 2 items"},
		"other":    {"a", `list has changed since #1 was completed: #2 "Migrate" is done for 1 item of it`, "in order, for 1 items"},
		"empty":    {"\n", `list has changed since #1 was completed: #2 "Migrate" is done for no items of it`, "in order, for 0 items"},
	} {
		t.Run(name, func(t *testing.T) {
			l := inProject(t, file, nil)
			l.write("list", "a\nb")
			require.True(t, l.end(1, "").Allowed())
			l.write("list", c.list)
			v := l.do(2, workflow.InProgress)
			require.True(t, v.Allowed(), "%+v", v)
			assert.Equal(t, c.told, v.Trouble)
			for id := int64(3); l.state().Step(id) != nil; id++ {
				l.end(id, "")
			}
			require.True(t, l.end(2, "").Allowed())
			about := slices.DeleteFunc(l.state().About(2), func(e state.Evidence) bool { return e.Verdict != state.Allow })
			assert.Equal(t, c.why, about[len(about)-1].Why)
		})
	}
	l := inProject(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Migrate", "each": {"run": "true"}}]}`, nil)
	assert.Equal(t, `#1 "Migrate" has nothing to be done for: its command has no lines`, l.do(1, workflow.Completed).Trouble)
}
