package rules

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// Names of the files in the feature directory by default.
const (
	stateName = ".planning-state.local.md"
	lockName  = ".planning.lock"
	auditName = ".planning-audit.log"
	specName  = "spec.md"
)

// The agents that have a rule of their own by default.
const (
	agents       = "product-planning:"
	techLead     = agents + "tech-lead"
	architect    = agents + "software-architect"
	qaStrategist = agents + "qa-strategist"
)

// defaults is the configuration of a plugin that sets nothing.
var defaults = configOf(guard.Config{})

func configFrom(t *testing.T, text string) configuration {
	return configOf(guard.ConfigOf(must(frontmatter.Parse([]byte(text)))))
}

// getenv is an environment with these variables. The rules bind everywhere unless
// PLANNING_BINDS is set; binds_test.go tests where they bind.
func getenv(vars map[string]string) func(string) string {
	return func(name string) string {
		if value, ok := vars[name]; ok || name != "PLANNING_BINDS" {
			return value
		}
		return bindsAlways
	}
}

// newCall returns a call in a session whose files are in dir.
func newCall(dir, session string) *call {
	env := getenv(map[string]string{"PLANNING_STATE_DIR": dir})
	return &call{Call: &guard.Call{Event: &client.Event{SessionID: session}, Session: guard.SessionOf(session, env)}, config: defaults}
}

func rulesRun(t *testing.T, id, input string, vars map[string]string) client.Answer {
	r, ok := Find(id)
	require.True(t, ok, id)
	return guard.Run(r, strings.NewReader(input), getenv(vars), nil)
}

func explain(t *testing.T, id, input string, vars map[string]string) guard.Explanation {
	r, ok := Find(id)
	require.True(t, ok, id)
	return guard.Explain(r, strings.NewReader(input), getenv(vars))
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func refuses(v guard.Verdict) bool { return v.Word == "DENY" || v.Word == "BLOCK" }

func readFile(t require.TestingT, path string) string {
	return string(must(os.ReadFile(path)))
}

// readBudget returns the budget in a file; a missing file has an empty one.
func readBudget(t require.TestingT, path string) Budget {
	data, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return must(parseBudget(data))
}
