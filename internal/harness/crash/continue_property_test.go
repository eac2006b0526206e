package crash

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestAWorkflowThatWandersIsAsOneThatStays draws updates, continuations in other lists, giving back, and deaths at any step of these.
// After each the workflow is in exactly one list, as it is in a list that was never left, and every update has the same answer.
func TestAWorkflowThatWandersIsAsOneThatStays(t *testing.T) {
	base := worlds.MemoryDir(t)
	rapid.Check(t, func(t *rapid.T) {
		stays, wanders := newFlow(t, base, ""), newFlow(t, base, "")
		stays.code(t)
		wanders.code(t)
		lists := []*flow{wanders}
		for _, name := range []string{"second", "third"} {
			l := openFlow(wanders.home)
			l.name = name
			lists = append(lists, l)
		}
		now := 0
		compare := func(about string) {
			want, _, err := stays.stateOf()
			require.NoError(t, err)
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
			switch rapid.SampledFrom([]string{"update", "update", "update", "continue", "back"}).Draw(t, "event") {
			case "update":
				local := rapid.SampledFrom([]int64{1, 2, 3, 4, 5}).Draw(t, "step")
				status := rapid.SampledFrom([]string{inProgress, completed}).Draw(t, "status")
				outcome := ""
				if local == 3 && status == completed {
					outcome = rapid.SampledFrom([]string{"approved", "changes"}).Draw(t, "outcome")
				}
				here := lists[now]
				require.Equal(t, stays.update(local, status, outcome), here.update(here.at(fmt.Sprint(local)), status, outcome))
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
