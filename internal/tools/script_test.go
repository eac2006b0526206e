package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/overseer"
	"github.com/fsmtx/fsmtx/internal/harness/sessions"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// TestMain runs the tests, or fsmtx in a process that a test kills.
func TestMain(m *testing.M) {
	overseer.Become()
	if os.Getenv(isProgram) != "" {
		os.Exit(tools.Main(os.Args[1:], callers.Played()))
	}
	sessions.Main(sessions.OnPath{M: m})
}

// isProgram is the environment variable with which this program is fsmtx.
const isProgram = "FSMTX_TEST_FSMTX"

// raceOptions passes the options of the race detector to a program that a test starts with an
// environment of its own. Without them each such program waits a second before it exits.
var raceOptions = "GORACE=" + os.Getenv("GORACE")

// TestScript runs the sessions that no other package does.
func TestScript(t *testing.T) { sessions.Run(t, "../../testdata/script") }

// TestEveryScenarioHasASession: every scenario in testdata/scenarios.txt is named in the
// first line of exactly one session.
func TestEveryScenarioHasASession(t *testing.T) {
	list, err := os.ReadFile("../../testdata/scenarios.txt")
	require.NoError(t, err)
	all, err := filepath.Glob("../../testdata/script/*.txtar")
	require.NoError(t, err)
	var shown []string
	for _, path := range all {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(text), "\n")
		require.True(t, strings.HasPrefix(first, "# "), "%s: the first line does not say what the session shows", path)
		shown = append(shown, regexp.MustCompile(`SCN-THS-[0-9]+\.[0-9]+`).FindAllString(first, -1)...)
	}
	require.ElementsMatch(t, strings.Fields(string(list)), shown)
}
