package tools_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gatesOfAll is a workflow with a step for each gate that refuses it.
const gatesOfAll = `{"fsm": 2, "steps": [
{"id": 1, "subject": "Check", "check": "echo no; exit 3"}, {"id": 2, "subject": "Order", "blockedBy": [1]},
{"id": 3, "subject": "Files", "produces": ["nothing"]}, {"id": 4, "subject": "Values", "set": {"version": "^[0-9.]+$"}},
{"id": 5, "subject": "Outcome", "outcomes": {"good": {}, "again": {"back": 5, "max": 1}}},
{"id": 6, "subject": "Approve", "approval": "Good?"}, {"id": 7, "subject": "Choose", "decides": "person", "outcomes": ["one", "two"]},
{"id": 8, "subject": "Program", "check": "no-such-program"},
{"id": 9, "subject": "Lines", "each": {"lines": "none.txt"}}, {"id": 10, "subject": "Skill", "do": "notes"},
{"id": 11, "subject": "Decide", "decides": {"run": "echo maybe"}, "outcomes": ["good", "bad"]},
{"id": 12, "subject": "Ready", "ready": ["never"]}]}`

// ranIn is in which environment a check ran, which is another one for each way.
var ranIn = regexp.MustCompile(`the (environment of the client, in which it ran,|shell in which it ran) has`)

// TestOneJudge: whichever way the agent comes, by the client's list, a command or the MCP server, a gate gives the same answer for the
// same reason in the same words.
func TestOneJudge(t *testing.T) {
	type answer struct{ text, verdict, why, gate string }
	answers := map[string][]answer{}
	for _, way := range []string{"list", "command", "server"} {
		home := t.TempDir()
		project := filepath.Join(home, "project")
		skill := filepath.Join(project, ".claude/skills/all")
		require.NoError(t, os.MkdirAll(skill, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: all\ndescription: all\n---\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(skill, "fsm.json"), []byte(gatesOfAll), 0o644))
		fsmtx := func(who string, args ...string) *exec.Cmd {
			c := exec.Command("fsmtx", args...)
			c.Dir = project
			c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s1",
				"AI_AGENT=claude-code_2_" + who, fmt.Sprint("CLAUDE_PID=", os.Getpid())}
			return c
		}
		run := func(in, who string, args ...string) string {
			c := fsmtx(who, args...)
			c.Stdin = strings.NewReader(in)
			out, _ := c.CombinedOutput()
			return string(out)
		}
		server := fsmtx("harness", "mcp")
		in, err := server.StdinPipe()
		require.NoError(t, err)
		out, err := server.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, server.Start())
		lines := bufio.NewReader(out)
		ask := func(method, params string) string {
			_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
			require.NoError(t, err)
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			return line
		}
		ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		event := func(name, tool, use, input string) string {
			return run(fmt.Sprintf(`{"session_id": "s1", "cwd": %q, "hook_event_name": %q, "tool_name": %q, "tool_use_id": %q, "tool_input": %s,
				"tool_response": {"success": true, "commandName": "all"}}`, project, name, tool, use, input), "harness", "hook")
		}
		event("PostToolUse", "Skill", "u0", `{"skill": "all"}`)
		for n := range 12 {
			id, use := fmt.Sprint(n+1), fmt.Sprint("u", n+1)
			var text string
			switch way {
			case "list":
				text = event("PreToolUse", "TaskUpdate", use, `{"taskId": "`+id+`", "status": "completed"}`)
			case "command":
				line := `{"command": "fsmtx complete ` + id + `"}`
				if text = event("PreToolUse", "Bash", use, line); !strings.Contains(text, `"deny"`) && !strings.Contains(text, `"ask"`) {
					text = run("", "agent", "complete", id)
				}
				event("PostToolUse", "Bash", use, line)
			default:
				text = ask("tools/call", `{"name":"step_complete","arguments":{"step":`+id+`}}`)
			}
			a := answer{text: said(text)}
			record, err := os.ReadFile(filepath.Join(home, ".claude/tasks/.s1.fsmtx/steps.jsonl"))
			require.NoError(t, err)
			for line := range strings.Lines(string(record)) {
				var e struct {
					Step               int
					Verdict, Why, Gate string
				}
				require.NoError(t, json.Unmarshal([]byte(line), &e))
				if e.Step == n+1 {
					a.verdict, a.why, a.gate = e.Verdict, e.Why, e.Gate
				}
			}
			a.text = strings.ReplaceAll(a.text, project, "PROJECT")
			a.why = ranIn.ReplaceAllString(strings.ReplaceAll(a.why, project, "PROJECT"), "what it ran in has")
			require.NotEmpty(t, a.verdict, "%s %s: %s", way, id, text)
			answers[way] = append(answers[way], a)
		}
		require.NoError(t, in.Close())
		require.NoError(t, server.Wait())
	}
	require.Equal(t, answers["list"], answers["command"])
	require.Equal(t, answers["list"], answers["server"])
}

// said returns the reason in an answer, without what each way says of its own: how the outcome and the values are given to it, in which
// PATH a program was not found, what a person can run, and who can be asked.
func said(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\n`, "\n"), `\`, "")
	if at := strings.Index(text, "#"); at >= 0 {
		text = text[at:]
	}
	ends := []string{" Complete it with ", "work: the ", "\nA person can go past", "Without a yes", ", and this client cannot ask", `"}`}
	for _, end := range ends {
		text, _, _ = strings.Cut(text, end)
	}
	if strings.Contains(text, "of all.)") || strings.Contains(text, "needs the approval") {
		return "asked"
	}
	return strings.TrimSpace(text)
}
