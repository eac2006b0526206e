package state

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// noted is a line on which no decision depends once there is another one.
func noted(step int64, n int) Evidence {
	return Evidence{Time: time.Unix(int64(n), 0).UTC(), Step: step, From: pending, To: pending, Verdict: Allow, Why: "no gate applies",
		Note: strings.Repeat("n", 1000)}
}

func (l *list) archive() string {
	return filepath.Join(filepath.Dir(l.evidenceFile()), archivePrefix+"a")
}

// TestALineInTheFileAndInTheArchiveCountsOnce: a death after the archive was written leaves all lines in the file, too, and the next
// writing archives them once more.
func TestALineInTheFileAndInTheArchiveCountsOnce(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	done := Evidence{Time: time.Unix(0, 0).UTC(), Step: 1, From: pending, To: completed, Verdict: Reached, Outcome: machine.Done, Round: 1}
	l.writes(done)
	for n := range 15 {
		l.writes(noted(2, n))
	}
	require.NoFileExists(t, l.archive())
	data, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	require.NoError(t, l.Locked(t.Context(), func(dir *txn.Dir) error { return addToArchive(dir, bytes.TrimSuffix(data, []byte("\n"))) }))
	for round := range 3 {
		s := l.read(true)
		require.Equal(t, 16+40*round, len(s.Evidence))
		require.True(t, s.Step(1).Done())
		require.True(t, slices.IsSortedFunc(s.Evidence, func(a, b Evidence) int { return a.Time.Compare(b.Time) }), "in the order of decisions")
		for n := range 40 {
			l.writes(noted(2, 100+40*round+n))
		}
	}
	quick := l.read(false)
	require.Less(t, len(quick.Evidence), 60)
	require.True(t, quick.Step(1).Done())
	all, _, err := l.Decided()
	require.NoError(t, err)
	require.Equal(t, 15+3*40, len(all), "the log has all decisions")
}

// TestWhatIsNeededStays: what decisions depend on about steps that are on record, what counts for nothing, and the last lines.
func TestWhatIsNeededStays(t *testing.T) {
	text := func(e Evidence) string {
		line, err := e.line()
		require.NoError(t, err)
		return string(line) + "\n"
	}
	done := Evidence{Step: 1, From: pending, To: completed, Verdict: Reached, Outcome: machine.Done, Round: 1}
	other := done
	other.Step = 9
	var data strings.Builder
	data.WriteString(text(done) + text(other) + "{}\n" + text(noted(1, 0)))
	rest := ""
	for n := range lastLines {
		rest += text(noted(2, n))
	}
	data.WriteString(rest)
	stay := needed([]byte(data.String()), func(step int64) bool { return step < 9 })
	assert.Equal(t, text(done)+"{}\n"+text(noted(1, 0))+rest, string(stay), "the last word about #1, too")
}

// TestArchivesFollowOneAnother: one that is full is followed by the next.
func TestArchivesFollowOneAnother(t *testing.T) {
	names := []string{lastArchive(nil)}
	for range 60 {
		names = append(names, nextArchive(lastArchive(names)))
	}
	require.True(t, slices.IsSorted(names), names)
	require.Len(t, slices.Compact(names), 61)
	require.Equal(t, []string{"archive.a", "archive.b"}, names[:2])
}

// TestDecisionsAreTheSameWithoutTheArchive: for any decisions about a workflow.
func TestDecisionsAreTheSameWithoutTheArchive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Evidence
		var data []byte
		for n := range rapid.IntRange(30, 90).Draw(t, "lines") {
			e := Evidence{Time: time.Unix(int64(n), 0).UTC(), Step: rapid.Int64Range(1, 3).Draw(t, "step"), From: pending,
				To:      rapid.SampledFrom([]string{inProgress, completed}).Draw(t, "to"),
				Verdict: rapid.SampledFrom([]Decision{Allow, Deny, Deny, Ask, Lapsed, Skip, Ticked}).Draw(t, "verdict"), Why: fmt.Sprint(n % 3)}
			line, err := e.line()
			require.NoError(t, err)
			all, data = append(all, e), append(append(data, line...), '\n')
		}
		stay, _ := parseEvidence(needed(data, func(int64) bool { return true }))
		steps := []stepLine{{id: 1, status: pending}, {id: 2, status: completed}, {id: 3, status: pending}}
		whole, quick := stateOf(steps...), stateOf(steps...)
		whole.Evidence, quick.Evidence = all, stay
		whole.Fold()
		quick.Fold()
		for i, c := range whole.Steps {
			require.Equal(t, whole.Word(c), quick.Word(quick.Steps[i]))
			for _, last := range []func(*State) (Evidence, bool){
				func(s *State) (Evidence, bool) { return s.Last(c.ID) }, func(s *State) (Evidence, bool) { return s.Latest(c.ID) },
				func(s *State) (Evidence, bool) {
					return s.lastOf(c.ID, func(e Evidence) bool { return e.Verdict == Ticked })
				},
			} {
				a, _ := last(whole)
				b, _ := last(quick)
				require.Equal(t, a, b)
			}
		}
	})
}

// TestNothingIsLostWhileLinesAreArchived, whatever fails, or wherever the process dies.
func TestNothingIsLostWhileLinesAreArchived(t *testing.T) {
	died := errors.New("died")
	archived := 0
	for _, dies := range []bool{false, true} {
		for n, more := 0, true; more; n++ {
			l := hydrated(t, `{}`, `{}`)
			l.writes(Evidence{Time: time.Unix(0, 0).UTC(), Step: 1, From: pending, To: completed, Verdict: Reached, Outcome: machine.Done, Round: 1})
			var data []byte
			for n := range 50 {
				line, err := noted(2, n).line()
				require.NoError(t, err)
				data = append(append(data, line...), '\n')
			}
			file, err := os.OpenFile(l.evidenceFile(), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = file.Write(data)
			require.NoError(t, errors.Join(err, file.Close()))

			step := -1
			l.List.FS = &faultfs.Steps{FS: vfs.OS{}, Before: func(faultfs.Step) error {
				if step++; step == n || dies && step > n {
					return died
				}
				return nil
			}}
			err = l.Locked(t.Context(), func(dir *txn.Dir) error {
				s, err := l.stateIn(t.Context(), dir, false)
				if err == nil {
					err = l.Record(dir, s, []Evidence{noted(2, 99)})
				}
				return err
			})
			more = step >= n
			l.List.FS = nil
			s := l.read(true)
			require.Contains(t, map[bool][]int{true: {52}, false: {51, 52}}[err == nil], len(s.Evidence), "step %d, dies: %t: %v", n, dies, err)
			require.True(t, s.Step(1).Done())
			require.Empty(t, s.Troubles)
			if _, err := os.Stat(l.archive()); err == nil {
				archived++
			}
		}
	}
	require.Positive(t, archived)
}
