package state

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
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
	whole, wrong = parseEvidence([]byte(forged + "\n\n" + string(line) + "\n" + `{"sum":"00000000",` + forged[1:] + "\n" + forged[:40]))
	require.Equal(t, []Evidence{e}, whole)
	require.Equal(t, 2, wrong, "the last one is torn")
}

// TestAnUpdateDoesNotReadTheWholeEvidence: what it reads does not grow with the session, and
// decisions are the same as with all of it.
func TestAnUpdateDoesNotReadTheWholeEvidence(t *testing.T) {
	l := hydrated(t, Step{}, Step{BlockedBy: ids(3)}, Step{}, Step{})
	at := time.Now().UTC()
	l.writes(Evidence{Time: at, Step: 1, From: pending, To: completed, Verdict: Reached, Outcome: machine.Done, Round: 1})
	for n := range 3 {
		l.writes(Evidence{Time: at, Step: 2, From: pending, To: inProgress, Verdict: Deny, Why: "order", Times: n + 1})
	}
	for range 200 {
		l.writes(Evidence{Time: at, Step: 4, From: pending, To: pending, Verdict: Allow, Why: "no gate applies", Note: strings.Repeat("n", 1000)})
	}
	l.writes(Evidence{Time: at, Step: 4, From: pending, To: inProgress, Verdict: Allow})

	whole, quick := l.read(true), l.read(false)
	require.Less(t, quick.tail, maxTail+2<<10)
	require.Less(t, len(quick.Evidence), 40)
	require.Len(t, whole.Evidence, 4+200+1)
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

	// A file that was replaced, or a damaged snapshot, is noticed.
	data, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.evidenceFile(), []byte(strings.ReplaceAll(string(data), "nnn", "mmm")), 0o600))
	require.Greater(t, l.read(false).tail, 100<<10)
	require.NoError(t, os.WriteFile(l.evidenceFile(), data, 0o600))
	require.Less(t, l.read(false).tail, maxTail+2<<10)
	snapshot := filepath.Join(filepath.Dir(l.evidenceFile()), SnapshotFile)
	text, err := os.ReadFile(snapshot)
	require.NoError(t, err)
	for at := range text {
		damaged := append([]byte{}, text...)
		damaged[at] ^= 4
		_, _, _, ok := parseSnapshot(damaged)
		require.False(t, ok, "byte %d of %q", at, text[:at])
	}
}

// A file that has grown large keeps all but old denials.
func TestOldDenialsAreDropped(t *testing.T) {
	l := hydrated(t, Step{}, Step{BlockedBy: ids(3)}, Step{})
	done := Evidence{Time: time.Now().UTC(), Step: 1, From: pending, To: completed, Verdict: Reached, Outcome: machine.Done, Round: 1}
	denial := Evidence{Time: done.Time, Step: 2, From: pending, To: completed, Verdict: Deny, Why: strings.Repeat("x", 1000)}
	l.writes(done, denial)
	other := denial
	other.Step = 50
	data, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	add := func(e Evidence) {
		line, err := e.line()
		require.NoError(t, err)
		data = append(append(data, line...), '\n')
	}
	for len(data) < maxEvidence-4000 {
		add(denial)
		add(other)
	}
	other.Why = ""
	empty, err := other.line()
	require.NoError(t, err)
	other.Why = strings.Repeat("x", maxEvidence-1-len(data)-len(empty)-1) // the next line is one too many
	add(other)
	require.Len(t, data, maxEvidence-1)
	require.NoError(t, os.WriteFile(l.evidenceFile(), data, 0o600))

	l.writes(Evidence{Time: done.Time, Step: 3, From: pending, To: inProgress, Verdict: Allow})
	var kept []int64
	for _, e := range l.state().Evidence {
		kept = append(kept, e.Step)
	}
	require.Equal(t, ids(1, 2, 2, 2, 3), kept)
	require.True(t, l.state().Step(1).Done())
}

// A reader without the lock may find the record of running checks while it is replaced in
// place: it reads again.
func TestAHalfWrittenPendingRecordIsReadAgain(t *testing.T) {
	whole := `[{"step":1,"call":"x","pid":` + message.Itoa(int64(os.Getpid())) + `,"start":"` + caller.StartOf(os.Getpid()) + `"}]`
	s := &State{}
	s.readPending(&tornSource{texts: []string{"", whole[:20], whole}})
	require.Len(t, s.Pending, 1)
	s = &State{}
	s.readPending(&tornSource{})
	require.Empty(t, s.Pending, "without a file there is nothing to wait for")
	s = &State{}
	s.readPending(&tornSource{texts: []string{"x"}})
	require.Empty(t, s.Pending, "what stays damaged names nobody")
}

// tornSource has the texts one after the other, and then the last one.
type tornSource struct {
	Source
	texts []string
}

func (s *tornSource) ReadState(string) ([]byte, error) {
	if len(s.texts) == 0 {
		return nil, nil
	}
	text := s.texts[0]
	s.texts = s.texts[min(1, len(s.texts)-1):]
	return []byte(text), nil
}

// TestAFileIsThinnedOncePerDoubling: what is left of a large file may be large, too. An
// update must not read it each time.
func TestAFileIsThinnedOncePerDoubling(t *testing.T) {
	require.False(t, outgrows(0, maxEvidence-1))
	require.True(t, outgrows(maxEvidence-1, 1))
	require.False(t, outgrows(maxEvidence, 100))
	require.True(t, outgrows(2*maxEvidence-50, 100))
	require.False(t, outgrows(2*maxEvidence+50, 100))
	rapid.Check(t, func(t *rapid.T) {
		size, rewritten := int64(0), 0
		for size < 9*maxEvidence {
			more := rapid.Int64Range(1, maxEvidence).Draw(t, "more")
			if outgrows(size, more) {
				rewritten++
			}
			size += more
		}
		require.Equal(t, 4, rewritten, "at 4, 8, 16 and 32 MiB")
	})
}

// TestTheNewestLines: of a file that is too large the last lines are kept, and before them what
// decisions depend on.
func TestTheNewestLines(t *testing.T) {
	first := Evidence{Time: time.Unix(1, 0), Step: 1, From: pending, To: completed, Verdict: Allow}
	all := []Evidence{first}
	for i := range maxKept + 10 {
		all = append(all, Evidence{Time: time.Unix(int64(i+2), 0), Step: 2, From: pending, To: inProgress, Verdict: Allow})
	}
	kept := newest(all)
	require.Len(t, kept, maxKept+1)
	require.Equal(t, first, kept[0])
	require.Equal(t, essence(all), essence(kept))
	require.Equal(t, all[:5], newest(all[:5]))
}

// TestWhatStaysOfCalls: a yes survives, and one that is used up does not come back; of the same refusal the last few are kept.
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
	many := append(slices.Clone(s.Calls), slices.Repeat([]Evidence{{Step: 2, Verdict: Deny, Rule: rule}}, 10)...)
	require.Len(t, s.thin(many), 3+MaxRepeats)
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
