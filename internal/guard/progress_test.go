package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// working blocks an agent whose work and whose last message the test sets.
type working struct {
	*bench
	progress, asked string
	once            bool
}

func newWorking(t *testing.T) *working {
	w := &working{progress: "a"}
	w.bench = newBench(t, func(*Call) (Verdict, error) {
		v := Block(1, "Not done", "Do it.").Unless(w.progress, w.asked)
		if w.once {
			v = v.Once()
		}
		return v, nil
	})
	return w
}

func (w *working) blocked(input string) bool { return w.run(input).Exit == 2 }

func TestProgressBeginsANewCount(t *testing.T) {
	w := newWorking(t)
	assert.True(t, w.blocked(firstStop))
	for i := range 20 {
		w.progress = fmt.Sprint(i)
		assert.True(t, w.blocked(nextStop), "a workflow that moves at every block is not given up")
	}
	assert.True(t, w.blocked(nextStop))
	assert.True(t, w.blocked(nextStop))
	assert.Contains(t, w.run(nextStop).Output, "giving up after 3 blocks")
}

func TestAQuestionIsNotSwallowed(t *testing.T) {
	w := newWorking(t)
	w.asked = "Which colour?"
	assert.True(t, w.blocked(firstStop), "it may have asked instead of working")
	assert.Empty(t, w.run(nextStop).Output, "nothing has moved: the user answers")
	assert.Empty(t, w.run(firstStop).Output, "and the next question too")
	w.progress = "b"
	assert.True(t, w.blocked(nextStop), "the work has moved since the last block")
	w.asked = ""
	a := w.run(nextStop)
	assert.Zero(t, a.Exit)
	assert.Contains(t, a.Output, "the agent has asked you: Which colour?", "it was in the message that was blocked")
	assert.True(t, w.blocked(nextStop), "only once")
}

func TestABlockThatIsNotRepeated(t *testing.T) {
	w := newWorking(t)
	w.once = true
	assert.True(t, w.blocked(firstStop))
	assert.Contains(t, w.run(nextStop).Output, "not repeated, check still failing: Not done")
	assert.Zero(t, w.run(firstStop).Exit, "not in the next turn either")
	w.progress = "b"
	assert.True(t, w.blocked(firstStop))
}

func TestAResetForgetsWhatBlocksAreWeighedAgainst(t *testing.T) {
	w := newWorking(t)
	w.asked = "Which?"
	assert.True(t, w.blocked(firstStop))
	done, err := ResetRule(w.session(), w.rule)
	require.NoError(t, err)
	assert.Equal(t, []string{"consecutive blocks"}, done)
	assert.True(t, w.blocked(firstStop))
}

func TestTheDirectoryOfSessionFilesIsMade(t *testing.T) {
	b := newBench(t, passing)
	b.env[stateDir] = filepath.Join(b.dir, "a", "b")
	assert.Empty(t, b.run(firstStop).Output)
	assert.FileExists(t, b.session().Log())
}

func TestADirectoryThatCannotBeUsedIsReportedOnceAndFailuresCount(t *testing.T) {
	b := newBench(t, passing)
	file := filepath.Join(b.dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	b.env[stateDir] = file
	id := fmt.Sprintf("guardtest-%d-%d", os.Getpid(), time.Now().UnixNano())
	stop := strings.Replace(firstStop, `"s"`, `"`+id+`"`, 1)
	elsewhere := SessionOf(id, func(string) string { return "" })
	t.Cleanup(func() {
		for _, path := range []string{elsewhere.Log(), elsewhere.Breaker(), elsewhere.Breaker() + ".lock", elsewhere.Blocks(), elsewhere.Blocks() + ".lock"} {
			_ = os.Remove(path)
		}
	})
	first := b.run(stop).Output
	assert.Contains(t, first, "cannot use PLANNING_STATE_DIR="+file)
	assert.Contains(t, first, "Create the directory or unset the variable.")
	assert.Empty(t, b.run(stop).Output, "it is reported once")
	assert.FileExists(t, elsewhere.Log())

	b.rule.Decide = failing
	for range 3 {
		assert.Contains(t, b.run(stop).Output, "Failing open")
	}
	assert.Contains(t, b.run(stop).Output, "circuit breaker OPEN")
}

func TestOldFilesOfSessionsAreRemoved(t *testing.T) {
	b := newBench(t, passing)
	now := time.Now()
	old := now.AddDate(0, 0, -31)
	for _, name := range []string{"planning-hooks-a.log", "planning-hook-breaker-a.json", "planning-stop-blocks-a.json.lock", "planning-research-budget-a.json", "planning-notes.md", "other.log"} {
		path := filepath.Join(b.dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, old, old))
	}
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "planning-hooks-dir.log"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(b.dir, "planning-hooks-dir.log"), old, old))
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "planning-hooks-new.log"), nil, 0o600))
	RemoveOld(b.session(), now.AddDate(0, 0, -30))
	var left []string
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	assert.Equal(t, []string{"other.log", "planning-hooks-dir.log", "planning-hooks-new.log", "planning-notes.md"}, left)
}

func TestTheLogHasThePlaceThatTheConfigurationGivesIt(t *testing.T) {
	b := newBench(t, passing)
	delete(b.env, stateDir)
	where := filepath.Join(b.dir, "logs-{session_id}.txt")
	b.plugin(t, "feature_flags: {hooks_enforcement: {log_location: \""+where+"\"}}")
	assert.Empty(t, b.run(firstStop).Output)
	assert.FileExists(t, filepath.Join(b.dir, "logs-s.txt"))
	newest, err := NewestLog(ReadConfig(b.getenv, ""), b.getenv)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(b.dir, "logs-s.txt"), newest)
	b.env[stateDir] = b.dir
	b.run(firstStop)
	assert.FileExists(t, b.session().Log(), "PLANNING_STATE_DIR comes first")
}

func TestTheFileOfDevelopmentModeIsAChoice(t *testing.T) {
	b := newBench(t, blocking)
	root := b.plugin(t, "feature_flags: {hooks_enforcement: {dev_mode_file: pause}}")
	assert.Equal(t, 2, b.run(firstStop).Exit)
	require.NoError(t, os.WriteFile(filepath.Join(root, "pause"), nil, 0o600))
	assert.Zero(t, b.run(firstStop).Exit)
}

// A rule that does not bind writes nothing, and is asked thoroughly only if it would act.
func TestARuleThatDoesNotBindIsSilent(t *testing.T) {
	for name, c := range map[string]struct {
		decide     func(*Call) (Verdict, error)
		thoroughly bool
	}{"passing": {passing, false}, "blocking": {blocking, true}, "failing": {failing, true}} {
		b := newBench(t, c.decide)
		asked := false
		b.rule.Binds = func(_ *Call, thoroughly bool) bool { asked = asked || thoroughly; return false }
		a := b.run(firstStop)
		assert.Empty(t, a.Output+a.ErrorText, name)
		entries, err := os.ReadDir(b.dir)
		require.NoError(t, err)
		assert.Empty(t, entries, name)
		assert.Equal(t, c.thoroughly, asked, name)
	}
	b := newBench(t, blocking)
	b.rule.Binds = func(_ *Call, thoroughly bool) bool { return thoroughly }
	assert.Equal(t, 2, b.run(firstStop).Exit)
	b.rule.Binds = func(*Call, bool) bool { panic("a bug") }
	assert.Equal(t, 2, b.run(firstStop).Exit, "a bug there does not switch the rule off")
}
