package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// checkpointWorld is a feature directory and an event of H05 that wrote its state file.
type checkpointWorld struct {
	vars                 map[string]string
	state, audit, budget string // paths
	input                string // the event
}

func newCheckpointWorld(t *testing.T) checkpointWorld {
	feature, dir := t.TempDir(), t.TempDir()
	vars := map[string]string{"PLANNING_STATE_DIR": dir, "PLANNING_FEATURE_DIR": feature}
	state := filepath.Join(feature, stateName)
	return checkpointWorld{
		vars: vars, state: state, audit: filepath.Join(feature, auditName),
		input:  fmt.Sprintf(`{"session_id":"s","cwd":"/","tool_input":{"file_path":%q}}`, state),
		budget: BudgetFile(guard.SessionOf("s", getenv(vars))),
	}
}

// enter writes a phase into the state file and returns the output of H05.
func (c checkpointWorld) enter(t *testing.T, phase string) string {
	require.NoError(t, os.WriteFile(c.state, []byte("phase: "+phase+"\n"), 0o600))
	a := rulesRun(t, "H05", c.input, c.vars)
	assert.Zero(t, a.Exit)
	return a.Output
}

func TestTheWrittenFileIsNamedByTheInputOrElseTheResponse(t *testing.T) {
	root := worlds.Tree(t, "a/sub/", "b/", "other.md", "link -> a", "far/link -> ../a/sub")
	for _, dir := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, dir, stateName), []byte("phase: PLAN\n"), 0o600))
	}
	for fields, want := range map[string]string{
		`"tool_input":{"file_path":"a/%[1]s"}`:                                        "UNKNOWN → PLAN",
		`"tool_input":{"file_path":"link/%[1]s"}`:                                     "UNKNOWN → PLAN",
		`"tool_input":{"file_path":"far/link/../%[1]s"}`:                              "UNKNOWN → PLAN",
		`"tool_input":{},"tool_response":{"filePath":"a/%[1]s"}`:                      "UNKNOWN → PLAN",
		`"tool_input":{"file_path":"a/%[1]s"},"tool_response":{"filePath":"b/%[1]s"}`: "UNKNOWN → PLAN",
		`"tool_input":{"file_path":"b/%[1]s"},"tool_response":{"filePath":"a/%[1]s"}`: "Not the state file",
		`"tool_input":{"file_path":"b/%[1]s"}`:                                        "Not the state file",
		`"tool_input":{"file_path":"other.md"}`:                                       "Not the state file",
		`"tool_input":{"file_path":"missing/%[1]s"}`:                                  "Not the state file",
		`"tool_input":{}`: "Not the state file",
	} {
		if strings.Contains(fields, "%") {
			fields = fmt.Sprintf(fields, stateName)
		}
		assert.Contains(t, explain(t, "H05", fmt.Sprintf(`{"session_id":"s","cwd":%q,%s}`, root, fields),
			map[string]string{"PLANNING_FEATURE_DIR": "a"}).Detail, want, fields)
	}
}

func TestACheckpointIsALineOfItsOwn(t *testing.T) {
	c := newCheckpointWorld(t)
	require.NoError(t, os.WriteFile(c.audit, []byte("a note without an end"), 0o600))
	assert.Contains(t, c.enter(t, "SETUP"), "UNKNOWN → SETUP")
	assert.Contains(t, c.enter(t, "PLAN"), "SETUP → PLAN")
	assert.Empty(t, c.enter(t, "PLAN"))
	log := readFile(t, c.audit)
	lines := strings.Split(log, "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, "a note without an end", lines[0])
	assert.Regexp(t, `^\[.{20}\] CHECKPOINT: UNKNOWN → SETUP \| session=s \| mode=unknown$`, lines[1])
	assert.Regexp(t, `^\[.{20}\] CHECKPOINT: SETUP → PLAN \| `, lines[2])
}

func TestACheckpointResetsOnlyAnExistingBudget(t *testing.T) {
	c := newCheckpointWorld(t)
	c.enter(t, "SETUP")
	assert.NoFileExists(t, c.budget)
	assert.NoFileExists(t, c.budget+".lock")
	require.NoError(t, os.WriteFile(c.budget, []byte(`{"session_total":4,"phase_total":4}`), 0o600))
	c.enter(t, "PLAN")
	b := readBudget(t, c.budget)
	assert.Equal(t, Budget{SessionTotal: 4, CurrentPhase: "PLAN", PerServer: map[string]int{}, CallHashes: []string{}}, b)
	require.NoError(t, os.WriteFile(c.budget, []byte(`{bad`), 0o600))
	c.enter(t, "TASKS")
	data := readFile(t, c.budget)
	assert.Equal(t, "{bad", data, "the next research call starts a broken one anew")
}

// TestBudgetAfter: who else wrote the file meanwhile, and a change that is not in the audit
// log, decide whether the count begins anew.
func TestBudgetAfter(t *testing.T) {
	inPlan := []byte(`{"session_total":4,"phase_total":4,"current_phase":"PLAN"}`)
	for name, c := range map[string]struct {
		old     []byte
		audited bool
		phase   string
		changed bool
	}{
		"a new phase":                        {inPlan, true, "TASKS", true},
		"a new phase that is not in the log": {inPlan, false, "TASKS", true},
		"the same phase, entered again":      {inPlan, true, "PLAN", true},
		"the same phase, written again":      {inPlan, false, "PLAN", false},
		"the file is gone":                   {nil, true, "PLAN", false},
		"the file is gone, no log":           {nil, false, "PLAN", false},
		"the file is broken":                 {[]byte(`{bad`), true, "PLAN", false},
		"a negative count":                   {[]byte(`{"phase_total":-1}`), true, "PLAN", false},
	} {
		b, changed := budgetAfter(c.old, c.phase, c.audited)
		assert.Equal(t, c.changed, changed, name)
		if changed {
			assert.Equal(t, c.phase, b.CurrentPhase, name)
			assert.Zero(t, b.PhaseTotal, name)
			assert.Equal(t, 4, b.SessionTotal, name)
		}
	}
}

func TestACheckpointOfAnUnnamedSessionKeepsNoBudget(t *testing.T) {
	c := newCheckpointWorld(t)
	anyone := BudgetFile(guard.SessionOf("", getenv(c.vars)))
	require.NoError(t, os.WriteFile(anyone, []byte(`{"phase_total":4}`), 0o600))
	require.NoError(t, os.WriteFile(c.state, []byte("phase: PLAN\n"), 0o600))
	a := rulesRun(t, "H05", strings.Replace(c.input, `"session_id":"s",`, "", 1), c.vars)
	assert.Contains(t, a.Output, "session=unknown")
	data := readFile(t, anyone)
	assert.Equal(t, `{"phase_total":4}`, data)
}

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
