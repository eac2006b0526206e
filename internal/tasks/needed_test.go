package tasks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/txn"
)

// needs returns the number of the oldest change that the list needs, and that of the last one.
func (l *List) needs(t *testing.T) (oldest, last int64) {
	e, err := l.LastChange()
	require.NoError(t, err)
	return NeededFrom(e), e.Number
}

// TestWhatIsNeededOfAHistory: an event reads what came after the change that the last one names. Each of these begins with a list that
// two calls of one skill have changed, of which the second has replaced the first.
func TestWhatIsNeededOfAHistory(t *testing.T) {
	call := func(l *List, command string, scope fsmspec.Scope, r Record, label Label) string {
		l.Record = func(*fsmspec.Plan) (Record, error) { return r, nil }
		spec, err := fsmspec.Parse([]byte(`[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b"}]`))
		require.NoError(t, err)
		label.Command = command
		_, err = l.Replace(t.Context(), label, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
			return spec.Plan(command, snap, fsmspec.Policy{Scope: scope})
		})
		require.NoError(t, err)
		return l.last(t)
	}
	again := func(l *List, r Record) string { return call(l, "skill", fsmspec.ScopeAll, r, Label{}) }
	undo := func(l *List, id string) string {
		_, err := l.Undo(t.Context(), id, true)
		require.NoError(t, err)
		return l.last(t)
	}
	empty := func(l *List) {
		for _, name := range taskFiles(t, l.Dir) {
			require.NoError(t, os.Remove(filepath.Join(l.Dir, name)))
		}
	}
	damage := func(l *List) {
		s, err := txn.StateDir(l.Dir)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(s, "done-"+l.last(t)), nil, 0o600))
	}
	locked := func(l *List, do func(dir *txn.Dir) error) {
		dir, err := l.Open(t.Context())
		require.NoError(t, err)
		defer dir.Close()
		require.NoError(t, do(dir))
	}
	for name, c := range map[string]struct {
		do           func(l *List, second string)
		oldest, last int64
	}{
		"what has replaced all else": {func(*List, string) {}, 2, 2},
		"and again":                  {func(l *List, _ string) { again(l, Record{}) }, 3, 3},
		"a skill beside another": {func(l *List, _ string) {
			call(l, "x", fsmspec.ScopeSkill, Record{}, Label{})
		}, 2, 3},
		"copies under a step": {func(l *List, _ string) {
			call(l, "skill", fsmspec.ScopeSkill, Record{}, Label{Step: 3})
		}, 2, 3},
		"what an undo has brought back":             {func(l *List, second string) { undo(l, second) }, 1, 3},
		"what an undo of the undo has brought back": {func(l *List, second string) { undo(l, undo(l, second)) }, 2, 4},
		"nothing, when all is undone":               {func(l *List, second string) { undo(l, second); undo(l, l.history(t)[0].ID) }, 4, 4},
		"the skill again, when all was done":        {func(l *List, _ string) { empty(l); again(l, Record{}) }, 3, 3},
		"another skill, when all was done": {func(l *List, _ string) {
			empty(l)
			call(l, "x", fsmspec.ScopeAll, Record{}, Label{})
		}, 2, 3},
		"the skill again, when some were done": {func(l *List, _ string) { removeOne(t, l); again(l, Record{}) }, 3, 3},
		"the skill under a step of another":    {func(l *List, _ string) { nests(l, call, empty) }, 2, 4},
		"what the person is told": {func(l *List, _ string) {
			again(l, Record{Tells: true})
			again(l, Record{})
			again(l, Record{})
		}, 3, 5},
		"what cannot be read": {func(l *List, _ string) { damage(l); again(l, Record{}); again(l, Record{}) }, 2, 4},
		"where a workflow went": {func(l *List, _ string) {
			locked(l, func(dir *txn.Dir) error {
				return l.RemoveIn(t.Context(), dir, Label{With: "a", To: "/other", Steps: []int64{3, 4}})
			})
			again(l, Record{})
			again(l, Record{})
		}, 3, 5},
		"what came from elsewhere, with a step that has no task": {func(l *List, _ string) {
			locked(l, func(dir *txn.Dir) error {
				return l.CreateIn(t.Context(), dir, func(int64) ([]fsmspec.Creation, string, Label, int64, error) {
					return nil, "", Label{With: "a", Command: "x", Steps: []int64{5}}, 5, nil
				})
			})
			again(l, Record{})
		}, 3, 4},
		"what was brought back as files": {func(l *List, _ string) {
			empty(l)
			locked(l, func(dir *txn.Dir) error {
				return l.CreateIn(t.Context(), dir, func(int64) ([]fsmspec.Creation, string, Label, int64, error) {
					return []fsmspec.Creation{{ID: 3}, {ID: 4}}, "", Label{Command: "skill", Step: 3}, 4, nil
				})
			})
		}, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			l := newList(t)
			l.Keep = 100
			again(l, Record{})
			c.do(l, again(l, Record{}))
			oldest, last := l.needs(t)
			assert.Equal(t, [2]int64{c.oldest, c.last}, [2]int64{oldest, last})
		})
	}
	l := newList(t)
	again(l, Record{})
	damage(l)
	history := l.history(t)
	assert.Zero(t, NeededFrom(history[0]), "all, if that is not known")
	assert.Zero(t, NeededFrom(txn.Entry{Label: "of another program"}))
}

func removeOne(t *testing.T, l *List) {
	names := taskFiles(t, l.Dir)
	require.NoError(t, os.Remove(filepath.Join(l.Dir, names[0])))
}

// nests calls a skill whose tasks are all gone under a step of another one: a later call under a step ends no earlier one.
func nests(l *List, call func(*List, string, fsmspec.Scope, Record, Label) string, empty func(*List)) {
	empty(l)
	call(l, "outer", fsmspec.ScopeSkill, Record{}, Label{})
	call(l, "skill", fsmspec.ScopeSkill, Record{Under: 5}, Label{})
}

// TestTheNumberFollowsTheHistory: what is needed is named by its number, also when older changes have left the history.
func TestTheNumberFollowsTheHistory(t *testing.T) {
	l := newList(t)
	for range 12 { // the oldest leave the history
		l.replace(t, 1)
	}
	oldest, last := l.needs(t)
	assert.Equal(t, [2]int64{12, 12}, [2]int64{oldest, last})
	assert.True(t, strings.HasPrefix(l.last(t), "n0000000012-"))
}
