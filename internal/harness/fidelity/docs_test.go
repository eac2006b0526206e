package fidelity

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// features are the rows of the table in docs/internals/hooks.md: what a hook does, and the case that
// shows how each agent reacts.
var features = []struct{ does, claude, gemini string }{
	{"exit 0, text", "pre-text", "exit0-text"},
	{"exit 1, text on standard error", "pre-exit1", "exit1-stderr"},
	{"exit 2, text on standard error", "pre-exit2", "exit2-stderr"},
	{"exit 2, text on standard output only", "pre-exit2-stdout", "exit2-stdout"},
	{"exit 2, nothing", "pre-exit2-silent", "exit2-silent"},
	{"exit 3, text on standard error", "pre-exit3", "exit3-stderr"},
	{"a command that does not exist", "pre-exit127", "no-such-command"},
	{"a signal, after text on standard error", "pre-signal", "signal-text"},
	{"its time limit, after a JSON block", "field-timeout", "timeout"},
	{"exit 0, `{}`", "pre-json-empty", "json-empty"},
	{"`\"decision\": \"block\"`", "pre-json-block", "json-block"},
	{"`\"decision\": \"deny\"`", "pre-json-deny", "json-deny"},
	{"`\"decision\": \"ask\"`", "pre-json-ask", "json-ask"},
	{"a JSON block, exit 1", "pre-exit1-json-block", "json-exit1"},
	{"a JSON block, exit 3", "pre-exit3-json-block", "json-exit3"},
	{"a JSON block, death by a signal", "pre-signal-json-block", "signal-json"},
	{"exit 2 with `{}` and standard error", "pre-exit2-json-empty", "json-exit2-empty"},
	{"a JSON block on standard error, exit 1", "pre-exit1-json-stderr", "json-stderr-exit1"},
	{"half a JSON object", "pre-json-broken", "json-broken"},
	{"a JSON block inside a JSON string", "pre-json-string", "json-in-string"},
	{"a JSON block beside a field of a wrong type", "pre-type-reason", "json-type-reason"},
	{"`permissionDecision: \"deny\"`", "pre-permission-deny", "json-permission"},
	{"the same without `hookEventName`", "pre-no-event-name", ""},
	{"`\"continue\": false`", "pre-stop", "json-stop"},
	{"`{\"async\": true}`, then exit 2", "pre-async", ""},
	{"`\"onFailure\": \"block\"`, exit 1", "field-on-failure", ""},
	{"two hooks: deny, allow", "many-deny-allow", "many-deny-allow"},
	{"before the model: deny, then allow", "", "many-model-later-allow"},
	{"before the model: deny, then a failure", "", "many-model-failed"},
	{"an http hook that blocks", "http-block", ""},
}

// others are the rows of the table of Claude Code's other events: what a hook does, and the
// case that shows how the client reacts.
var others = []struct{ event, does, name string }{
	{"PostToolUse", "exit 2, text on standard error", "post-exit2"},
	{"PostToolUse", "`updatedToolOutput` of the type of the result", "post-output-replaced"},
	{"PostToolUse", "`\"continue\": false`", "post-stop"},
	{"PostToolUseFailure", "exit 2, text on standard error", "failure-exit2"},
	{"PermissionRequest", "`decision.behavior: \"allow\"`", "ask-allow"},
	{"PermissionRequest", "`\"decision\": \"approve\"`", "ask-approve"},
	{"UserPromptSubmit", "exit 0, text", "prompt-text"},
	{"UserPromptSubmit", "half a JSON object", "prompt-json-broken"},
	{"UserPromptSubmit", "33 seconds without a limit of its own", "slow-prompt"},
	{"UserPromptSubmit", "the same with `\"timeout\": 60`", "slow-prompt-own"},
	{"SessionStart", "exit 0, text", "start-text"},
	{"SessionStart", "exit 2, text on standard error", "start-exit2"},
	{"Stop", "exit 2, text on standard error", "stop-exit2"},
	{"PreCompact", "exit 0, text", "compact-text"},
	{"PreCompact", "a JSON object that does not block", "compact-json"},
	{"PreCompact", "`\"decision\": \"block\"`", "compact-block"},
	{"PreModelSwitch", "`permissionDecision: \"deny\"`", "model-deny"},
	{"PreModelSwitch", "`permissionDecision: \"ask\"`, with nobody to ask", "model-ask"},
	{"Elicitation", "`action: \"accept\"`, with `content`", "elicit-accept"},
	{"Elicitation", "the same, exit 1", "elicit-exit1-json"},
	{"Elicitation", "exit 2, text on standard error", "elicit-exit2"},
	{"ElicitationResult", "`action: \"accept\"` over the user's cancel", "elicited-accept"},
	{"PreToolUse", "a hook in the frontmatter of a skill that was called: exit 2", "skill-blocks"},
	{"PreToolUse", "`asyncRewake`, exit 2, in `-p`", "field-async-rewake"},
	{"PreToolUse", "`async`, exit 2", "field-async"},
}

const docs = "../../../docs/internals/hooks.md"

// TestTableInTheDocumentation compares the table of docs/internals/hooks.md with the recorded answers
// of the agents, and its column for llxprt, where the documents decide, with fire.
func TestTableInTheDocumentation(t *testing.T) {
	want := tableOf(t)
	text, err := os.ReadFile(docs)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), "<!-- fidelity -->\n")
	require.True(t, ok)
	got, after, ok := strings.Cut(rest, "<!-- end -->\n")
	require.True(t, ok)
	if os.Getenv("FSMTX_FIDELITY_UPDATE") != "" {
		require.NoError(t, os.WriteFile(docs, []byte(before+"<!-- fidelity -->\n"+want+"<!-- end -->\n"+after), 0o644))
		return
	}
	assert.Equal(t, want, got, "FSMTX_FIDELITY_UPDATE=1 go test -run TableInTheDocumentation rewrites the table")
}

func tableOf(t *testing.T) string {
	claude, claudeSays := readAnswers(t, "claude")
	gemini, geminiSays := readAnswers(t, "gemini")
	codex, codexSays := readAnswers(t, "codex")
	geminiCases := map[string]fidelityCase{}
	for _, c := range readTable(t, "gemini", geminiSettings) {
		geminiCases[c.name] = c
	}
	keptClaude, keptGemini := readKept(t, "claude"), readKept(t, "gemini")
	var b strings.Builder
	fmt.Fprintf(&b, "\n| A hook before a tool | Claude Code %s | Gemini CLI %s | Codex %s | `fire` for these | `fire --dialect llxprt` |\n| "+
		"--- | --- | --- | --- | --- | --- |\n",
		claude, gemini, codex)
	for _, f := range features {
		same := "the same"
		for _, kept := range [][2]string{keptClaude[f.claude], keptGemini[f.gemini], readKept(t, "codex")[f.claude]} {
			if kept[0] != "" {
				same = kept[0]
			}
		}
		llxprt := "–"
		if c, ok := geminiCases[f.gemini]; ok {
			llxprt = fireAsLLxprt(t, c)
		}
		codexVerdict := "–" // where it has the same case as Claude Code
		if text, ok := codexSays[f.claude]; ok {
			codexVerdict, _, _ = strings.Cut(text, " ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", f.does, verdictIn(t, claudeSays, f.claude), verdictIn(t, geminiSays, f.gemini),
			codexVerdict, same, llxprt)
	}
	fmt.Fprintf(&b, "\n| Claude Code %s | The hook | Its answer | The model reads the hook's words | `fire` |\n| --- "+
		"| --- | --- | --- | --- |\n", claude)
	for _, o := range others {
		_, marks, _ := strings.Cut(claudeSays[o.name], " model=")
		reads, same := "no", "the same"
		if strings.Trim(strings.ReplaceAll(marks, toolOutput, ""), "-,") != "" {
			reads = "yes"
		}
		if kept := keptClaude[o.name]; kept[0] != "" {
			same = kept[0]
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", o.event, o.does, verdictIn(t, claudeSays, o.name), reads, same)
	}
	b.WriteString("\n")
	return b.String()
}

func verdictIn(t *testing.T, answers map[string]string, name string) string {
	if name == "" {
		return "–"
	}
	verdict, _, _ := strings.Cut(answers[name], " ")
	require.NotEmpty(t, verdict, name)
	return verdict
}

// fireAsLLxprt returns the verdict of fire on a case of Gemini CLI, which LLxprt Code is
// derived from.
func fireAsLLxprt(t *testing.T, c fidelityCase) string {
	if c.command == "" {
		text := c.files[geminiSettings]
		c.files = map[string]string{".llxprt/settings.json": strings.Replace(text, "{", `{"enableHooks": true, `, 1)}
	} else {
		text := settingsOf(c, "x")["x"]
		c.command, c.files = "", map[string]string{".llxprt/settings.json": strings.Replace(text, "{", `{"enableHooks": true, `, 1)}
	}
	input := `{"tool_name": "write_file", "tool_input": {"path": "a"}, "sdk_request": {"model": "m", "contents": "hello"}}`
	p, _ := newWorld(t).fire(t, c, "llxprt", ".llxprt/settings.json", input)
	switch {
	case p.Stop:
		return stopped
	case p.Blocking:
		return denied
	default:
		return cmp.Or(strings.TrimSpace(p.Verdict), undecided)
	}
}
