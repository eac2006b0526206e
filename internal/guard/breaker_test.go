package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/client"
)

func TestASymbolicLinkInPlaceOfTheBreakersFileFailsOpen(t *testing.T) {
	b := newBench(t, blocking)
	victim := filepath.Join(b.dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte(`{"T1_test":1}`), 0o600))
	require.NoError(t, os.Symlink(victim, b.session().Breaker()))
	a := b.run(firstStop)
	assert.Equal(t, client.ExitOK, a.Exit)
	assert.Contains(t, a.Output, "not a regular file")
	assert.Equal(t, `{"T1_test":1}`, string(must(os.ReadFile(victim))))
}

func TestABrokenBreakersFileCountsAsZeroAndKeepsOtherMembers(t *testing.T) {
	b := newBench(t, failing)
	file := b.session().Breaker()
	for text, want := range map[string]string{
		`{"T1_`:                          `{"T1_test":1}`,
		`[]`:                             `{"T1_test":1}`,
		`null`:                           `{"T1_test":1}`,
		`{"T1_test":"9","other":"kept"}`: `{"T1_test":1,"other":"kept"}`,
		`{"T1_test":-7,"H03":2}`:         `{"H03":2,"T1_test":1}`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		b.run(firstStop)
		assert.Equal(t, want, string(must(os.ReadFile(file))), text)
	}
}

func TestACounterThatStaysTheSameLeavesTheFileAlone(t *testing.T) {
	file := newBench(t, nil).session().Breaker()
	require.NoError(t, os.WriteFile(file, []byte(`{broken`), 0o600))
	require.NoError(t, changeCounter(file, "x", func(n int) int { return n }))
	assert.Equal(t, `{broken`, string(must(os.ReadFile(file))))
}

func TestWithoutASessionThereIsNoBreaker(t *testing.T) {
	b := newBench(t, blocking)
	require.NoError(t, os.WriteFile(SessionOf("", b.getenv).Breaker(), []byte(`{"T1_test":9}`), 0o600))
	assert.Equal(t, client.ExitBlock, b.run(`{}`).Exit)
}

func TestALongErrorIsCut(t *testing.T) {
	b := newBench(t, func(*Call) (Verdict, error) { return Verdict{}, errors.New(strings.Repeat("é", 2*maxError)) })
	assert.Contains(t, b.run(firstStop).Output, "("+strings.Repeat("é", maxError)+").")
}

// TestPropertyTheBreaker checks the breaker on arbitrary sequences of successes and
// failures: it opens after threshold failures in a row, and then stays open for the
// session.
func TestPropertyTheBreaker(t *testing.T) {
	var outcome error
	b := newBench(t, func(*Call) (Verdict, error) { return Pass(1, "fine"), outcome })
	root := b.plugin(t, "")
	session := 0
	rapid.Check(t, func(t *rapid.T) {
		session++
		threshold := rapid.IntRange(1, 4).Draw(t, "threshold")
		config := fmt.Sprintf("feature_flags: {hooks_enforcement: {circuit_breaker_threshold: %d}}\n", threshold)
		require.NoError(t, os.WriteFile(filepath.Join(root, ConfigFile), []byte(config), 0o600))
		failures := 0
		for _, fails := range rapid.SliceOfN(rapid.Bool(), 1, 10).Draw(t, "fails") {
			if outcome = nil; fails {
				outcome = errors.New("x")
			}
			a := b.run(fmt.Sprintf(`{"session_id":"s%d"}`, session))
			open := strings.Contains(a.Output, "circuit breaker OPEN")
			require.Equal(t, (failures >= threshold), open, "open: %t after %d of %d failures", open, failures, threshold)
			switch {
			case open:
			case fails:
				failures++
			default:
				failures = 0
			}
			if got := b.count(t, SessionOf(fmt.Sprint("s", session), b.getenv).Breaker(), "T1_test"); got != failures {
				t.Fatalf("counted %d, want %d", got, failures)
			}
		}
	})
}
