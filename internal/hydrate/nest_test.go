package hydrate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// begun is a home with the workflow outer, whose step 1 is in progress.
func begun(t *testing.T) *home {
	h := newHome(t)
	h.write("project/sub/file", "")
	h.write(".claude/skills/outer/fsm.json", `[{"id": 1, "subject": "one", "status": "in_progress"}, {"id": 2, "subject": "two"}]`)
	_, err := h.calls(hydrate.Request{Command: "outer"}, hydrate.Options{})
	require.NoError(t, err)
	return h
}

// TestTwoSkillsAtOnceBothNest: the calls of a message, or of two agents that share the list,
// are hydrated at the same time.
func TestTwoSkillsAtOnceBothNest(t *testing.T) {
	h := begun(t)
	const calls = 6
	var wg sync.WaitGroup
	errs := make([]error, calls)
	for n := range calls {
		command := fmt.Sprintf("inner%d", n)
		h.write(".claude/skills/"+command+"/fsm.json", `[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b"}]`)
		wg.Go(func() {
			_, errs[n] = h.calls(hydrate.Request{Command: command, Agent: fmt.Sprint("agent", n%2)}, hydrate.Options{})
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	s, err := state.Load(context.Background(), h.list())
	require.NoError(t, err)
	assert.Len(t, s.Steps, 2+2*calls)
	assert.Len(t, s.Under(s.Step(1)), calls)
	for _, w := range s.Under(s.Step(1)) {
		assert.Contains(t, []string{"agent0", "agent1"}, w.Agent)
	}
}

// TestWithoutARecordTasksAreReplaced: an older version put them there, or the record was
// removed.
func TestWithoutARecordTasksAreReplaced(t *testing.T) {
	h := begun(t)
	require.NoError(t, os.RemoveAll(filepath.Join(h.dir, ".claude/tasks/.list.fsmtx")))
	h.write(".claude/skills/inner/fsm.json", `[{"id": 1, "subject": "a"}]`)
	result, err := h.calls(hydrate.Request{Command: "inner"}, hydrate.Options{})
	require.NoError(t, err)
	assert.Nil(t, result.Nested)
	assert.Len(t, result.Deleted, 2)
}

// TestNothingIsReplacedWhileTheStateCannotBeRead: only the state tells whether work on a workflow has begun.
func TestNothingIsReplacedWhileTheStateCannotBeRead(t *testing.T) {
	h := begun(t)
	h.write(".claude/skills/inner/fsm.json", `[{"id": 1, "subject": "a"}]`)
	h.write(".claude/tasks/.list.fsmtx/steps.jsonl", "")
	before := h.tasks()
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "read" && filepath.Base(s.Path) == "steps.jsonl" {
			return syscall.EIO
		}
		return nil
	}}
	r := hydrate.Request{Event: "PostToolUse", Session: "list", Command: "inner", Project: h.dir}
	_, err := hydrate.Run(t.Context(), r, h.env, hydrate.Options{LockTimeout: 5 * time.Second, FS: files})
	require.ErrorIs(t, err, syscall.EIO)
	assert.ErrorContains(t, err, "nothing was replaced")
	assert.Equal(t, before, h.tasks())
}

// callFor calls a skill for a session that works the workflows of these skills.
func (h *home) callFor(command string, flat bool, mine ...string) hydrate.Result {
	result, err := h.calls(hydrate.Request{Command: command}, hydrate.Options{Flat: flat,
		Mine: func(name string) bool { return slices.Contains(mine, name) }})
	require.NoError(h.t, err)
	return result
}

// TestOthersWorkflowsStay: what another session has open stays, with what is finished under its steps; the
// caller's own workflow, and what others have finished, is replaced as in one session.
func TestOthersWorkflowsStay(t *testing.T) {
	const open, done = `[{"id": 1, "subject": "a"}]`, `[{"id": 1, "subject": "a", "status": "completed"}]`
	h := begun(t)
	for name, spec := range map[string]string{"under": done, "past": done, "own": open, "next": open} {
		h.write(".claude/skills/"+name+"/fsm.json", spec)
	}
	require.NotNil(t, h.callFor("under", false, "outer").Nested)
	h.callFor("past", false)
	require.Equal(t, []int64{5}, created(h.callFor("own", false)))
	result := h.callFor("next", false, "own")
	assert.Equal(t, []int64{6}, created(result))
	assert.Equal(t, []string{"5"}, deleted(result))
	assert.Nil(t, result.Nested)
	assert.Equal(t, []string{"6"}, deleted(h.callFor("next", true)), "its own skill starts over")
	assert.Empty(t, deleted(h.callFor("own", true)), "with --nest off, too")
	assert.Len(t, h.tasks(), 5)
}

// TestCallThatAnothersStepDemands: the call counts for every step in progress that demands the skill,
// wherever its workflow comes.
func TestCallThatAnothersStepDemands(t *testing.T) {
	h := newHome(t)
	const demands = `{"fsm": 2, "steps": [{"id": 1, "subject": "a", "do": "inner", "status": "in_progress"}, {"id": 2, "subject": "b"}]}`
	h.write("project/sub/file", "")
	h.write(".claude/skills/outer/fsm.json", demands)
	h.write(".claude/skills/own/fsm.json", `[{"id": 1, "subject": "c", "status": "in_progress"}]`)
	h.write(".claude/skills/inner/fsm.json", `[{"id": 1, "subject": "d", "status": "completed"}]`)
	h.callFor("outer", false)
	h.callFor("own", false)
	result := h.callFor("inner", true, "own")
	assert.Nil(t, result.Nested)
	s, err := state.Load(t.Context(), h.list())
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(s.Evidence, func(e state.Evidence) bool { return e.Step == 1 && e.Verdict == state.Called }))

	result = h.callFor("inner", false)
	require.NotNil(t, result.Nested)
	assert.Equal(t, "outer", result.Nested.Skill)
}

func created(r hydrate.Result) (ids []int64) {
	for _, c := range r.Created {
		ids = append(ids, c.ID)
	}
	return ids
}

func deleted(r hydrate.Result) (ids []string) {
	for _, d := range r.Deleted {
		ids = append(ids, d.ID)
	}
	return ids
}

// TestEnforcementOfBegin: whatever call to the file system fails, an agent replaces no unfinished workflow by itself.
func TestEnforcementOfBegin(t *testing.T) {
	worlds.Long(t)
	h := newHome(t)
	h.write(".claude/skills/outer/fsm.json", `[{"id": 1, "subject": "one"}, {"id": 2, "subject": "two"}]`)
	h.write(".claude/skills/inner/fsm.json", `[{"id": 1, "subject": "a"}]`)
	_, err := h.calls(hydrate.Request{Command: "outer"}, hydrate.Options{})
	require.NoError(t, err)
	before, tried := h.tasks(), 0
	r := hydrate.Request{Event: "PostToolUse", Session: "list", Command: "inner", Project: h.dir, Begun: true}
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.ENOENT, syscall.EROFS, syscall.EMFILE, syscall.ELOOP} {
		for n := 0; ; n++ {
			var failed *faultfs.Step
			files := faultfs.Fail(vfs.OS{}, n, errno, func(s faultfs.Step) { failed = &s })
			_, err := hydrate.Run(t.Context(), r, h.env,
				hydrate.Options{LockTimeout: 5 * time.Second, FS: files, FromClient: func() bool { return false }})
			require.Error(t, err, "%v at step %d", errno, n)
			require.Equal(t, before, h.tasks(), "%v at step %d", errno, n)
			if failed == nil {
				require.ErrorIs(t, err, hydrate.ErrReplaces)
				break
			}
			tried++
		}
	}
	t.Logf("%d faults", tried)
	_, err = hydrate.Run(t.Context(), r, h.env, hydrate.Options{LockTimeout: 5 * time.Second})
	require.NoError(t, err)
	assert.NotEqual(t, before, h.tasks())
}
