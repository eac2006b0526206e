package crash

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestAWorkflowThatWandersIsAsOneThatStays draws what is done to a workflow, perhaps with copies or another one under a step: updates, what
// a person decides, calls of a skill, continuations in other lists, giving back, and deaths at any step of these. After each the workflow
// is in exactly one list, as it is in a list that was never left, and whatever was done has had the same answer.
func TestAWorkflowThatWandersIsAsOneThatStays(t *testing.T) {
	base := worlds.MemoryDir(t)
	begins := slices.DeleteFunc(slices.Clone(transitions), func(tr transition) bool { return strings.Contains(tr.name, "script") })
	rapid.Check(t, func(t *rapid.T) {
		stays, wanders := openFlow(""), openFlow("")
		begin := rapid.SampledFrom(begins).Draw(t, "begin")
		for _, w := range []**flow{&stays, &wanders} {
			*w = newFlow(t, base, begin.spec)
			begin.before(t, *w)
		}
		lists := []*flow{wanders}
		for _, name := range []string{"second", "third"} {
			l := openFlow(wanders.home)
			l.name = name
			lists = append(lists, l)
		}
		now := 0
		compare := func(about string) {
			want, there, err := stays.stateOf()
			require.NoError(t, err)
			require.Empty(t, stays.shows(there, nil), about)
			for i, l := range lists {
				st := l.frame().Store
				_, err := st.Resolve(t.Context())
				require.NoError(t, err, about)
				got, s, err := l.stateOf()
				require.NoError(t, err, about)
				if i == now {
					require.Equal(t, want, got, about)
					require.Empty(t, l.shows(s, nil), about)
				} else {
					require.Empty(t, got, "%s: it is in %s, too", about, filepath.Base(l.dir()))
				}
			}
		}
		// moved finds the list in which the workflow is after a death.
		moved := func() {
			for i, l := range lists {
				st := l.frame().Store
				_, err := st.Resolve(t.Context())
				require.NoError(t, err)
				if s, err := state.LoadNow(t.Context(), l.dir()); err == nil && len(s.Steps) > 0 {
					now = i
				}
			}
		}
		files := func() vfs.FS {
			if rapid.Bool().Draw(t, "lives") {
				return vfs.OS{}
			}
			return faultfs.Freeze(vfs.OS{}, rapid.IntRange(0, 140).Draw(t, "dies"), nil)
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "events") {
			_, s, err := stays.stateOf()
			require.NoError(t, err)
			c := rapid.SampledFrom(s.Steps).Draw(t, "step")
			path := pathOf(s, c)
			both := func(do func(w *flow, step int64) bool) {
				require.Equal(t, do(stays, c.ID), do(lists[now], lists[now].at(path)), path)
			}
			switch rapid.SampledFrom([]string{"update", "update", "update", "person", "skill", "continue", "back"}).Draw(t, "event") {
			case "update":
				status, outcome := rapid.SampledFrom([]string{inProgress, completed, completed}).Draw(t, "status"), ""
				if status == completed && len(c.Outcomes) > 0 {
					outcome = rapid.SampledFrom(c.Outcomes).Draw(t, "outcome").Name
				}
				both(func(w *flow, step int64) bool { return w.update(step, status, outcome) })
			case "person":
				what := rapid.SampledFrom([]string{"reopen", "end", "skip"}).Draw(t, "what")
				both(func(w *flow, step int64) bool {
					var err error
					switch what {
					case "reopen":
						_, err = w.frame().Reopen(t.Context(), step, "wrong", person)
					case "end":
						_, err = w.frame().End(t.Context(), step, "enough", person)
					default:
						_, err = w.frame().GoPast(t.Context(), gates.Past{Step: step, Because: "late", WithBlockers: true}, person)
					}
					return err == nil
				})
			case "skill":
				both(func(w *flow, _ int64) bool { return w.calls("notes") == nil })
			case "continue":
				to := rapid.IntRange(0, len(lists)-1).Draw(t, "to")
				if to != now {
					_, _ = lists[now].continues(lists[to], files())
					moved()
				}
			case "back":
				_ = lists[now].givesBack(files())
				moved()
			}
			compare(fmt.Sprintf("event %d", i))
		}
	})
}
