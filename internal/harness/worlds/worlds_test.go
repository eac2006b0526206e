package worlds_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

func TestTasksShowEveryChange(t *testing.T) {
	home := worlds.New(t)
	assert.Empty(t, home.Tasks(t), "the list does not exist")

	require.NoError(t, os.MkdirAll(home.InList("7.json.lock"), 0o755))
	home.AddTask(t, 7, `"status":"pending"`)
	home.Write(t, ".claude/tasks/list/.highwatermark", "9")
	before := home.Tasks(t)
	require.Equal(t, []string{"7.json"}, worlds.Names(before), "locks and the mark are not tasks")
	assert.Equal(t, fs.FileMode(0o640), before["7.json"].Mode)

	home.AddTask(t, 7, `"status":"pending"`)
	assert.Equal(t, before, home.Tasks(t), "rewritten in place with its old time")
	for name, change := range map[string]func(path string) error{
		"bytes": func(path string) error { return os.WriteFile(path, []byte("{}"), 0o640) },
		"mode":  func(path string) error { return os.Chmod(path, 0o600) },
		"inode": func(path string) error {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".new", data, 0o640))
			return os.Rename(path+".new", path)
		},
	} {
		before := home.Tasks(t)
		require.NoError(t, change(home.InList("7.json")))
		assert.NotEqual(t, before, home.Tasks(t), name)
	}
}

func TestTaskNumbers(t *testing.T) {
	assert.Equal(t, 12, worlds.TaskNumber(worlds.TaskName(12)))
	assert.Zero(t, worlds.TaskNumber("x.json"))
}
