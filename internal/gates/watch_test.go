package gates

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestWhatIsWatchedAndNotKnownIsTold: a check that names too many files passes, and the person is told that nothing is known of them.
func TestWhatIsWatchedAndNotKnownIsTold(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Test", Check: &workflow.Check{Run: "true", Timeout: 9, Watch: []string{"*.txt"}}})
	dir := l.state().Step(1).Workflow.Dir
	for i := range 1001 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".txt"), []byte("x"), 0o644))
	}
	v := l.do(1, workflow.Completed)
	require.True(t, v.Allowed(), v.Reason)
	require.Contains(t, v.Trouble,
		`#1 "Test" is completed, and of the files on which its check stands nothing is known: more than 1000 files match`)
}

// TestWatchedFilesAreComparedWithTheLastStart: not with those of an earlier round, and a step that is opened again and not started
// with what was there when it was opened.
func TestWatchedFilesAreComparedWithTheLastStart(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Test", Check: &workflow.Check{Run: "true", Timeout: 9, Watch: []string{"a_test.go"}}},
		workflow.Step{Subject: "Review", BlockedBy: []int64{1}, Outcomes: []workflow.Outcome{{Name: "ok"}, {Name: "again", Back: 1, Max: 3}}})
	file := filepath.Join(l.state().Step(1).Workflow.Dir, "a_test.go")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o644)) }
	write("1\n2\n3\n")
	l.do(1, workflow.InProgress)
	require.Empty(t, l.do(1, workflow.Completed).Trouble)
	write("1\n2\n")
	l.end(2, "again")
	require.Empty(t, l.do(1, workflow.Completed).Trouble, "it was so when it was opened again")
	l.end(2, "again")
	write("1\n")
	require.Contains(t, l.do(1, workflow.Completed).Trouble, "a_test.go shorter (files: 1 before, 1 now; lines: 2 before, 1 now)")
}
