package state

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/machine"
)

// TestEssence: whatever happened, decisions are the same from the essence of the evidence.
func TestEssence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stateOf(stepLine{id: 1, status: pending}, stepLine{id: 2, status: completed}, stepLine{id: 3, status: pending})
		for range rapid.IntRange(0, 12).Draw(t, "decisions") {
			e := Evidence{
				Time: s.Time, Step: rapid.Int64Range(1, 3).Draw(t, "step"), From: rapid.SampledFrom([]string{pending, completed}).Draw(t, "from"),
				To:      rapid.SampledFrom([]string{inProgress, completed}).Draw(t, "to"),
				Verdict: rapid.SampledFrom([]Decision{Allow, Deny, Deny, Ask, Skip, End}).Draw(t, "verdict"),
				Why:     rapid.SampledFrom([]string{"a", "b"}).Draw(t, "why"),
			}
			if n := s.Repeats(e) + 1; n > 1 && !e.Lets() {
				e.Times = n
			}
			s.Evidence = append(s.Evidence, e)
		}
		short := *s
		short.Steps, short.Evidence = stateOf(stepLine{id: 1, status: pending}, stepLine{id: 2, status: completed},
			stepLine{id: 3, status: pending}).Steps, essence(s.Evidence)
		s.Fold()
		short.Fold()
		for id := int64(1); id <= 3; id++ {
			require.Equal(t, s.Step(id).Done(), short.Step(id).Done())
			require.Equal(t, s.AwaitsPerson(s.Step(id)), short.AwaitsPerson(short.Step(id)))
			for _, verdict := range []Decision{Deny, Ask} {
				for _, why := range []string{"a", "b"} {
					e := Evidence{Step: id, To: completed, Verdict: verdict, Why: why}
					require.Equal(t, s.Repeats(e), short.Repeats(e))
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
	whole, wrong = parseEvidence([]byte(forged + "\n\n" + string(line) + "\n" + `{"sum":"00000000",` + forged[1:] + "\n" + string(line[:40])))
	require.Equal(t, []Evidence{e}, whole)
	require.Equal(t, 2, wrong, "the last one is torn")
	for at := range line {
		_, wrong = parseEvidence(line[:at])
		require.Zero(t, wrong, "torn: %s", line[:at])
	}
	for _, over := range []string{"xx", forged, forged[:40], `{"sum":"00000000",` + forged[1:]} {
		whole, wrong = parseEvidence([]byte(over))
		require.Empty(t, whole)
		require.Equal(t, 1, wrong, "a crash leaves no %s", over)
	}
}

// TestAnUpdateDoesNotReadTheWholeEvidence: what it reads does not grow with the session, and
// decisions are the same as with all of it.
func TestAnUpdateDoesNotReadTheWholeEvidence(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [3]}`, `{}`, `{}`)
	at := time.Now().UTC()
	l.writes(Evidence{Time: at, Step: 1, From: pending, To: completed, Verdict: Reached, Outcome: machine.Done, Round: 1})
	for n := range 3 {
		l.writes(Evidence{Time: at, Step: 2, From: pending, To: inProgress, Verdict: Deny, Why: "order", Times: n + 1})
	}
	for n := range 200 {
		l.writes(Evidence{Time: at.Add(time.Duration(n)), Step: 4, From: pending, To: pending, Verdict: Allow, Why: "no gate applies",
			Note: strings.Repeat("n", 1000)})
	}
	l.writes(Evidence{Time: at, Step: 4, From: pending, To: inProgress, Verdict: Allow})

	whole, quick := l.read(true), l.read(false)
	file, err := os.Stat(l.evidenceFile())
	require.NoError(t, err)
	require.Less(t, file.Size(), int64(3*minArchived+lastLines*1200))
	require.Less(t, len(quick.Evidence), 70)
	require.Len(t, whole.Evidence, 4+200+1)
	require.True(t, slices.IsSortedFunc(whole.Evidence[4:204], func(a, b Evidence) int { return a.Time.Compare(b.Time) }))
	for i, c := range whole.Steps {
		require.Equal(t, c.Done(), quick.Steps[i].Done())
		for _, last := range []func(*State) (Evidence, bool){
			func(s *State) (Evidence, bool) { return s.Last(c.ID) }, func(s *State) (Evidence, bool) { return s.Latest(c.ID) },
		} {
			a, okA := last(whole)
			b, okB := last(quick)
			require.Equal(t, okA, okB)
			require.Equal(t, a, b)
		}
	}
	require.True(t, quick.Step(1).Done())
}

// essence returns the lines on which decisions depend.
func essence(all []Evidence) (kept []Evidence) {
	for i, keep := range essential(all) {
		if keep {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// TestWhatStaysOfCalls: a yes survives, and one that is used up does not come back.
func TestWhatStaysOfCalls(t *testing.T) {
	const rule = "Bash(git push *)"
	s := stateOf(stepLine{id: 2, status: pending})
	s.Calls = []Evidence{
		{Step: 2, Verdict: Permitted, Rule: rule, Permit: "a"}, {Step: 2, Verdict: Permitted, Rule: rule, Permit: "b"},
		{Step: 2, Verdict: Allow, Rule: rule, Permit: "a"},
	}
	kept := essence(s.Calls)
	require.Equal(t, s.Calls[1:], kept, "the yes that is left, and the last line about a call")
	require.Equal(t, s.Calls[1:2], essence(kept[:1]))
}

// TestWhatTheEssenceKeeps: that a skill was called, that a person is asked, and that a decision has lapsed.
func TestWhatTheEssenceKeeps(t *testing.T) {
	all := []Evidence{{Step: 2, Verdict: Ask, To: completed}, {Step: 2, Verdict: Called, Round: 1}}
	require.Equal(t, all, essence(all))
	started := Evidence{Step: 3, Verdict: Allow, To: inProgress}
	s := stateOf(stepLine{id: 3, status: inProgress})
	s.Evidence = essence([]Evidence{started, {Step: 3, Verdict: Allow, To: completed, Outcome: "approved"}, {Step: 3, Verdict: Lapsed}})
	got, ok := s.Last(3)
	require.True(t, ok)
	require.Equal(t, started, got)
	require.Empty(t, s.NotCarriedOut())
}
