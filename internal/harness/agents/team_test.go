//go:build agents

package agents_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestATeam: a project with Claude Code's skill, a link to it and the hooks of all, as somebody with Claude Code has committed it, works
// in the agent of another. No line that its model or its person reads is about Claude Code, and one without the program is told of it.
func TestATeam(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := programIn(t, w, "bin")
		w.Env["PATH"] = filepath.Dir(program) + ":/usr/local/bin:/usr/bin:/bin"
		if node, err := exec.LookPath("node"); err == nil {
			w.Env["PATH"] += ":" + filepath.Dir(node)
		}
		w.Write("project/.claude/skills/ship/SKILL.md", "---\nname: ship\ndescription: Ship it.\n---\nShip it, step by step.\n")
		w.Write("project/.claude/skills/ship/fsm.json", workflow)
		w.Write("project/.git/HEAD", "ref: refs/heads/main\n")
		fsmtx(t, w, program, "install", "--project")
		found := fsmtx(t, w, program, "install", "--project", "--agent", a.Program).Stdout
		if a.Program != "copilot" { // which reads .claude/skills
			const links = "mkdir -p .agents/skills && ln -s ../../.claude/skills/ship .agents/skills/"
			require.Contains(t, found, links+"\n")
			c := exec.Command("sh", "-c", links)
			c.Dir = w.Project
			require.NoError(t, c.Run())
		}
		if a.Program == "gemini" {
			w.Write("home/.gemini/trustedFolders.json", `{"`+w.Project+`": "TRUST_FOLDER"}`)
		}
		take := a.TakeUp("take", "ship")
		r := w.Prompt(Script{Main: []Turn{
			Do(take),
			Do(a.Bash("early", program+" start 3")),
			Do(a.Bash("next", program+" next")),
			Do(a.Bash("make", "touch ok; echo made")),
			Do(a.Bash("passes", program+" complete 1")),
			Do(a.Bash("approval", program+" complete 2")),
			Say("Done."),
			Say("Really done."),
			Say("Too much."),
		}}, "ship it")
		require.Zero(t, r.Code)
		taken := r.Exchanges(Main)[1].Request
		require.True(t, taken.Says("The skill ship has put its workflow into the task list"), "the hook of the project runs")
		assertResults(t, r, map[string]string{
			"passes":   "Nobody asks them here: complete it when its work is done, then tell them. They approve it in a terminal: fsmtx step done 2",
			"approval": "They can give it in a terminal outside the client: fsmtx step done 2",
		})
		for _, id := range []string{"early", "next", "passes", "approval"} {
			result, _ := r.Result(id)
			for _, others := range []string{"Claude", "TaskUpdate", "TaskList"} {
				assert.NotContains(t, result.Text, others, id)
			}
		}
		fsmtx(t, w, program, "step", "done", "2", "--because", "I have read it")
		assert.NotContains(t, fsmtx(t, w, program, "status").Stdout, "Claude")

		// Whoever has not the program is told where it is, as far as the agent shows it, and their agent goes on.
		w.Env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
		if node, err := exec.LookPath("node"); err == nil {
			w.Env["PATH"] = filepath.Dir(node) + ":" + w.Env["PATH"]
		}
		r = w.Prompt(Script{Main: []Turn{Do(a.Bash("b", "echo hello")), Say("bye")}}, "hello")
		require.Zero(t, r.Code)
		assertResults(t, r, map[string]string{"b": "hello"})
		told := r.Exchanges(Main)[0].Request.Says("Tell the user once that fsmtx is missing, and is at https://github.com/fsmtx/fsmtx.")
		assert.Equal(t, a.Program != "qwen", told, "Qwen Code tells the model nothing of SessionStart in -p")
	})
}
