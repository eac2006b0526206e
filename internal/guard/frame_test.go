package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// bench runs a rule with the given decision, in a state directory of its own.
type bench struct {
	dir  string
	env  map[string]string
	rule Rule
}

func newBench(t testing.TB, decide func(*Call) (Verdict, error)) *bench {
	dir := t.TempDir()
	return &bench{dir, map[string]string{"PLANNING_STATE_DIR": dir}, Rule{ID: "T1", Name: "T1_test", Event: client.SubagentStop,
		Decide: decide}}
}

func (b *bench) run(input string) client.Answer {
	return Run(b.rule, strings.NewReader(input), b.getenv, nil)
}

func (b *bench) getenv(name string) string { return b.env[name] }

func (b *bench) session() Session { return SessionOf("s", b.getenv) }

func (b *bench) count(t require.TestingT, path, name string) int {
	return must(new(Call).counter(path, name))
}

// plugin creates a plugin with the configuration, to which the program then belongs.
func (b *bench) plugin(t testing.TB, config string) (root string) {
	root = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "config"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, ConfigFile), []byte(config), 0o600))
	b.env["CLAUDE_PLUGIN_ROOT"] = root
	return root
}

// stopEvent is the format of an event of session s; its operand is stop_hook_active.
const stopEvent = `{"session_id":"s","stop_hook_active":%t,"agent_id":"a"}`

var (
	firstStop = fmt.Sprintf(stopEvent, false)
	nextStop  = fmt.Sprintf(stopEvent, true)
)

func passing(*Call) (Verdict, error)  { return Pass(1, "done"), nil }
func blocking(*Call) (Verdict, error) { return Block(1, "Not done", "Do it."), nil }
func failing(*Call) (Verdict, error)  { return Verdict{}, errors.New("x") }

func TestAPanicFailsOpenAndIsCounted(t *testing.T) {
	b := newBench(t, func(*Call) (Verdict, error) { panic("a bug\nof ours") })
	a := b.run(firstStop)
	assert.Equal(t, client.ExitOK, a.Exit)
	assert.Empty(t, a.ErrorText)
	assert.JSONEq(t, `{"systemMessage":"Hook T1_test encountered an unexpected error (internal error: a bug of ours). Failing open."}`,
		a.Output)
	assert.Equal(t, 1, b.count(t, b.session().Breaker(), "T1_test"))
}

// panicReader is a standard input whose Read panics.
type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("a bug") }

func TestAPanicBeforeTheRuleFailsOpen(t *testing.T) {
	b := newBench(t, blocking)
	a := Run(b.rule, panicReader{}, b.getenv, nil)
	assert.Equal(t, client.ExitOK, a.Exit)
	assert.Contains(t, a.Output, "internal error: a bug). Failing open.")
}

func TestFailuresWithoutASessionAreNotCounted(t *testing.T) {
	b := newBench(t, failing)
	assert.Contains(t, b.run(`{}`).Output, "Failing open")
	assert.Contains(t, b.run(`not json`).Output, "Failing open")
	assert.Empty(t, must(os.ReadDir(b.dir)))
}

func TestAnUnreadableEventCountsInTheSessionOfTheEnvironment(t *testing.T) {
	b := newBench(t, passing)
	b.env["CLAUDE_CODE_SESSION_ID"] = "s"
	assert.Contains(t, b.run("{").Output, "Failing open")
	assert.Equal(t, 1, b.count(t, b.session().Breaker(), "T1_test"))
	b.run(firstStop)
	assert.Equal(t, 0, b.count(t, b.session().Breaker(), "T1_test"), "a complete run resets the count")
}

func TestWithoutAPluginThereIsNoDevelopmentMode(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("hooks", 0o700))
	require.NoError(t, os.WriteFile("hooks/.dev-mode", nil, 0o600))
	b := newBench(t, blocking)
	assert.Equal(t, client.ExitBlock, b.run(firstStop).Exit)
}

func TestVerboseLogsTheEventAndTheReply(t *testing.T) {
	b := newBench(t, blocking)
	b.env["PLANNING_HOOKS_VERBOSE"] = "true"
	b.run("{\"session_id\": \"s\",\n\t\"x\": 1}")
	lines := strings.Split(string(must(os.ReadFile(b.session().Log()))), "\n")
	require.Len(t, lines, 4)
	assert.Contains(t, lines[0], `T1_test: VERBOSE | input={"session_id": "s", "x": 1}`)
	assert.Contains(t, lines[1], "T1_test: BLOCK | Not done")
	assert.Contains(t, lines[2], `T1_test: VERBOSE | output={"decision": "block"`)
}

func TestExplainChangesNothing(t *testing.T) {
	for name, decide := range map[string]func(*Call) (Verdict, error){"passing": passing, "blocking": blocking, "failing": failing} {
		for _, input := range []string{"{", firstStop, nextStop} {
			b := newBench(t, decide)
			b.env["PLANNING_HOOKS_VERBOSE"] = "true"
			require.NoError(t, os.WriteFile(b.session().Blocks(), []byte(`{"T1:a":1}`), 0o600))
			require.NoError(t, os.WriteFile(b.session().Breaker(), []byte(`{"T1_test":1}`), 0o600))
			assert.NotEmpty(t, Explain(b.rule, strings.NewReader(input), b.getenv).Word)
			assert.Equal(t, 1, b.count(t, b.session().Blocks(), "T1:a"), name)
			assert.Equal(t, 1, b.count(t, b.session().Breaker(), "T1_test"), name)
			assert.Len(t, must(os.ReadDir(b.dir)), 2, "no log, no lock")
		}
	}
}

func TestExplainReturnsTheFacts(t *testing.T) {
	b := newBench(t, func(c *Call) (Verdict, error) {
		c.Fact("colour", "red\nblue")
		return Deny(3, "no\nno"), nil
	})
	e := Explain(b.rule, strings.NewReader(firstStop), b.getenv)
	assert.Equal(t, 3, e.Row)
	assert.Equal(t, "DENY", e.Word)
	assert.Equal(t, "no no", e.Detail)
	assert.Contains(t, e.Facts, Fact{"colour", "red blue"})
}

func TestAnUpdateInADryRunIsComputedAndDiscarded(t *testing.T) {
	c := &Call{Session: newBench(t, nil).session()}
	path := c.Session.Blocks()
	assert.Nil(t, must(c.Read(path)), "a missing file")
	require.NoError(t, c.Update(path, func(old []byte) ([]byte, error) {
		assert.Nil(t, old)
		return []byte("kept"), nil
	}))
	c.DryRun = true
	called := false
	require.NoError(t, c.Update(path, func(old []byte) ([]byte, error) {
		called = true
		assert.Equal(t, "kept", string(old))
		return []byte("discarded"), nil
	}))
	assert.True(t, called)
	assert.Equal(t, "kept", string(must(c.Read(path))))
}

func TestEachVerdictHasItsReply(t *testing.T) {
	for _, c := range []struct {
		verdict    Verdict
		event      string
		exit       int
		out, error string
	}{
		{Pass(1, "d"), client.PreToolUse, 0, "", ""},
		{Warn(1, "d", "w"), client.PreToolUse, 0,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"w"},"systemMessage":"w"}`, ""},
		{Deny(1, "m"), client.PreToolUse, 2,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"m"}}`, "m\n"},
		{Block(1, "R", "S"), client.Stop, 2, `{"decision":"block","reason":"R. S"}`, "R. S\n"},
		{Block(1, "R", "S"), client.SubagentStop, 2, `{"decision":"block","reason":"R. S","systemMessage":"S"}`, "R. S\n"},
		{Inject(1, "W", "d", "c", ""), client.UserPromptSubmit, 0,
			`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`, ""},
		{Inject(1, "W", "d", "c", "u"), client.SessionStart, 0,
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"},"systemMessage":"u"}`, ""},
		{Notice(1, "W", "d", "n"), client.PostToolUse, 0, `{"systemMessage":"n"}`, ""},
		{Notice(1, "W", "d", "n"), client.PreCompact, 0, "", ""},
		{Feedback(1, "f"), client.PostToolUse, 2, "", "f\n"},
	} {
		a := c.verdict.answer(c.event)
		assert.Equal(t, c.exit, a.Exit, c.verdict)
		assert.Equal(t, c.error, a.ErrorText, c.verdict)
		if c.out == "" {
			assert.Empty(t, a.Output, c.verdict)
		} else {
			assert.JSONEq(t, c.out, a.Output)
		}
	}
	assert.Equal(t, "c\n", Inject(1, "W", "d", "c", "u").answer(client.PreCompact).Output)
}

func TestTheWordForNoObjectionDependsOnTheEvent(t *testing.T) {
	for name, word := range map[string]string{client.PreToolUse: "ALLOW", client.Stop: "APPROVE", client.SubagentStop: "APPROVE",
		client.PostToolUse: "SILENT", client.SessionStart: "SILENT"} {
		b := newBench(t, passing)
		b.rule.Event = name
		assert.Equal(t, word, Explain(b.rule, strings.NewReader("{}"), b.getenv).Word, name)
	}
}

// The steps are in the order that the requirements prescribe: each input would also be
// stopped by a later step.
func TestTheOrderOfTheSteps(t *testing.T) {
	b := newBench(t, failing)
	const off = "feature_flags: {hooks_enforcement: {enabled: false, circuit_breaker_threshold: 1}}"
	const open = "feature_flags: {hooks_enforcement: {circuit_breaker_threshold: 1}}"
	word := func(input io.Reader) string { return Explain(b.rule, input, b.getenv).Word }
	root := b.plugin(t, off)
	b.env["CLAUDE_CODE_SESSION_ID"] = "s"
	require.NoError(t, os.WriteFile(b.session().Breaker(), []byte(`{"T1_test":1}`), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "hooks"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "hooks", ".dev-mode"), nil, 0o600))
	assert.Equal(t, "DEV_SKIP", word(strings.NewReader("{")))
	require.NoError(t, os.Remove(filepath.Join(root, "hooks", ".dev-mode")))
	assert.Equal(t, "ERROR", word(strings.NewReader("{")))
	assert.Equal(t, "SKIP", word(strings.NewReader(firstStop)))
	require.NoError(t, os.WriteFile(filepath.Join(root, ConfigFile), []byte(open), 0o600))
	assert.Equal(t, "BREAKER_OPEN", word(strings.NewReader(firstStop)))
	require.NoError(t, os.Remove(b.session().Breaker()))
	assert.Equal(t, "ERROR", word(strings.NewReader(firstStop)))
}

func TestTheDevelopmentModeFileIsConfigurable(t *testing.T) {
	b := newBench(t, blocking)
	root := b.plugin(t, "feature_flags: {hooks_enforcement: {dev_mode_file: pause}}")
	assert.Equal(t, 2, b.run(firstStop).Exit)
	require.NoError(t, os.WriteFile(filepath.Join(root, "pause"), nil, 0o600))
	assert.Zero(t, b.run(firstStop).Exit)
}

// A rule that does not bind writes nothing. Binds is called thoroughly only if the rule
// would act.
func TestARuleThatDoesNotBindIsSilent(t *testing.T) {
	for name, c := range map[string]struct {
		decide     func(*Call) (Verdict, error)
		thoroughly bool
	}{"passing": {passing, false}, "blocking": {blocking, true}, "failing": {failing, true}} {
		b := newBench(t, c.decide)
		calledThoroughly := false
		b.rule.Binds = func(_ *Call, thoroughly bool) bool {
			calledThoroughly = calledThoroughly || thoroughly
			return false
		}
		a := b.run(firstStop)
		assert.Empty(t, a.Output+a.ErrorText, name)
		assert.Empty(t, must(os.ReadDir(b.dir)), name)
		assert.Equal(t, c.thoroughly, calledThoroughly, name)
	}
	b := newBench(t, blocking)
	b.rule.Binds = func(_ *Call, thoroughly bool) bool { return thoroughly }
	assert.Equal(t, 2, b.run(firstStop).Exit)
	b.rule.Binds = func(*Call, bool) bool { panic("a bug") }
	assert.Equal(t, 2, b.run(firstStop).Exit, "a bug there does not switch the rule off")
}

// The rule panics for the first time in the dry run that comes before the thorough look.
func TestPanicsOpenTheBreakerOfARuleThatBindsOnlyAtAThoroughLook(t *testing.T) {
	b := newBench(t, func(*Call) (Verdict, error) { panic("a bug") })
	b.rule.Binds = func(_ *Call, thoroughly bool) bool { return thoroughly }
	for n := range 3 {
		assert.Contains(t, b.run(firstStop).Output, "Failing open")
		assert.Equal(t, n+1, b.count(t, b.session().Breaker(), "T1_test"))
	}
	assert.Equal(t, 3, strings.Count(string(must(os.ReadFile(b.session().Log()))), "T1_test: ERROR | "))
	assert.Contains(t, b.run(firstStop).Output, "circuit breaker OPEN")
}
