package tasks

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTasks(t *testing.T) {
	dir := t.TempDir()
	tasksWrite(t, dir, "10.json", `{"id":"10","subject":"ten","status":"pending","blockedBy":["2"]}`)
	tasksWrite(t, dir, "2.json", `{"id":"2","subject":"two","status":"completed","status":"in_progress"}`)
	tasksWrite(t, dir, "3.json", `{"id":"3", torn`)
	tasksWrite(t, dir, "4.json", `{"subject":"without id"}`)
	tasksWrite(t, dir, ".5.json", `{"id":"5"}`)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "6.json"), 0o755))
	got, err := Tasks(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, []Task{
		{ID: "2", Subject: "two", Status: "in_progress"},
		{ID: "10", Subject: "ten", Status: "pending", BlockedBy: []string{"2"}},
	}, got)
}

func TestTasksOfAnAbsentList(t *testing.T) {
	got, err := Tasks(t.Context(), filepath.Join(t.TempDir(), "list"))
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestTasksErrors(t *testing.T) {
	dir := t.TempDir()
	tasksWrite(t, dir, "1.json", "{}")
	_, err := Tasks(t.Context(), filepath.Join(dir, "1.json"))
	require.ErrorIs(t, err, syscall.ENOTDIR)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Tasks(ctx, dir)
	require.ErrorIs(t, err, context.Canceled)
}
