package rules

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

func TestTheDescriptionOfTheEnvironmentIsBounded(t *testing.T) {
	facts := environmentFacts{branch: strings.Repeat("b", 9000), feature: "/" + strings.Repeat("f", 9000), continued: true,
		summary: summaryFacts{state: inPhase("PLAN")}}
	for i := range 200 {
		facts.summary.state.gates = append(facts.summary.state.gates, gate{phase: fmt.Sprint(i), verdict: strings.Repeat("v", 90)})
	}
	facts.summary.state.phase = strings.Repeat("p", 101)
	assert.Contains(t, facts.message(), "phase="+guard.Truncate(strings.Repeat("p", 101), 100)+", spec=")
	facts.summary.state.phase = "PLAN"
	message := facts.verdict().Message
	assert.LessOrEqual(t, client.Length(message), maxContext)
	assert.Contains(t, message, "branch="+strings.Repeat("b", 300)+", feature_dir=/"+strings.Repeat("f", 4095)+", ")
	assert.Contains(t, message, "</planning-state>")
}

func TestTheConstitutionIsFoundInTheProjectOrBesideTheFeature(t *testing.T) {
	for name, want := range map[string]bool{"project/specs/constitution.md": true, "plans/constitution.md": true,
		"project/constitution.md": false, "plans/x/constitution.md": false} {
		root := worlds.Tree(t, name, "project/", "plans/x/")
		assert.Equal(t, want, place{root: root + "/project", feature: root + "/plans/x"}.hasConstitution(defaults), name)
	}
	t.Chdir(worlds.Tree(t, "constitution.md"))
	assert.False(t, place{root: "/nowhere"}.hasConstitution(defaults), "without a feature directory")
}

func TestASessionStartRemovesOldSessionFiles(t *testing.T) {
	vars := map[string]string{"PLANNING_STATE_DIR": t.TempDir()}
	old := guard.SessionOf("old", getenv(vars))
	long := time.Now().AddDate(0, 0, -defaults.keepDays-1)
	for _, path := range []string{BudgetFile(old), old.Log()} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, long, long))
	}
	rulesRun(t, "H13", `{"session_id":"s","source":"startup"}`, vars)
	assert.NoFileExists(t, BudgetFile(old))
	assert.NoFileExists(t, old.Log())
}

func TestAnEnvironmentFileThatCannotBeWrittenIsLogged(t *testing.T) {
	dir := t.TempDir()
	vars := map[string]string{"PLANNING_STATE_DIR": dir, "CLAUDE_ENV_FILE": dir}
	a := rulesRun(t, "H13", `{"session_id":"s","source":"startup"}`, vars)
	assert.Contains(t, a.Output, "Planning environment detected")
	log := readFile(t, guard.SessionOf("s", getenv(vars)).Log())
	assert.Contains(t, log, "H13_env_setup: ERROR | CLAUDE_ENV_FILE not written: ")
}
