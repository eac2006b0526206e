package command

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
)

// screens returns each screen that is drawn, without control sequences.
type screens chan string

func (s screens) Write(data []byte) (int, error) {
	s <- strings.ReplaceAll(strings.TrimPrefix(string(data), clearScreen), "\r\n", "\n")
	return len(data), nil
}

// TestWatchDrawsAgain when the list is created, when a task changes, and when the terminal is
// resized; q quits.
func TestWatchDrawsAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	in, keys := io.Pipe()
	drawn, resized, columns, rows := make(screens), make(chan os.Signal), 80, 20
	w := watch{list: tasks.List{Dir: dir}, chosen: "task list", in: in, out: drawn, resized: resized, size: func() (int, int) { return columns, rows }}
	ended := make(chan error)
	go func() { ended <- w.run(t.Context()) }()
	assert.Equal(t, "task list\nno workflow is in the list\n\nlast hydration: none is on record\nq quits", <-drawn)

	write := func(name, subject string) {
		text := `{"id": "` + name + `", "subject": "` + subject + `", "status": "pending"}`
		require.NoError(t, os.WriteFile(dir+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(dir+".new", filepath.Join(dir, name+".json")))
	}
	require.NoError(t, os.Mkdir(dir, 0o700))
	<-drawn // from here on the list is watched
	write("1", "first")
	assert.Contains(t, <-drawn, "manual tasks: 1\n")
	write("1", "changed")
	assert.NotContains(t, <-drawn, "first")

	columns, rows = 9, 5
	resized <- os.Interrupt
	assert.Equal(t, "task list\nno workf…\n\n… 4 more lines\nq quits", <-drawn)
	_, err := keys.Write([]byte("xq"))
	require.NoError(t, err)
	require.NoError(t, <-ended)
}
