package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestASearchThroughLinksEnds: with links to the directory itself the number of paths grows
// with each wildcard, the number of directories does not.
func TestASearchThroughLinksEnds(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, os.Symlink(".", filepath.Join(dir, name)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.md"), []byte("x"), 0o644))
	deep := strings.Repeat("*/", 30)
	seen := bounds{time.Minute, 1000}.lookFor(t.Context(), dir, wanted{patterns: []string{deep + "*.md", deep + "*.txt", "a/b/c/x.md"}})
	require.Empty(t, seen.limit)
	require.Equal(t, []string{deep + "*.txt"}, seen.missing)
}

func TestASearchIsBounded(t *testing.T) {
	dir := t.TempDir()
	for n := range 50 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o644))
	}
	both := wanted{patterns: []string{"*", "b"}}
	seen := bounds{time.Minute, 60}.lookFor(t.Context(), dir, wanted{patterns: []string{"*"}})
	require.Equal(t, "the search for * met more than 60 names", seen.limit)
	seen = bounds{0, 800}.lookFor(t.Context(), dir, both) // the clock is looked at when 768 are left
	require.Contains(t, seen.limit, " did not end within 0s")
	seen = bounds{time.Minute, 1000}.lookFor(t.Context(), dir, both)
	require.Empty(t, seen.limit)
	require.Equal(t, []string{"*", "b"}, seen.missing, "all files are empty")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0))
	seen = lookFor(t.Context(), dir, wanted{patterns: []string{"closed/*"}})
	require.Empty(t, seen.limit)
	require.Equal(t, []string{"closed/*"}, seen.missing)
}

// TestTail keeps the end of any output, and the digest of all of it.
func TestTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out := newTail()
		var all []byte
		for range rapid.IntRange(0, 3).Draw(t, "writes") {
			n := rapid.SampledFrom([]int{0, 1, 100, tailBytes - 1, tailBytes, tailBytes + 1, tailBytes + tailBytes/3}).Draw(t, "bytes")
			line := rapid.SampledFrom([]string{"a\n", "line of é\n", "x"}).Draw(t, "line")
			chunk := []byte(strings.Repeat(line, n/len(line)+1)[:n])
			all = append(all, chunk...)
			written, err := out.Write(chunk)
			require.NoError(t, err)
			require.Equal(t, n, written)
		}
		require.Equal(t, digest(all), out.digest())
		require.True(t, strings.HasSuffix(string(all), out.text()))
		require.Equal(t, lastLines(string(all)), lastLines(out.text()))
	})
}

// TestAnUpdateDoesNotReadTheWholeEvidence: what it reads does not grow with the session, and
// decisions are the same as with all of it.
func TestAnUpdateDoesNotReadTheWholeEvidence(t *testing.T) {
	l := hydrated(t, Step{}, Step{BlockedBy: []int64{3}}, Step{Approval: "Yes?"}, Step{})
	l.allows(1, completed)
	for range 3 {
		l.denies(2, inProgress)
	}
	long, err := Evidence{Time: time.Now().UTC(), Step: 4, From: pending, To: pending, Verdict: Allow, Why: "no gate applies",
		Note: strings.Repeat("n", 1000)}.line()
	require.NoError(t, err)
	before, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.evidenceFile(), []byte(string(before)+strings.Repeat(string(long)+"\n", 200)), 0o600))
	l.allows(4, inProgress)

	whole, quick := l.read(true), l.read(false)
	require.Less(t, quick.tail, 2<<10)
	require.Less(t, len(quick.Evidence), 10)
	require.Len(t, whole.Evidence, 5+200+1)
	for i, c := range whole.Steps {
		require.Equal(t, c.Done(), quick.Steps[i].Done())
		for _, last := range []func(*State) (Evidence, bool){
			func(s *State) (Evidence, bool) { return s.last(c.ID) }, func(s *State) (Evidence, bool) { return s.latest(c.ID) },
		} {
			a, okA := last(whole)
			b, okB := last(quick)
			require.Equal(t, okA, okB)
			require.Equal(t, a, b)
		}
	}
	require.True(t, quick.Step(1).Done())

	// A file that was replaced, or a damaged snapshot, is noticed.
	data, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.evidenceFile(), []byte(strings.Replace(string(data), "nnn", "mmm", -1)), 0o600))
	require.Greater(t, l.read(false).tail, 100<<10)
	require.NoError(t, os.WriteFile(l.evidenceFile(), data, 0o600))
	require.Less(t, l.read(false).tail, 2<<10)
	snapshot := filepath.Join(filepath.Dir(l.evidenceFile()), snapshotFile)
	text, err := os.ReadFile(snapshot)
	require.NoError(t, err)
	for at := range text {
		damaged := append([]byte{}, text...)
		damaged[at] ^= 4
		_, _, _, ok := parseSnapshot(damaged)
		require.False(t, ok, "byte %d of %q", at, text[:at])
	}
}

// read reads the state, whole or as an update does.
func (l *list) read(whole bool) *State {
	l.t.Helper()
	src, r := openRecord(l.List.Dir)
	defer src.close()
	s, err := r.steps.state(l.t.Context(), l.List.Dir, src.source(), whole)
	require.NoError(l.t, err)
	return s
}

// TestEssence: whatever happened, decisions are the same from the essence of the evidence.
func TestEssence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stateOf(stepLine{id: 1, status: pending}, stepLine{id: 2, status: completed}, stepLine{id: 3, status: pending})
		for range rapid.IntRange(0, 12).Draw(t, "decisions") {
			e := Evidence{
				Time: s.Time, Step: rapid.Int64Range(1, 3).Draw(t, "step"), From: rapid.SampledFrom([]string{pending, completed}).Draw(t, "from"),
				To:      rapid.SampledFrom([]string{inProgress, completed}).Draw(t, "to"),
				Verdict: rapid.SampledFrom([]Decision{Allow, Deny, Deny, Ask, Override}).Draw(t, "verdict"),
				Why:     rapid.SampledFrom([]string{"a", "b"}).Draw(t, "why"),
			}
			if n := s.repeats(e) + 1; n > 1 && !e.lets() {
				e.Times = n
			}
			s.Evidence = append(s.Evidence, e)
		}
		short := *s
		short.Steps, short.Evidence = stateOf(stepLine{id: 1, status: pending}, stepLine{id: 2, status: completed},
			stepLine{id: 3, status: pending}).Steps, essence(s.Evidence)
		s.fold()
		short.fold()
		for id := int64(1); id <= 3; id++ {
			require.Equal(t, s.Step(id).Done(), short.Step(id).Done())
			require.Equal(t, s.AwaitsPerson(s.Step(id)), short.AwaitsPerson(short.Step(id)))
			for _, verdict := range []Decision{Deny, Ask} {
				for _, why := range []string{"a", "b"} {
					e := Evidence{Step: id, To: completed, Verdict: verdict, Why: why}
					require.Equal(t, s.repeats(e), short.repeats(e))
				}
			}
		}
		require.LessOrEqual(t, len(short.Evidence), 3*3+1)
	})
}

// TestDamagedLines: a line that was changed is not believed, nor one without a checksum; the others stand.
func TestDamagedLines(t *testing.T) {
	e := Evidence{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Step: 1, From: pending, To: completed, Verdict: Allow,
		Why: "in order", By: By{Who: TheAgent, How: ByUpdate}}
	line, err := e.line()
	require.NoError(t, err)
	whole, wrong := parseEvidence(line)
	require.Equal(t, []Evidence{e}, whole)
	require.Zero(t, wrong)
	for at := range line {
		for bit := range 8 {
			damaged := append([]byte{}, line...)
			damaged[at] ^= 1 << bit
			believed, _ := parseEvidence(damaged)
			for _, got := range believed {
				got.Time = e.Time
				require.Equal(t, e, got, "byte %d, bit %d: %s", at, bit, damaged)
			}
		}
	}
	const forged = `{"time":"2026-01-02T03:04:05Z","step":1,"from":"pending","to":"completed","verdict":"allow","why":"x"}`
	whole, wrong = parseEvidence([]byte(forged + "\n\n" + string(line) + "\n" + `{"sum":"00000000",` + forged[1:] + "\n" + forged[:40]))
	require.Equal(t, []Evidence{e}, whole)
	require.Equal(t, 2, wrong, "the last one is torn")
}

// TestASearchThatDoesNotEndDenies: what was not found in time is not there.
func TestASearchThatDoesNotEndDenies(t *testing.T) {
	l := hydrated(t, Step{Produces: []string{"*.md"}})
	for i := range 600 {
		require.NoError(t, os.WriteFile(filepath.Join(l.project, strconv.Itoa(i)), nil, 0o644))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, step := &call{Frame: l.Frame, facts: map[factKey]fact{}}, l.state().Step(1)
	c.find(ctx, []lookup{{step: step, kind: producedFiles, wanted: wanted{patterns: step.Produces}}})
	v := files(step, atCompletion, c.facts[factKey{1, producedFiles}])
	require.Equal(t, Deny, v.Decision)
	require.Contains(t, v.Reason, "the search for *.md did not end within 5s in "+l.project)
}
