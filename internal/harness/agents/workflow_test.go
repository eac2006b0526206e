//go:build agents

package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

const workflow = `[
  {"id": 1, "subject": "Build", "description": "Build it.", "activeForm": "Building", "status": "pending", "blockedBy": [], "blocks": [], "check": "test -f ok"},
  {"id": 2, "subject": "Review", "description": "Review it.", "activeForm": "Reviewing", "status": "pending", "blockedBy": [1], "blocks": [], "approval": "Is the review done?"},
  {"id": 3, "subject": "Publish", "description": "Publish it.", "activeForm": "Publishing", "status": "pending", "blockedBy": [2], "blocks": []},
  {"id": 4, "subject": "Notes", "description": "Write the notes.", "activeForm": "Writing", "status": "pending", "blockedBy": [], "blocks": []}
]`

// withWorkflow returns the path of the program, which install registers, in a world with the
// skill ship.
func withWorkflow(t *testing.T, w *agents.World) (program string) {
	t.Helper()
	w.Write("project/.agents/skills/ship/SKILL.md", "---\nname: ship\ndescription: Ship it.\n---\nShip it, step by step.\n")
	w.Write("project/.agents/skills/ship/fsm.json", workflow)
	w.Write("project/.git/HEAD", "ref: refs/heads/main\n")
	return programIn(t, w, "bin")
}

// TestAWorkflowHolds: begun by taking the skill up; a refused order, a failing check, an approval
// that nobody gives, a skip that only a person may do, the files of the list, the end of the turn;
// and nothing is left of it after removal.
func TestAWorkflowHolds(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		before, err := os.ReadFile(w.Path(a.HooksFile()))
		require.NoError(t, err)
		fsmtx(t, w, program, "install", "--agent", a.Program)

		r := w.Prompt(Script{Main: []Turn{
			Do(a.TakeUp("take", "ship")),
			Do(a.Bash("early", program+" start 3")),
			Do(a.Bash("start", program+" start 1")),
			Do(a.Bash("fails", program+" complete 1")),
			Do(a.Bash("make", "touch ok; echo made")),
			Do(a.Bash("changed", "MAKEFLAGS=-n "+program+" complete 1")),
			Do(a.Bash("passes", program+" complete 1")),
			Do(a.Bash("approval", program+" complete 2")),
			Do(a.Bash("skip", program+" step skip 2 --because x")),
			Do(a.Bash("undo", program+" undo")),
			Say("Done."),
			Say("Really done."),
			Say("Too much."),
		}}, "ship it")

		require.Zero(t, r.Code)
		all := r.Exchanges(Main)
		require.Len(t, all, 12, "the turn is held once")
		assert.False(t, all[0].Request.Says("has put its workflow"))
		assert.True(t, all[1].Request.Says("The skill ship has put its workflow into the task list"), "the model is told the steps")
		assert.True(t, all[1].Request.Says(program+" start"), "and the commands, by their path")
		assertResults(t, r, map[string]string{
			"early":    `"Publish"`,
			"start":    `"Build" is in progress`,
			"fails":    "test -f ok",
			"make":     "made",
			"changed":  "may change the environment in which it would run",
			"passes":   `"Build" is done`,
			"approval": "approval",
			"skip":     "Only the person can decide this. They can run it in a terminal outside",
			"undo":     "Only the person can decide this",
		})
		assert.True(t, all[11].Request.Says("Go on with the workflow"), "it is sent back")
		records, err := filepath.Glob(w.Path("home/.local/state/fsmtx/tasks/.*.fsmtx/steps.jsonl"))
		require.NoError(t, err)
		require.Len(t, records, 1)
		record, err := os.ReadFile(records[0])
		require.NoError(t, err)
		assert.Regexp(t, `"step":1,.*"to":"completed","verdict":"allow",.*"how":"command"`, string(record), "the hook has seen it")
		assert.NotContains(t, string(record), `"unseen"`)

		fsmtx(t, w, program, "install", "--agent", a.Program, "--remove")
		after, err := os.ReadFile(w.Path(a.HooksFile()))
		if !os.IsNotExist(err) { // what is empty goes
			require.NoError(t, err)
		}
		asBefore(t, string(before), string(after))
		r = w.Prompt(Script{Main: []Turn{Do(a.TakeUp("again", "ship")), Say("bye"), Say("not held")}}, "ship it")
		require.Zero(t, r.Code)
		assert.Len(t, r.Exchanges(Main), 2)
		assert.False(t, r.Exchanges(Main)[1].Request.Says("fsmtx"))
	})
}

// plain returns a result without the backslashes of JSON, into which Gemini puts it, more than once.
func plain(result string) string { return strings.ReplaceAll(result, `\`, "") }

// assertResults checks what the results of tool calls, by their ids, contain.
func assertResults(t *testing.T, r *agents.Run, want map[string]string) {
	t.Helper()
	for id, text := range want {
		result, ok := r.Result(id)
		if assert.True(t, ok, id) {
			assert.Contains(t, plain(result.Text), text, id)
		}
	}
}

// asBefore: nothing is left of ours, but perhaps an empty object of the person's. Qwen Code and opencode write their
// settings anew when they start, with a version or a schema.
func asBefore(t *testing.T, before, after string) {
	t.Helper()
	assert.NotContains(t, after, "fsmtx")
	if !strings.Contains(after, `"$`) {
		dense := func(text string) string { return strings.Join(strings.Fields(text), "") }
		empty := strings.TrimPrefix(strings.Replace(dense(before), `,"hooks":{}`, "", 1), `{"hooks":{}}`)
		assert.Contains(t, []string{dense(before), empty}, dense(after))
	}
}

// TestAMissingProgramStopsNoAgent: the hooks and the server are registered, and the program is gone, or is killed each time.
func TestAMissingProgramStopsNoAgent(t *testing.T) {
	every(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		fsmtx(t, w, program, "install", "--agent", a.Program, "--mcp", "--stop", "hold")
		require.NoError(t, os.RemoveAll(filepath.Dir(program)))
		goesOn(t, w)
		require.NoError(t, os.Mkdir(filepath.Dir(program), 0o755))
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nkill -9 $$\n"), 0o755))
		goesOn(t, w)
	})
}

// TestHeldAgentsEndTheirTurn: with --stop hold the hook counts by itself, because Codex and Gemini
// never override it, and Qwen Code did so after a hundred times in 0.15.10.
func TestHeldAgentsEndTheirTurn(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		fsmtx(t, w, program, "install", "--agent", a.Program, "--stop", "hold")
		turns := []Turn{Do(a.TakeUp("take", "ship"))}
		for range 12 {
			turns = append(turns, Say("I am done."))
		}
		r := w.Prompt(Script{Main: turns}, "ship it")
		require.Zero(t, r.Code)
		requests := 10
		if a.Program == "qwen" {
			requests-- // it ends the turn itself at the eighth time
		}
		assert.Len(t, r.Exchanges(Main), requests, "one to take it up, one end, and eight more")
	})
}

// TestATypedSkillIsTakenUp: $name in Codex, /name in the others.
func TestATypedSkillIsTakenUp(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		fsmtx(t, w, program, "install", "--agent", a.Program, "--stop", "off")
		prompt := "/ship now"
		if a.Program == "codex" {
			prompt = "$ship now"
		}
		r := w.Prompt(Script{Main: []Turn{Say("ok")}}, prompt)
		require.Zero(t, r.Code)
		require.NotEmpty(t, r.Exchanges(Main))
		assert.True(t, r.Exchanges(Main)[0].Request.Says("The skill ship has put its workflow into the task list"))
	})
}

// TestASkillOfAPluginIsTakenUp: by the model, by the command, and by the commands that show it.
func TestASkillOfAPluginIsTakenUp(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		call, ok := w.AddPlugin("take", "bring", map[string]string{
			"SKILL.md": "---\nname: bring\ndescription: Bring it.\n---\nBring it, step by step.\n",
			"fsm.json": workflow,
		})
		require.True(t, ok)
		fsmtx(t, w, program, "install", "--agent", a.Program, "--stop", "off")
		name := a.PluginSkill("bring")
		r := w.Prompt(Script{Main: []Turn{
			Do(call),
			Do(a.Bash("early", program+" start 3")),
			Do(a.Bash("graph", program+" graph "+name)),
			Do(a.Bash("begin", program+" begin "+name)),
			Do(a.Bash("near", program+" begin "+name+"x")),
			Say("Done."),
		}}, "bring it")
		require.Zero(t, r.Code)
		all := r.Exchanges(Main)
		require.Len(t, all, 6)
		assert.True(t, all[1].Request.Says("The skill "+name+" has put its workflow into the task list"), "the hook")
		assertResults(t, r, map[string]string{
			"early": `"Publish"`,
			"graph": "Review",
			"begin": "The skill " + name + " has put its workflow into the task list",
			"near":  "did you mean " + name,
		})
	})
}

const limited = `{"fsm": 2, "steps": [
  {"id": 1, "subject": "Build", "description": "Build it.", "activeForm": "Building", "status": "pending", "blockedBy": [], "blocks": []},
  {"id": 2, "subject": "Publish", "description": "Publish it.", "activeForm": "Publishing", "status": "pending", "blockedBy": [1], "blocks": [],
    "only": ["Bash(echo publish *)", "Write(release/**)"]}
]}`

// TestOnlyAndResume: a call that a later step lists is refused until that step is in progress, and
// a session that is resumed is told the state.
func TestOnlyAndResume(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		w.Write("project/.agents/skills/ship/fsm.json", limited)
		fsmtx(t, w, program, "install", "--agent", a.Program, "--stop", "off")
		require.NoError(t, os.Mkdir(w.Path("project/release"), 0o755))
		turns := []Turn{
			Do(a.TakeUp("take", "ship")),
			Do(a.Bash("early", "echo publish now")),
			Do(a.Bash("hidden", "cd . && env X=1 echo publish now")),
			Do(a.Bash("other", "echo harmless")),
		}
		if tool, input := writes(a, w.Path("project/release/notes")); tool != "" {
			turns = append(turns, Do(Call("write", tool, input)))
		}
		r := w.Prompt(Script{Main: append(turns, Say("Done."))}, "ship it")
		require.Zero(t, r.Code)
		assertResults(t, r, map[string]string{"early": "Publish", "hidden": "Publish", "other": "harmless"})
		assert.NoFileExists(t, w.Path("project/release/notes"))

		r = w.Resume(Script{Main: []Turn{
			Do(a.Bash("one", program+" complete 1")),
			Do(a.Bash("two", program+" start 2")),
			Do(a.Bash("now", "echo publish now | tr a-z A-Z")),
			Say("Done."),
		}}, "go on")
		require.Zero(t, r.Code)
		told := r.Exchanges(Main)[0].Request
		assert.Equal(t, a.Program != "qwen", told.Says("has an unfinished workflow (ship: 0 of 2 steps done)"),
			"Qwen Code tells the model nothing of SessionStart in -p")
		assertResults(t, r, map[string]string{"now": "PUBLISH NOW"})
	})
}

// writes returns the call of the agent's tool that writes a file; the tool is empty if it has none
// that a model can be made to call here.
func writes(a *agents.Agent, path string) (tool string, input map[string]any) {
	switch a.Program {
	case "codex":
		const patch = "cd release && apply_patch <<'E'\n*** Begin Patch\n*** Add File: notes\n+x\n*** End Patch\nE"
		return "exec_command", map[string]any{"cmd": patch}
	case "copilot":
		return "create", map[string]any{"path": path, "file_text": "x"}
	case "gemini", "qwen":
		return "write_file", map[string]any{"file_path": path, "content": "x"}
	}
	return "", nil
}
