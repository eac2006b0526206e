package hydrate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/steps"
)

// begun is a home with the workflow outer, whose step 1 is in progress.
func begun(t *testing.T) *home {
	h := newHome(t)
	h.write("project/sub/file", "")
	h.write(".claude/skills/outer/fsm.json", `[{"id": 1, "subject": "one", "status": "in_progress"}, {"id": 2, "subject": "two"}]`)
	_, err := h.hydrateFor("outer", "", fsmspec.ScopeAll, false)
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
		wg.Go(func() { _, errs[n] = h.hydrateFor(command, fmt.Sprint("agent", n%2), fsmspec.ScopeAll, false) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	s, err := steps.Load(context.Background(), h.list())
	require.NoError(t, err)
	assert.Len(t, s.Steps, 2+2*calls)
	assert.Len(t, s.Under(s.Step(1)), calls)
	for _, w := range s.Under(s.Step(1)) {
		assert.Contains(t, []string{"agent0", "agent1"}, w.Agent)
	}
}

func TestNestingReadsTheRecordOnlyIfAnotherSkillHasTasks(t *testing.T) {
	h := begun(t)
	state := filepath.Join(h.dir, ".claude/tasks/.list.fsmtx")
	require.DirExists(t, state)
	result, err := h.hydrateFor("outer", "", fsmspec.ScopeAll, false)
	require.NoError(t, err)
	assert.Len(t, result.Deleted, 2, "the same skill starts over")
	assert.Nil(t, result.Nested)
}

func TestNestedResult(t *testing.T) {
	h := begun(t)
	h.write(".claude/skills/inner/fsm.json", `[{"id": 1, "subject": "a"}]`)
	result, err := h.hydrateFor("inner", "", fsmspec.ScopeAll, false)
	require.NoError(t, err)
	assert.Empty(t, result.Deleted)
	require.NotNil(t, result.Nested)
	assert.Equal(t, hydrate.Nested{ID: 1, Step: `#1 "one"`, Skill: "outer", EndOuter: `fsmtx step end 1 --because "..."`}, *result.Nested)

	result, err = h.hydrateFor("inner", "", fsmspec.ScopeAll, false)
	require.NoError(t, err)
	assert.True(t, result.Nested.StartOver)
	assert.Len(t, result.Deleted, 1)

	result, err = h.hydrateFor("inner", "", fsmspec.ScopeAll, true)
	require.NoError(t, err)
	assert.Nil(t, result.Nested)
	assert.Len(t, result.Deleted, 3, "everything is replaced")
	assert.Equal(t, []string{"outer"}, result.Lost)
}

// TestWithoutARecordTasksAreReplaced: an older version put them there, or the record was
// removed.
func TestWithoutARecordTasksAreReplaced(t *testing.T) {
	h := begun(t)
	require.NoError(t, os.RemoveAll(filepath.Join(h.dir, ".claude/tasks/.list.fsmtx")))
	h.write(".claude/skills/inner/fsm.json", `[{"id": 1, "subject": "a"}]`)
	result, err := h.hydrateFor("inner", "", fsmspec.ScopeAll, false)
	require.NoError(t, err)
	assert.Nil(t, result.Nested)
	assert.Len(t, result.Deleted, 2)
}
