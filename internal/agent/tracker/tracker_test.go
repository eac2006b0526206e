package tracker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

func step(id, status string, after ...string) tasks.Task {
	return tasks.Task{ID: id, Subject: "S" + id, Description: "D", Status: status, BlockedBy: after,
		Metadata: jsontext.Value(`{"fsm":"ship"}`)}
}

// in returns the texts of the files in dir, by name.
func in(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = string(data)
	}
	return all
}

// decoded returns the task in the text of a file.
func decoded(t *testing.T, text string) (got task) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	return got
}

// TestFile: the fields, their order and their words are those of Gemini CLI 0.61.0, which checks them.
func TestFile(t *testing.T) {
	data := text(fsmspec.Creation{ID: 12, Subject: "Build", Description: "It", ActiveForm: "Building", Owner: "me",
		Status: fsmspec.Completed, BlockedBy: []int64{3, 7}, Metadata: `{"fsm":"ship"}`})
	assert.Equal(t, `{
  "id": "000012",
  "title": "Build",
  "description": "It",
  "type": "task",
  "status": "closed",
  "dependencies": [
    "000003",
    "000007"
  ],
  "metadata": {
    "fsm": "ship"
  }
}`, string(data))
	assert.True(t, isStepFile(data))
	for word, status := range map[string]string{"open": "pending", "blocked": "pending", "in_progress": "in_progress",
		"closed": "completed", "": "", "done": ""} {
		assert.Equal(t, status, Status(word), word)
	}
	for name, id := range map[string]string{"000012.json": "12", "000012": "12", "6c5157.json": "", "12.json": "", "000000.json": "",
		"-00012.json": "", "1234567.json": ""} {
		assert.Equal(t, id, ID(name), name)
	}
	for _, text := range []string{"", "[]", "{}", `{"id": 1}`} {
		assert.False(t, isStepFile([]byte(text)), text)
	}
}

func TestShow(t *testing.T) {
	session := t.TempDir()
	dir := filepath.Join(session, "tracker")
	require.NoError(t, Show(dir, nil))
	require.NoDirExists(t, dir, "there is nothing to show")

	manual := tasks.Task{ID: "8", Subject: "mine", Status: "pending"}
	all := []tasks.Task{step("1", "completed"), step("3", "pending", "1", "1000000", "8", "x"), step("1000000", "pending"),
		step("a", "pending"), step("5", "strange"), manual}
	require.NoError(t, Show(dir, all))
	first := in(t, dir)
	require.Len(t, first, 2)
	assert.Equal(t, []string{"000001"}, decoded(t, first["000003.json"]).Dependencies,
		"a dependency that is not shown would keep the task from being closed")

	own := `{"id":"6c5157","title":"T","description":"D","type":"task","status":"open","dependencies":[]}`
	taken := `{"id":"000004","title":"T","description":"D","type":"task","status":"open","dependencies":[]}`
	for name, text := range map[string]string{"6c5157.json": own, "000004.json": taken, "notes.txt": "x"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000003.json"), []byte(first["000001.json"]), 0o644)) // as the agent may edit it
	require.NoError(t, Show(dir, []tasks.Task{step("3", "in_progress"), step("4", "pending")}))
	got := in(t, dir)
	assert.Equal(t, "in_progress", decoded(t, got["000003.json"]).Status)
	delete(got, "000003.json")
	assert.Equal(t, map[string]string{"6c5157.json": own, "000004.json": taken, "notes.txt": "x"}, got,
		"step 1 is gone, and the tracker's own tasks stay")
	left, err := os.ReadDir(session)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is left beside the tracker's files")
}

// TestShowWritesOnlyWhatChanged: each event would otherwise wait for the disk once a step.
func TestShowWritesOnlyWhatChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tracker")
	all := []tasks.Task{step("1", "pending")}
	require.NoError(t, Show(dir, all))
	before, err := os.Stat(filepath.Join(dir, "000001.json"))
	require.NoError(t, err)
	require.NoError(t, Show(dir, all))
	after, err := os.Stat(filepath.Join(dir, "000001.json"))
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
}
