//go:build e2e

// What a hook can do where its program is missing or fails, and how a question about a command
// of the agent reaches the person: measured with hooks of one line of shell, and a default model.

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// withHook returns a sandbox without task tools and with one hook, whose fields are given, in the
// project's settings or in a plugin, and the arguments with which the client loads that.
func withHook(t *testing.T, inPlugin bool, event, matcher string, hook map[string]any) (s *realclient.Sandbox, args []string) {
	t.Helper()
	t.Parallel()
	s = realclient.New(t)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	hook["type"] = "command"
	text, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{map[string]any{"matcher": matcher, "hooks": []any{hook}}}}})
	require.NoError(t, err)
	if !inPlugin {
		s.Write("project/.claude/settings.json", string(text))
		return s, nil
	}
	s.Write("project/plugin/.claude-plugin/plugin.json", `{"name": "p", "version": "1.0.0"}`)
	s.Write("project/plugin/hooks/hooks.json", string(text))
	return s, []string{"--plugin-dir", s.Path("project/plugin")}
}

// The line of a hook decides by itself if its program is missing: it has the id of the session. The
// model reads the whole line.
func TestALineRefusesForAProgramThatIsMissing(t *testing.T) {
	const line = `P=/nonexistent/fsmtx; if [ -x "$P" ]; then exec "$P" hook; fi; ` +
		`if [ -d "$HOME/.claude/tasks/.$CLAUDE_CODE_SESSION_ID.fsmtx" ]; then echo it is gone >&2; exit 2; fi`
	for name, c := range map[string]struct {
		inPlugin bool
		hook     map[string]any
	}{
		"settings":            {false, map[string]any{"command": line}},
		"settings, exec form": {false, map[string]any{"command": "/bin/sh", "args": []string{"-c", line}}},
		"plugin":              {true, map[string]any{"command": line}},
	} {
		for _, has := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", with a workflow: ", has), func(t *testing.T) {
				s, args := withHook(t, c.inPlugin, "PreToolUse", "Bash", c.hook)
				if has {
					require.NoError(t, os.MkdirAll(s.Path("home/.claude/tasks/."+s.Session+".fsmtx"), 0o755))
				}
				r := s.Prompt(Script{Main: []Turn{Do(Bash("call", "echo ran")), Say("done")}}, "go", args...)
				if !has {
					assert.Equal(t, "ran", r.Text("call"))
					return
				}
				text := denied(t, r, "call")
				assert.Contains(t, text, ": it is gone")
				assert.Contains(t, text, line)
			})
		}
	}
}

// "onFailure": "block" refuses for each way in which a program can fail, but not for an answer that is no JSON.
func TestAFailureBlocksIfTheHookSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		hook map[string]any
		want string // of the refusal; empty: the call is let through
	}{
		"exit 1":            {map[string]any{"command": "exit 1"}, "failed; blocking because"},
		"killed":            {map[string]any{"command": "kill -9 $$"}, "failed; blocking because"},
		"too slow":          {map[string]any{"command": "sleep 60", "timeout": 1}, "timed out; blocking because"},
		"missing":           {map[string]any{"command": "/nonexistent/fsmtx", "args": []string{}}, "failed; blocking because"},
		"not executable":    {map[string]any{"command": "/etc/passwd", "args": []string{}}, "failed; blocking because"},
		"an answer of text": {map[string]any{"command": `echo '{"a'`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.hook["onFailure"] = "block"
			s, _ := withHook(t, false, "PreToolUse", "Bash", c.hook)
			r := s.Prompt(Script{Main: []Turn{Do(Bash("call", "echo ran")), Say("done")}}, "go")
			if c.want == "" {
				assert.Equal(t, "ran", r.Text("call"))
			} else {
				assert.Contains(t, denied(t, r, "call"), c.want)
			}
		})
	}
	t.Run("nothing at Stop", func(t *testing.T) {
		s, _ := withHook(t, false, "Stop", "", map[string]any{"command": "exit 1", "onFailure": "block"})
		r := s.Prompt(Script{Main: []Turn{Say("done")}}, "go")
		assert.Len(t, r.Exchanges(Main), 1)
	})
}

// A hook asks about a command of the agent and rewrites it: the person is asked about the rewritten one. Where nobody is, the
// call is refused in every mode of permissions, and the question is all that the model reads.
func TestAQuestionAboutACommand(t *testing.T) {
	const answer = `cat >> events; printf %s '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", ` +
		`"permissionDecisionReason": "Do you approve the notes?", "updatedInput": {"command": "echo granted"}}}'`
	ask := func(t *testing.T) *realclient.Sandbox {
		s, _ := withHook(t, false, "PreToolUse", "Bash", map[string]any{"command": answer})
		s.Env["IS_SANDBOX"] = "1" // as root the client bypasses permissions only so
		return s
	}
	script := Script{Main: []Turn{Do(Bash("call", "echo asked")), Say("done")}}
	for _, mode := range []string{"default", "acceptEdits", "dontAsk", "bypassPermissions", "auto", "plan"} {
		t.Run(mode, func(t *testing.T) {
			assert.Equal(t, "Do you approve the notes?", denied(t, ask(t).Prompt(script, "go", "--permission-mode", mode), "call"))
		})
	}
	t.Run("a host answers", func(t *testing.T) {
		s := ask(t)
		r := s.Prompt(script, "go", saysYes(t, s)...)
		assert.Equal(t, "granted", r.Text("call"))
		assert.Contains(t, read(t, s, "project/events"), `"command":"echo asked"`)
	})
	t.Run("a person answers", func(t *testing.T) {
		s := ask(t)
		m := attended(s, "go", script, "--permission-mode", "default")
		shown := m.See(0, "Do you approve the notes?")
		m.Answer(m.Here(), "1", "done")
		assert.Contains(t, strings.Join(strings.Fields(shown), ""), "echogranted")
		assert.Equal(t, "granted", m.Run().Text("call"))
	})
}
