package fidelity

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fidelityCase is one case of a table.
//
//	name  Event  command          the only hook of the event
//	name  Event                   a block, indented by two spaces: files, each after a
//	  -- path --                  line with its path below the project; the first one is
//	  content                     the settings unless it has a path
//
// Event may name the tool that is called: PreToolUse:Read. A line that begins with ## is
// the title of a section, and # begins a comment.
type fidelityCase struct {
	section string
	name    string
	event   string
	tool    string            // the tool of a tool event, "" for the usual one
	command string            // of the only hook, "" if there are files
	files   map[string]string // by path below the project
}

// header matches a line that begins a case.
var header = regexp.MustCompile(`^([a-z0-9][a-z0-9.-]*)\s+([A-Za-z]+)(?::([A-Za-z_]+))?(?:\s+(.*))?$`)

// readTable reads the cases of an agent.
func readTable(t testing.TB, agent, settings string) []fidelityCase {
	text, err := os.ReadFile(filepath.Join("../../../testdata/hooks/fidelity", agent+".txt"))
	require.NoError(t, err)
	var cases []fidelityCase
	section, file, seen := "", "", map[string]bool{}
	for number, line := range strings.Split(string(text), "\n") {
		m := header.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "## "):
			section = line[3:]
		case strings.HasPrefix(line, "  "):
			require.NotEmpty(t, cases, "line %d: a block without a case", number+1)
			c := &cases[len(cases)-1]
			content := line[2:]
			if path, ok := strings.CutPrefix(content, "-- "); ok && strings.HasSuffix(path, " --") {
				file = strings.TrimSuffix(path, " --")
				continue
			}
			c.files[file] += content + "\n"
		case strings.HasPrefix(line, "#") || line == "":
		case m == nil:
			t.Fatalf("%s.txt:%d: not a case: %s", agent, number+1, line)
		default:
			require.False(t, seen[m[1]], "two cases are called %s", m[1])
			seen[m[1]], file = true, settings
			cases = append(cases, fidelityCase{section: section, name: m[1], event: m[2], tool: m[3], command: m[4], files: map[string]string{}})
		}
	}
	return cases
}

// agent is one whose hook system fire imitates.
type agent struct {
	name, settings string
	least          int // so many cases there are at least
	fire           func(testing.TB, fidelityCase) answer
}

// The agents.
func claude() agent { return agent{"claude", claudeSettings, 120, fireAsClaude} }
func codex() agent  { return agent{"codex", codexSettings, 1, fireAsCodex} }
func gemini() agent { return agent{"gemini", geminiSettings, 60, fireAsGemini} }

// cases reads the agent's table.
func (a agent) cases(t testing.TB) []fidelityCase { return readTable(t, a.name, a.settings) }

// TestFireAnswersAsTheAgentsDid compares fire with the recorded answers of each agent.
func TestFireAnswersAsTheAgentsDid(t *testing.T) {
	for _, a := range []agent{claude(), codex(), gemini()} {
		t.Run(a.name, func(t *testing.T) {
			cases := a.cases(t)
			require.GreaterOrEqual(t, len(cases), a.least)
			version, answers := readAnswers(t, a.name)
			compare(t, a.name, version, cases, answers, fireAll(t, cases, a.fire))
		})
	}
}

// fireAll returns what fire answers to each case.
func fireAll(t testing.TB, cases []fidelityCase, one func(testing.TB, fidelityCase) answer) map[string]answer {
	var mutex sync.Mutex
	ours := map[string]answer{}
	each(cases, 4, func(c fidelityCase) {
		if c.isSlow() && !withSlow() {
			return
		}
		got := one(t, c)
		mutex.Lock()
		defer mutex.Unlock()
		ours[c.name] = got
	})
	return ours
}

// uses reports whether a text occurs in the files of a case.
func (c fidelityCase) uses(text string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(c.files)), func(content string) bool { return strings.Contains(content, text) })
}

// isSlow reports whether a case waits for half a minute.
func (c fidelityCase) isSlow() bool { return strings.HasPrefix(c.name, "slow-") }

// withSlow reports whether slow cases are run: only with FSMTX_FIDELITY_SLOW.
func withSlow() bool { return os.Getenv("FSMTX_FIDELITY_SLOW") != "" }

// answer is the reaction of an agent, or of fire, to a case.
type answer struct {
	verdict string   // one of those below
	ran     []string // the hooks that ran, as they recorded with the program "ran", sorted
	model   []string // the marks that the model reads, sorted
}

// The verdicts.
const (
	undecided = "undecided" // the agent does what it would have done without the hook
	allowed   = "allow"     // without asking the user
	asks      = "ask"
	denied    = "deny" // or blocked: what the event is about does not happen, or the model is told that it must go on
	stopped   = "stop" // the agent ends its turn
)

func (a answer) String() string {
	list := func(of []string) string {
		if len(of) == 0 {
			return "-"
		}
		return strings.Join(of, ",")
	}
	return fmt.Sprintf("%s ran=%s model=%s", a.verdict, list(a.ran), list(a.model))
}

// mark matches the words that the tests look for in what the model reads: capitals with a
// hyphen.
var mark = regexp.MustCompile(`\b[A-Z][A-Z0-9]+(?:-[A-Z0-9]+)+\b`)

// marksOf returns the marks of a case that occur in texts.
func (c fidelityCase) marksOf(texts ...string) []string {
	known := map[string]bool{toolOutput: true, "REASON-H": true, "CONTEXT-H": true, "CONTEXT-HB": true}
	for _, text := range append(slices.Collect(maps.Values(c.files)), c.command) {
		for _, m := range mark.FindAllString(text, -1) {
			known[m] = true
		}
	}
	var found []string
	for _, text := range texts {
		for _, m := range mark.FindAllString(text, -1) {
			if known[m] {
				found = append(found, m)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(found)))
}

// toolOutput is the output of the tool that is called for a case.
const toolOutput = "THE-OUTPUT"

// readAnswers reads what an agent answered; it is empty if it was never asked.
func readAnswers(t testing.TB, agent string) (version string, answers map[string]string) {
	text, err := os.ReadFile(answersPath(agent))
	if os.IsNotExist(err) {
		return "", map[string]string{}
	}
	require.NoError(t, err)
	answers = map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "# version "); ok {
			version = v
			continue
		}
		name, value, ok := strings.Cut(line, " ")
		require.True(t, ok, line)
		answers[name] = strings.TrimSpace(value)
	}
	return version, answers
}

func answersPath(agent string) string {
	return filepath.Join("../../../testdata/hooks/fidelity", agent+".answers")
}

// readKept reads the differences that are kept: by case our answer, and the reason.
func readKept(t testing.TB, agent string) map[string][2]string {
	text, err := os.ReadFile(filepath.Join("../../../testdata/hooks/fidelity", agent+".kept"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	kept := map[string][2]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		ours, why, ok := strings.Cut(strings.TrimSpace(rest), ": ")
		require.True(t, ok, "a kept difference is \"name answer: reason\": %s", line)
		kept[name] = [2]string{ours, why}
	}
	return kept
}

// compare reports each case in which fire does not answer as the agent, and a last line
// with the number of cases that agree.
func compare(t *testing.T, agent, version string, cases []fidelityCase, theirs map[string]string, ours map[string]answer) {
	kept, agreed, differ := readKept(t, agent), 0, 0
	for _, c := range cases {
		if c.isSlow() && !withSlow() {
			t.Logf("%s: not run: it takes half a minute; FSMTX_FIDELITY_SLOW=1 runs it", c.name)
			continue
		}
		got, want := ours[c.name].String(), theirs[c.name]
		reason, isKept := kept[c.name]
		switch {
		case want == "":
			t.Errorf("%s: %s was never asked about it: run make fidelity with FSMTX_FIDELITY_UPDATE=1", c.name, agent)
		case got == want:
			agreed++
			if isKept {
				t.Errorf("%s: the answers agree: remove it from %s.kept", c.name, agent)
			}
		case isKept && reason[0] == got:
			differ++
			t.Logf("%s: kept: %s says %s, fire says %s: %s", c.name, agent, want, got, reason[1])
		default:
			t.Errorf("%s (%s)\n  %-8s %s\n  fire     %s", c.name, c.event, agent, want, got)
		}
	}
	t.Logf("%s %s: %d of %d cases agree, %d differ for a reason that is written down", agent, version, agreed, len(cases), differ)
}
