package together_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestSameInvocationHydratesOnce starts several hooks for one invocation, as a plugin
// and the settings do when both register one.
func TestSameInvocationHydratesOnce(t *testing.T) {
	for n := range 10 {
		w := newWorld(t)
		h := &history{before: w.Tasks(t)}
		h.outcomes = w.runAtOnce(t, slices.Repeat([]call{{skill: "three", use: fmt.Sprint("use", n)}}, 4))
		h.after = w.Tasks(t)
		assert.Equal(t, 1, h.hydrated())
		assert.Equal(t, []string{"1.json", "2.json", "3.json"}, worlds.Names(h.after))
		assert.Empty(t, h.violations())
	}
}

// TestInvocationsWithoutIDHydrateEach is the same without tool_use_id: the hooks
// cannot tell that they serve one invocation.
func TestInvocationsWithoutIDHydrateEach(t *testing.T) {
	w := newWorld(t)
	h := &history{outcomes: w.runAtOnce(t, slices.Repeat([]call{{skill: "three"}}, 4))}
	assert.Equal(t, 4, h.hydrated())
}

// hydrated counts the hooks that created tasks.
func (h *history) hydrated() (n int) {
	for _, o := range h.outcomes {
		if len(o.created) > 0 {
			n++
		}
	}
	return n
}

// TestSubagentsKeepTheParentsWorkflow has subagents invoke skills at once with
// --scope=all: each replaces only the tasks of its own skill. Without the mark of a
// subagent the parent's workflow is replaced.
func TestSubagentsKeepTheParentsWorkflow(t *testing.T) {
	for _, agent := range []bool{true, false} {
		t.Run(fmt.Sprintf("subagent %v", agent), func(t *testing.T) {
			w := newWorld(t)
			w.addManualTask(t, 1)
			parent := w.run(t, call{skill: "five"})
			require.Len(t, parent.created, 5)
			var calls []call
			for _, skill := range []string{"one", "three", "active", "one", "three", "active", "none"} {
				calls = append(calls, call{skill: skill, scope: "all", agent: agent})
			}
			h := &history{before: w.Tasks(t)}
			h.outcomes = w.runAtOnce(t, calls)
			h.after = w.Tasks(t)
			assert.Empty(t, h.violations())
			assert.Equal(t, agent, h.keeps(parent.created), "the parent's workflow")
			if agent {
				assert.Len(t, h.after, 1+5+1+3+2, "each skill's tasks once")
			}
		})
	}
}

// keeps reports whether the named files are unchanged.
func (h *history) keeps(names []string) bool {
	for _, name := range names {
		if f, ok := h.after[name]; !ok || f != h.before[name] {
			return false
		}
	}
	return true
}

// TestScopes invokes different skills at once, each twice. With --scope=skill the
// tasks of every skill are there once; with --scope=all those of exactly one skill.
func TestScopes(t *testing.T) {
	every := map[string]int{"one": 1, "three": 3, "five": 5, "active": 2}
	for scope, check := range map[string]func(t *testing.T, got map[string]int){
		"skill": func(t *testing.T, got map[string]int) { assert.Equal(t, every, got) },
		"all": func(t *testing.T, got map[string]int) {
			require.Len(t, got, 1, "skills that have tasks: %v", got)
			for skill, n := range got {
				assert.Equal(t, every[skill], n, skill)
			}
		},
	} {
		t.Run(scope, func(t *testing.T) {
			for range 5 {
				w := newWorld(t)
				h := &history{before: w.Tasks(t)}
				var calls []call
				for _, skill := range []string{"one", "three", "five", "active", "one", "three", "five", "active"} {
					calls = append(calls, call{skill: skill, scope: scope})
				}
				h.outcomes = w.runAtOnce(t, calls)
				h.after = w.Tasks(t)
				assert.Empty(t, h.violations())
				check(t, h.perSkill(t))
			}
		})
	}
}

// perSkill counts the tasks of each skill in the list after all calls.
func (h *history) perSkill(t *testing.T) map[string]int {
	counts := map[string]int{}
	for name, f := range h.after {
		v, err := parseTask(f)
		require.NoError(t, err, name)
		require.NotNil(t, v.Metadata.FSM, name)
		counts[*v.Metadata.FSM]++
	}
	return counts
}
