package together_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// same returns n calls that are the same.
func same(n int, c call) []call {
	calls := make([]call, n)
	for i := range calls {
		calls[i] = c
	}
	return calls
}

// TestSameInvocation hydrates once for an invocation that several hooks are told
// of at once, as when a plugin and the settings both register one.
func TestSameInvocation(t *testing.T) {
	for n := range 10 {
		w := newWorld(t)
		h := &history{statuses: w.skills, before: w.files(t)}
		h.outcomes = w.atOnce(t, same(4, call{skill: "three", use: fmt.Sprint("use", n)}))
		h.after = w.files(t)
		assert.Equal(t, 1, h.hydrated())
		assert.Equal(t, []string{"1.json", "2.json", "3.json"}, sorted(h.after))
		assert.Empty(t, h.violations())
	}
}

// TestInvocationsThatNothingTellsApart is the same without the id: they are
// several invocations, and the check sees that.
func TestInvocationsThatNothingTellsApart(t *testing.T) {
	w := newWorld(t)
	h := &history{outcomes: w.atOnce(t, same(4, call{skill: "three"}))}
	assert.Equal(t, 4, h.hydrated())
}

// hydrated counts the hooks that created anything.
func (h *history) hydrated() (n int) {
	for _, o := range h.outcomes {
		if len(o.created) > 0 {
			n++
		}
	}
	return n
}

// TestSubagents has subagents invoke skills at once, whatever scope the hook was
// installed with: each replaces what its own skill made, and the parent's workflow
// stays. Without the mark of a subagent it does not, and the check sees that.
func TestSubagents(t *testing.T) {
	for _, agent := range []bool{true, false} {
		t.Run(fmt.Sprintf("subagent %v", agent), func(t *testing.T) {
			w := newWorld(t)
			w.manual(t, 1)
			parent := w.run(t, call{skill: "five"})
			require.Len(t, parent.created, 5)
			h := &history{statuses: w.skills, before: w.files(t)}
			for _, skill := range []string{"one", "three", "active", "one", "three", "active", "none"} {
				h.outcomes = append(h.outcomes, outcome{call: call{skill: skill, scope: "all", agent: agent}})
			}
			h.outcomes = w.atOnce(t, h.calls())
			h.after = w.files(t)
			assert.Empty(t, h.violations())
			assert.Equal(t, agent, h.keeps(parent.created), "the parent's workflow")
			if agent {
				assert.Len(t, h.after, 1+5+1+3+2, "each skill's tasks once")
			}
		})
	}
}

func (h *history) calls() (calls []call) {
	for _, o := range h.outcomes {
		calls = append(calls, o.call)
	}
	return calls
}

// keeps reports whether the named files are as they were.
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
				h := &history{statuses: w.skills, before: w.files(t)}
				for _, skill := range []string{"one", "three", "five", "active", "one", "three", "five", "active"} {
					h.outcomes = append(h.outcomes, outcome{call: call{skill: skill, scope: scope}})
				}
				h.outcomes = w.atOnce(t, h.calls())
				h.after = w.files(t)
				assert.Empty(t, h.violations())
				check(t, h.perSkill(t))
			}
		})
	}
}

// perSkill counts the tasks that each skill has after it all.
func (h *history) perSkill(t *testing.T) map[string]int {
	counts := map[string]int{}
	for name, f := range h.after {
		v, err := f.task()
		require.NoError(t, err, name)
		require.NotNil(t, v.Metadata.FSM, name)
		counts[*v.Metadata.FSM]++
	}
	return counts
}
