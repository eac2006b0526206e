package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// TestTheLatestCompletionOfTheLog is found behind later changes to other phases, and nothing else counts as one.
func TestTheLatestCompletionOfTheLog(t *testing.T) {
	at := func(hour int, word, change string) string {
		return fmt.Sprintf("[2026-01-02T%02d:00:00Z] H05: %s | %s\n", hour, word, change)
	}
	log := at(1, "LOG", "PLAN → COMPLETION") + at(2, "LOG", "TASKS → completion") + at(3, "DENY", "PLAN → COMPLETION") +
		at(4, "LOG", "COMPLETION → SETUP") + "no time: LOG | PLAN → COMPLETION\n" + at(5, "LOG", "no change")
	entry, _, _ := strings.Cut(log[strings.Index(log, "[2026-01-02T02"):], "\n")
	assert.Equal(t, must(guard.ParseTimestamp(entry)), defaults.lastCompletion([]byte(log)))
	assert.Zero(t, defaults.lastCompletion([]byte(at(4, "LOG", "COMPLETION → SETUP"))))
	assert.Zero(t, defaults.lastCompletion(nil))
}

func TestLastPhase(t *testing.T) {
	for log, want := range map[string]string{
		"":           "UNKNOWN",
		"a note\n\n": "UNKNOWN",
		"[t] CHECKPOINT: SETUP → RESEARCH | session=a | mode=x\n":                                         "RESEARCH",
		"[t] CHECKPOINT: A → B | session=a | mode=x\n[t] CHECKPOINT: B → C | session=a | mode=y\nlater\n": "C",
		"[t] CHECKPOINT: A → B | session=a | mode=x CHECKPOINT: A → COMPLETION | session=z\n":             "B",
		"[t] CHECKPOINT: A → B → C | session=a\n":                                                         "C",
		"[t] CHECKPOINT: A → B | sess":                                                                    "UNKNOWN",
		"[t] CHECKPOINT: A | session=a\n":                                                                 "UNKNOWN",
	} {
		assert.Equal(t, want, lastPhase([]byte(log)), log)
	}
}

func TestAPhaseIsReadBackAsItWasWritten(t *testing.T) {
	for _, phase := range []string{"A → B", "A | session=x", "A→B|C"} {
		line := transition{from: "X", to: auditable(phase)}.String()
		assert.Equal(t, auditable(phase), lastPhase([]byte(line)), phase)
	}
	rapid.Check(t, func(t *rapid.T) {
		phase := strings.TrimSpace(guard.OneLine(rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Z→| =a-z:]{1,30}`)).Draw(t, "phase")))
		if phase == "" {
			return
		}
		step := transition{from: "A", to: auditable(phase), session: rapid.String().Draw(t, "session"),
			mode: guard.OneLine(rapid.String().Draw(t, "mode"))}
		line := "[t] " + step.String() + "\n"
		if got := lastPhase([]byte(line)); strings.Count(line, "\n") != 1 || got != step.to {
			t.Fatalf("%q became %q", step.to, got)
		}
	})
}
