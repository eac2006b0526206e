package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// bench is a guard whose judgement the test gives, in a session of its own.
type bench struct {
	dir   string
	env   map[string]string
	guard Guard
}

func newBench(t testing.TB, judge func(*call) (Verdict, error)) *bench {
	dir := t.TempDir()
	return &bench{dir, map[string]string{"PLANNING_STATE_DIR": dir}, Guard{ID: "T1", Name: "T1_test", Event: event.SubagentStop, judge: judge}}
}

func (b *bench) run(input string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code, err := Run(b.guard, b.streams(input, &out, &errs))
	if err != nil {
		panic(err)
	}
	return code, out.String(), errs.String()
}

func (b *bench) streams(input string, out, errs *bytes.Buffer) terminal.Streams {
	return terminal.Streams{In: strings.NewReader(input), Out: out, Err: errs, Getenv: func(name string) (string, bool) {
		v, ok := b.env[name]
		return v, ok
	}}
}

func (b *bench) count(t require.TestingT, path string, name string) int {
	n, err := readCounter(path, name)
	require.NoError(t, err)
	return n
}

const anEvent = `{"session_id":"s","stop_hook_active":%t,"agent_id":"a"}`

func TestABugFailsOpenAndIsCounted(t *testing.T) {
	b := newBench(t, func(*call) (Verdict, error) { panic("a bug\nof ours") })
	code, out, errs := b.run(fmt.Sprintf(anEvent, false))
	assert.Equal(t, 0, code)
	assert.Empty(t, errs)
	assert.JSONEq(t, `{"systemMessage":"Hook T1_test encountered an unexpected error (internal error: a bug of ours). Failing open."}`, out)
	assert.Equal(t, 1, b.count(t, SessionOf("s", b.getenv).Breaker(), "T1_test"))
}

// panicking is standard input that shows a bug before the guard is asked.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("a bug") }

func TestABugBeforeTheTableFailsOpenToo(t *testing.T) {
	b := newBench(t, blocking)
	var out, errs bytes.Buffer
	s := b.streams("", &out, &errs)
	s.In = panicking{}
	code, err := Run(b.guard, s)
	require.NoError(t, err)
	assert.Equal(t, 0, code)
	assert.Contains(t, out.String(), "internal error: a bug). Failing open.")
}

func (b *bench) getenv(name string) string { return b.env[name] }

func TestFailuresWithoutASessionAreCountedNowhere(t *testing.T) {
	b := newBench(t, func(*call) (Verdict, error) { return Verdict{}, errors.New("x") })
	_, out, _ := b.run(`{}`)
	assert.Contains(t, out, "Failing open")
	_, out, _ = b.run(`not json`)
	assert.Contains(t, out, "Failing open")
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestVerboseLogsTheEventAndTheReply(t *testing.T) {
	b := newBench(t, func(*call) (Verdict, error) { return passed(1, "fine"), nil })
	b.env["PLANNING_HOOKS_VERBOSE"] = "true"
	b.run("{\"session_id\": \"s\",\n\t\"x\": 1}")
	log, err := os.ReadFile(SessionOf("s", b.getenv).Log())
	require.NoError(t, err)
	lines := strings.Split(string(log), "\n")
	require.Len(t, lines, 4)
	assert.Contains(t, lines[0], `T1_test: VERBOSE | input={"session_id": "s", "x": 1}`)
	assert.Contains(t, lines[1], "T1_test: APPROVE | fine")
	assert.Contains(t, lines[2], "T1_test: VERBOSE | output=")
}

func TestASwitchTurnsAGuardOff(t *testing.T) {
	for _, g := range All() {
		for _, flag := range []string{masterSwitch, g.Flag} {
			if flag == "" {
				continue
			}
			v, err := frontmatter.Parse([]byte("feature_flags: {" + flag + ": {enabled: false}}"))
			require.NoError(t, err)
			on, by := configOf(v).Enabled(g)
			assert.False(t, on, g.ID)
			assert.Equal(t, flag, by)
			for _, other := range All() {
				if on, _ := configOf(v).Enabled(other); flag != masterSwitch && other.Flag != flag {
					assert.True(t, on, "%s by %s", other.ID, flag)
				}
			}
		}
	}
}

func TestASwitchWithoutANameIsNobodys(t *testing.T) {
	v, err := frontmatter.Parse([]byte(`feature_flags: {"": {enabled: false}}`))
	require.NoError(t, err)
	on, _ := configOf(v).Enabled(checkpointLogger())
	assert.True(t, on)
}

func TestConfigDefaults(t *testing.T) {
	fallback := configOf(frontmatter.Value{})
	assert.Equal(t, Config{SessionCalls: 25, PhaseCalls: 10, WarnPercent: 80, Overlap: 0.6, TestPercent: 80, BreakerThreshold: 3, MaxBlocks: 3, off: map[string]bool{}}, fallback)
	wrong := `research_mcp: {budget: {total_calls_per_session: "30", total_calls_per_phase: -1, warn_at_percentage: [80]}}
feature_flags:
  hooks_enforcement: {enabled: "false", circuit_breaker_threshold: -2, max_consecutive_blocks: many}
  hooks_immutable_guard: {enabled: 0, keyword_overlap_threshold: 1.5}
  hooks_agent_validation: {tdd_min_coverage: null}
  hooks_stop_guard: 7
  s1_self_critique: {enabled: "true"}
`
	v, err := frontmatter.Parse([]byte(wrong))
	require.NoError(t, err)
	assert.Equal(t, fallback, configOf(v), "a wrong type is the default")
	right := `research_mcp: {budget: {total_calls_per_session: 0, total_calls_per_phase: 4, warn_at_percentage: 50}}
feature_flags:
  hooks_enforcement: {enabled: true, circuit_breaker_threshold: 5, max_consecutive_blocks: 0}
  hooks_immutable_guard: {keyword_overlap_threshold: 1}
  hooks_agent_validation: {tdd_min_coverage: 0}
  s1_self_critique: {enabled: true}
`
	v, err = frontmatter.Parse([]byte(right))
	require.NoError(t, err)
	assert.Equal(t, Config{SessionCalls: 0, PhaseCalls: 4, WarnPercent: 50, Overlap: 1, SelfCritique: true, BreakerThreshold: 5, off: map[string]bool{"hooks_enforcement": false, "s1_self_critique": false}}, configOf(v))
}

// Consecutive blocks

func blocking(*call) (Verdict, error) { return blocked(1, "Not done", "Do it."), nil }

func TestAnAgentIsLetGoAfterThreeBlocksAndThenHeldAgain(t *testing.T) {
	b := newBench(t, blocking)
	codes := []int{}
	for _, active := range []bool{false, true, true, true, true, false, true} {
		code, _, _ := b.run(fmt.Sprintf(anEvent, active))
		codes = append(codes, code)
	}
	assert.Equal(t, []int{2, 2, 2, 0, 0, 2, 2}, codes)
}

func TestGivingUpSaysSo(t *testing.T) {
	b := newBench(t, blocking)
	for range 3 {
		b.run(fmt.Sprintf(anEvent, true))
	}
	_, out, errs := b.run(fmt.Sprintf(anEvent, true))
	assert.JSONEq(t, `{"systemMessage":"Hook T1_test: giving up after 3 blocks, check still failing: Not done"}`, out)
	assert.Empty(t, errs)
}

func TestBlocksAreCountedForEachAgentAndGuard(t *testing.T) {
	b := newBench(t, blocking)
	for _, agent := range []string{`"a"`, `"b"`, `null`} {
		for range 3 {
			code, _, _ := b.run(`{"session_id":"s","stop_hook_active":true,"agent_id":` + agent + `}`)
			assert.Equal(t, 2, code, agent)
		}
	}
	file := SessionOf("s", b.getenv).Blocks()
	assert.Equal(t, 3, b.count(t, file, "T1:a"))
	assert.Equal(t, 3, b.count(t, file, "T1:main"))
	b.guard.ID = "T2"
	code, _, _ := b.run(fmt.Sprintf(anEvent, true))
	assert.Equal(t, 2, code)
}

func TestApprovalEndsARun(t *testing.T) {
	b := newBench(t, blocking)
	b.run(fmt.Sprintf(anEvent, true))
	b.guard.judge = func(*call) (Verdict, error) { return passed(1, "done"), nil }
	b.run(fmt.Sprintf(anEvent, true))
	assert.Equal(t, 0, b.count(t, SessionOf("s", b.getenv).Blocks(), "T1:a"))
}

// Another guard may have blocked meanwhile, so that stop_hook_active says
// nothing of this one.
func TestAnApprovedEndForgetsTheOneBefore(t *testing.T) {
	b := newBench(t, blocking)
	for _, active := range []bool{false, true, true, true} {
		b.run(fmt.Sprintf(anEvent, active))
	}
	b.guard.judge = func(*call) (Verdict, error) { return passed(1, "done"), nil }
	b.run(fmt.Sprintf(anEvent, false))
	b.guard.judge = blocking
	code, _, _ := b.run(fmt.Sprintf(anEvent, true))
	assert.Equal(t, 2, code)
}

func TestWithoutASessionAnAgentIsBlockedOnce(t *testing.T) {
	b := newBench(t, blocking)
	code, _, _ := b.run(`{"stop_hook_active":false}`)
	assert.Equal(t, 2, code)
	code, out, _ := b.run(`{"stop_hook_active":true}`)
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "giving up after 1 blocks")
}

func TestBlocksThatCannotBeCountedDoNotBlock(t *testing.T) {
	b := newBench(t, blocking)
	require.NoError(t, os.Symlink("/dev/null", SessionOf("s", b.getenv).Blocks()))
	code, out, _ := b.run(fmt.Sprintf(anEvent, false))
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "Failing open")
}

// The breaker

func TestABreakerFileThatIsNoFileFailsOpen(t *testing.T) {
	b := newBench(t, blocking)
	victim := filepath.Join(b.dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte(`{"T1_test":1}`), 0o600))
	require.NoError(t, os.Symlink(victim, SessionOf("s", b.getenv).Breaker()))
	code, out, _ := b.run(fmt.Sprintf(anEvent, false))
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "not a regular file of this user")
	data, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, `{"T1_test":1}`, string(data))
}

func TestABrokenBreakerFileCountsNothingAndKeepsTheRest(t *testing.T) {
	b := newBench(t, func(*call) (Verdict, error) { return Verdict{}, errors.New("x") })
	file := SessionOf("s", b.getenv).Breaker()
	for text, want := range map[string]string{
		`{"T1_`:                          `{"T1_test":1}`,
		`[]`:                             `{"T1_test":1}`,
		`null`:                           `{"T1_test":1}`,
		`{"T1_test":"9","other":"kept"}`: `{"T1_test":1,"other":"kept"}`,
		`{"T1_test":-7,"H03":2}`:         `{"H03":2,"T1_test":1}`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		b.run(fmt.Sprintf(anEvent, false))
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, want, string(data), text)
	}
}

// TestPropertyTheBreaker holds a run of successes and failures against what
// the breaker promises: it opens at the threshold, failures must be
// consecutive, and once open it stays so for the session.
func TestPropertyTheBreaker(t *testing.T) {
	var outcome error
	b := newBench(t, func(*call) (Verdict, error) { return passed(1, "fine"), outcome })
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "config"), 0o700))
	b.env["CLAUDE_PLUGIN_ROOT"] = root
	session := 0
	rapid.Check(t, func(t *rapid.T) {
		session++
		threshold := rapid.IntRange(1, 4).Draw(t, "threshold")
		config := fmt.Sprintf("feature_flags: {hooks_enforcement: {circuit_breaker_threshold: %d}}\n", threshold)
		if err := os.WriteFile(filepath.Join(root, "config", "planning-config.yaml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		failures := 0
		for _, fails := range rapid.SliceOfN(rapid.Bool(), 1, 10).Draw(t, "fails") {
			if outcome = nil; fails {
				outcome = errors.New("x")
			}
			_, out, _ := b.run(fmt.Sprintf(`{"session_id":"s%d"}`, session))
			open := strings.Contains(out, "circuit breaker OPEN")
			if open != (failures >= threshold) {
				t.Fatalf("open: %t after %d of %d failures", open, failures, threshold)
			}
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

// Explaining

func TestExplainChangesNothing(t *testing.T) {
	b := newBench(t, blocking)
	b.env["PLANNING_HOOKS_VERBOSE"] = "true"
	for _, g := range append(All(), b.guard) {
		for _, input := range []string{"{", fmt.Sprintf(anEvent, true), `{"session_id":"s","cwd":"` + b.dir + `","tool_name":"mcp__Ref__x","tool_input":{"file_path":"a"}}`} {
			b.guard = g
			var out, errs bytes.Buffer
			e := Explain(g, b.streams(input, &out, &errs))
			assert.NotEmpty(t, e.Word)
			assert.LessOrEqual(t, e.Row, max(1, len(g.Rows)))
			assert.Empty(t, out.String()+errs.String())
		}
	}
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestWhatAnEventHoldsDoesNotCommandTheTerminal(t *testing.T) {
	b := newBench(t, nil)
	for id, input := range map[string]string{
		"H03": `{"tool_name":"a\u001b[31m\nb"}`,
		"H07": `{"agent_type":"a\u001b[31m\nb"}`,
		"H10": `{"agent_type":"product-planning:a\u001b[31m\nb"}`,
	} {
		g, ok := Find(id)
		require.True(t, ok)
		e := Explain(g, b.streams(input, nil, nil))
		assert.NotContains(t, e.Detail+e.Message, "\x1b", id)
		assert.NotContains(t, e.Detail+e.Message, "\n", id)
	}
}

// Sessions, lines and logs

func TestSessionIDsNeverBecomePaths(t *testing.T) {
	for id, want := range map[string]string{
		"abc-DEF_123":            "abc-DEF_123",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		strings.Repeat("a", 129): "x",
		"../../etc/passwd":       "x",
		"":                       "",
	} {
		got := fileID(id)
		if strings.HasPrefix(want, "x") {
			assert.Regexp(t, `^x[0-9a-f]{32}$`, got)
		} else {
			assert.Equal(t, want, got)
		}
	}
	assert.NotEqual(t, fileID("é"), fileID("è"))
	assert.Equal(t, "/tmp", SessionOf("x", func(string) string { return "" }).Dir())
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                   "plain",
		"a\r\nb":                  "a b",
		"a\tb\x00\x1b[31mc\u0085": "a b [31mc ",
		"a\u2028b":                "a b",
		"\n":                      " ",
		"→ é":                     "→ é",
	} {
		assert.Equal(t, want, oneLine(text))
	}
}

func TestALogLineIsOneLineOfBoundedLength(t *testing.T) {
	at := time.Date(2026, 2, 4, 14, 23, 15, 0, time.FixedZone("x", 3600))
	assert.Equal(t, "[2026-02-04T13:23:15Z] H01: DENY | a [x] H02: ALLOW\n", logLine(at, "H01", "DENY", "a\n[x] H02: ALLOW"))
	assert.Less(t, len(logLine(at, "H01", "DENY", strings.Repeat("x", 2*maxLogDetail))), maxLogDetail+100)
}

func TestUnits(t *testing.T) {
	assert.Equal(t, 5, units("aé→😀"))
	assert.Equal(t, "aé", cutRunes("aé→", 2))
	assert.Equal(t, "aé→", cutRunes("aé→", 9))
}

// The summary

func TestTheSummaryAlwaysFits(t *testing.T) {
	var s snapshot
	s.state = State{Phase: strings.Repeat("p", 500), Mode: strings.Repeat("😀", 500)}
	for i := range 200 {
		s.state.Decisions = append(s.state.Decisions, Decision{fmt.Sprint(i, strings.Repeat("😀", 80)), strings.Repeat("😀", 200)})
		s.state.Gates = append(s.state.Gates, Gate{Phase: fmt.Sprint(i), Verdict: strings.Repeat("v", 200), Score: "1"})
	}
	for _, a := range artifacts {
		s.files = append(s.files, a.name)
	}
	s.lock = lockFile{exists: true, owner: strings.Repeat("o", 300)}
	text := s.summary(maxContext)
	assert.LessOrEqual(t, units(text), maxContext)
	assert.Contains(t, text, "decisions_count: 200\n")
	assert.True(t, strings.HasPrefix(text, "<planning-state>\nphase: p"))
	assert.True(t, strings.HasSuffix(text, "o\n</planning-state>"))
	for _, heading := range []string{"immutable_decisions:\n", "artifacts_generated:\n", "gate_results:\n", "lock_active: true\n"} {
		assert.Contains(t, text, heading)
	}
	assert.NotContains(t, text, `"40😀`, "the first forty at most")
}

func TestTheSummaryCannotBeBrokenOutOf(t *testing.T) {
	s := snapshot{state: State{Phase: "A</planning-state>", Decisions: []Decision{{`a" -> "b`, "x\ny<b>"}}}}
	text := s.summary(maxContext)
	assert.Equal(t, 1, strings.Count(text, "</planning-state>"))
	assert.Contains(t, text, `  - "a - b" -> "x yb"`+"\n")
	assert.Contains(t, text, "phase: A/planning-state\nmode: unknown\n")
}

// The audit log

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
		phase := strings.TrimSpace(oneLine(rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Z→| =a-z:]{1,30}`)).Draw(t, "phase")))
		if phase == "" {
			return
		}
		step := transition{from: "A", to: auditable(phase), session: rapid.String().Draw(t, "session"), mode: oneLine(rapid.String().Draw(t, "mode"))}
		line := "[t] " + step.String() + "\n"
		if got := lastPhase([]byte(line)); strings.Count(line, "\n") != 1 || got != step.to {
			t.Fatalf("%q became %q", step.to, got)
		}
	})
}

// The catalogue

func TestTheCatalogueIsWhole(t *testing.T) {
	var ids []string
	for _, g := range All() {
		ids = append(ids, g.ID)
		assert.True(t, strings.HasPrefix(g.Name, g.ID+"_"), g.ID)
		assert.NotEmpty(t, g.Brief)
		assert.NotEmpty(t, g.Rows)
		assert.Positive(t, g.Timeout)
	}
	assert.Equal(t, "H01 H02 H03 H04 H05 H06 H07 H08 H09 H10 H11a H11b H12 H13", strings.Join(ids, " "))
	_, ok := Find("H14")
	assert.False(t, ok)
	_, ok = Find("h01")
	assert.False(t, ok)
}

func TestTheConfigurationWrittenIntoAPluginIsTheDefaults(t *testing.T) {
	data, err := os.ReadFile("planning/config/planning-config.yaml")
	require.NoError(t, err)
	v, err := frontmatter.Parse(data)
	require.NoError(t, err)
	written, fallback := configOf(v), configOf(frontmatter.Value{})
	for flag, off := range written.off {
		assert.Equal(t, flag == "s1_self_critique", off, flag)
	}
	written.off, fallback.off = nil, nil
	assert.Equal(t, fallback, written)
}

// TestTheDocumentationHasEveryTable keeps docs/guards.md and the code one.
func TestTheDocumentationHasEveryTable(t *testing.T) {
	data, err := os.ReadFile("../../docs/guards.md")
	require.NoError(t, err)
	for _, g := range All() {
		_, section, found := strings.Cut(string(data), "\n### "+g.ID+" ")
		require.True(t, found, g.ID)
		section, _, _ = strings.Cut(section, "\n###")
		for i, row := range g.Rows {
			assert.Contains(t, section, fmt.Sprintf("\n| %d | %s | ", i+1, row), g.ID)
		}
		assert.NotContains(t, section, fmt.Sprintf("\n| %d | ", len(g.Rows)+1), g.ID)
		cell := func(s string) string {
			if s == "" {
				return "–"
			}
			return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
		}
		assert.Contains(t, string(data), fmt.Sprintf("\n| %s | %s | %s | %s | %d |\n", g.ID, g.Event, cell(g.Matcher), cell(g.Flag), g.Timeout))
	}
}
