//go:build e2e

// What a person has with a default model, which has no task tools: the agent works by commands.

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/state"
)

// A default model, which has no task tools, works a plugin's workflow from first to last step
// by what the announced text names, without any setting and without a permission question.
func TestADefaultModelWorksByWhatIsAnnounced(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	s.Allow = []string{"Skill"}
	dir := s.Path("project/plugin")
	s.Command("", fsmtx, "plugin", dir)
	skill(s, "project/plugin/skills", "release", steps("Release"))
	args := []string{"--plugin-dir", dir}
	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "fsmtx:release")), Say("Shall I go on?")}}, "go", args...)
	p := regexp.MustCompile(`own: (\S+) start N`).FindStringSubmatch(r.Told("skill"))
	if !assert.Len(t, p, 2, r.Told("skill")) {
		return
	}
	var turns []Turn
	for _, n := range []string{"1", "2", "3"} {
		turns = append(turns, Do(Bash("start "+n, p[1]+" start "+n)), Do(Bash("complete "+n, p[1]+" complete "+n)))
	}
	turns = append(turns, Do(Bash("compound", p[1]+" next; touch evil")), Do(Bash("next", p[1]+" next")), Say("done"))
	r = s.Prompt(Script{Main: turns}, "go on", args...)
	allowed(t, r, "start 1", "complete 1", "start 2", "complete 2", "start 3", "complete 3", "next")
	assert.Equal(t, []string{"compound"}, r.Denied)
	assert.Equal(t, 3, stateOf(t, s).Count().Done)

	s.Write("project/.claude/settings.json", `{"permissions": {"deny": ["Bash(*fsmtx next*)"], "ask": ["Bash(*fsmtx start*)"]}}`)
	r = s.Prompt(Script{Main: []Turn{Do(Bash("next", p[1]+" next")), Do(Bash("start", p[1]+" start 3")), Say("done")}}, "again", args...)
	assert.Equal(t, []string{"next", "start"}, r.Denied, "a rule of the person still holds (fact 150)")
}

// In a work tree that the agent enters, the client refuses lines with the word complete (fact 165).
// What start prints there names another word, which needs no permission either.
func TestAStepIsCompletedInAWorkTree(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	s.Allow = []string{"Skill", "EnterWorktree", "ToolSearch"}
	skill(s, projectSkills, "release", steps("Release"))
	committed(t, s)
	installed(t, s, "--task-tools=false")
	r := s.Prompt(Script{Main: []Turn{
		Do(Skill("skill", "release")), Do(LoadTools("load", "EnterWorktree")), Do(Call("enter", "EnterWorktree", map[string]any{"name": "w"})),
		Do(Bash("start", fsmtx+" start 1")), Do(Bash("complete", fsmtx+" complete 1")), Do(Bash("finish", fsmtx+" finish 1")), Say("done"),
	}}, "go")
	assert.Contains(t, r.Told("skill"), fsmtx+" complete N")
	assert.Contains(t, r.Text("start"), "When its work is done: "+fsmtx+" finish 1")
	assert.Contains(t, denied(t, r, "complete"), "complete")
	allowed(t, r, "start", "finish")
	assert.Equal(t, 1, stateOf(t, s).Count().Done)
}

// committed makes the project a repository with one commit.
func committed(t *testing.T, s *realclient.Sandbox) {
	git(t, s, "init -q -b main", "add .", commit)
}

// A skill that is typed as the first prompt comes before the client says which tools the session has, so
// every way is named.
func TestASkillTypedFirstNamesEveryWay(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	installed(t, s, "--task-tools=false")
	first := s.Prompt(Script{Main: []Turn{Say("done")}}, "/release").Exchanges(Main)[0].Request
	for _, way := range []string{"TaskUpdate, which ToolSearch loads", "tools named step_start", "fsmtx complete N"} {
		assert.True(t, first.Says(way), way)
	}
}

// withoutTaskTools returns a sandbox in which the client is as it is by default.
func withoutTaskTools(t *testing.T, fsm string, flags ...string) *realclient.Sandbox {
	t.Helper()
	s := held(t, fsm, append(flags, "--task-tools=false")...)
	onPath(s)
	return s
}

// work returns a turn in which the agent runs a command of fsmtx.
func work(id, line string) Turn { return Do(Bash(id, "fsmtx "+line)) }

// A person is asked in the terminal whether a step may be completed: no leaves it open, and yes completes it.
func TestAQuestionReachesThePersonByACommand(t *testing.T) {
	s := withoutTaskTools(t, `[{"id": 1, "subject": "Write"},
		{"id": 2, "subject": "Publish", "blockedBy": [1], "approval": "Do you approve the release?"}]`)
	m := attended(s, "go", Script{Main: []Turn{Do(Skill("skill", "release")), work("start", "start 1"), work("early", "complete 2"),
		work("write", "complete 1"), work("no", "complete 2"), work("yes", "complete 2"), Say("the-turn-is-over")}},
		"--permission-mode", "default", "--allowedTools", "Skill")
	m.See(0, "release: 1 of 2 done: #1")
	m.See(0, "Do you approve the release?")
	m.See(0, "Do you want to proceed")
	m.Answer(0, "\x1b", "What should")
	m.Clear()
	require.Eventually(t, func() bool { // the client writes it late, and no person is as fast as this test
		files, _ := filepath.Glob(filepath.Join(s.Home, ".claude", "projects", "*", s.Session+".jsonl"))
		return slices.ContainsFunc(files, func(path string) bool {
			data, _ := os.ReadFile(path)
			return bytes.Contains(data, []byte("user-rejected"))
		})
	}, time.Minute, 10*time.Millisecond)
	require.False(t, stateOf(t, s).Step(2).Done())
	from := m.Here()
	m.Enter("continue")
	m.See(from, "Do you approve the release?")
	m.See(from, "Do you want to proceed")
	m.Answer(from, "\r", "the-turn-is-over")
	m.See(from, "release: 2 of 2 done: #2")
	r := m.Run()
	assert.Contains(t, denied(t, r, "early"), `#1 "Write" must be done first`)
	allowed(t, r, "yes")
	by := state.By{Who: state.ThePerson, How: state.ByQuestion, Session: s.Session}
	answered := func(e state.Evidence) bool { return e.Step == 2 && e.Verdict == state.Allow && e.By == by }
	assert.True(t, slices.ContainsFunc(stateOf(t, s).Evidence, answered))
	assert.True(t, slices.ContainsFunc(stateOf(t, s).Evidence, func(e state.Evidence) bool {
		return e.Step == 2 && e.Verdict == state.Declined && e.By.Who == state.ThePerson
	}), "the no is on record")
	assert.True(t, stateOf(t, s).Step(2).Done())
}

// Fact 191: what sends the agent back is on the screen once, and in its request once, without the line of the shell.
func TestStopReportsOnce(t *testing.T) {
	s := withoutTaskTools(t, `[{"id": 1, "subject": "Write"}]`, "--stop", "remind")
	m := attended(s, "go", Script{Main: []Turn{Do(Skill("skill", "release")), Say("first-end"), Say("second-end")}},
		"--permission-mode", "default", "--allowedTools", "Skill")
	m.See(0, `Stop hook says: release: 0 of 1 steps done. #1 "Write" is ready.`)
	m.See(0, "second-end")
	r := m.Run()
	for _, other := range []string{"problem", "sent back", "CLAUDE_CONFIG_DIR"} {
		assert.NotContains(t, m.Text(), other)
	}
	news := r.Exchanges(Main)[2].Request.News()
	assert.Equal(t, 1, strings.Count(news, "0 of 1 steps done"), news)
	assert.NotContains(t, news, "CLAUDE_CONFIG_DIR")
}

// TestTheStatusLineShowsTheWorkflow, beside the line of the person's own settings: what is done,
// what was refused, and that an approval waits for the person. While the client asks them it shows
// no status line (fact 154).
func TestTheStatusLineShowsTheWorkflow(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Publish", "blockedBy": [1], "approval": "Publish it?"}]`,
		"--statusline")
	s.Write("home/.claude/settings.json", `{"statusLine": {"type": "command", "command": "echo MINE"}}`)
	client := s.Attend(Script{Main: append(begun(),
		Do(TaskUpdate("too early", "2", "in_progress")),
		Say("Shall I go on?"), // the client draws the line only now and then, so the turn ends here
		Do(TaskUpdate("start", "1", "in_progress")),
		Do(TaskUpdate("write", "1", "completed")),
		Do(TaskUpdate("publish", "2", "completed")),
		Say("Published."))})
	client.See(0, "MINE")
	client.Enter("release it")
	from := client.Here()
	client.See(from, "refused #2: #1 is not done | MINE")
	from = client.Here()
	client.Enter("go on")
	client.See(from, "Publish it?")
	client.Answer(client.Here(), "\x1b", "waiting for you")
}

// TestTheShellsOwnProgramsRunTheCheck: what nvm, a venv or conda put into the agent's shell, and only there, is there for a check, and the
// client's hook has seen the command.
func TestTheShellsOwnProgramsRunTheCheck(t *testing.T) {
	s := withoutTaskTools(t, `[{"id": 1, "subject": "A venv", "check": "only-in-venv"},
		{"id": 2, "subject": "A node", "check": "only-in-node"},
		{"id": 3, "subject": "An environment", "check": "only-in-conda"}]`)
	s.Allow = []string{"Skill", "Bash"}
	program := func(path, text string) {
		s.Write(path, "#!/bin/sh\n"+text)
		require.NoError(t, os.Chmod(s.Path(path), 0o755))
	}
	program("project/.venv/bin/only-in-venv", "exit 0\n")
	s.Write("project/.venv/bin/activate", "VIRTUAL_ENV="+s.Project+"/.venv\n"+
		"export VIRTUAL_ENV\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport PATH\n")
	program("home/.nvm/versions/node/v20/bin/only-in-node", "exit 0\n")
	s.Write("home/.nvm/nvm.sh", "nvm() { PATH=\"$HOME/.nvm/versions/node/v$2/bin:$PATH\"; export PATH; }\n")
	program("home/miniconda3/envs/x/bin/only-in-conda", "exit 0\n")
	program("home/miniconda3/bin/conda", `echo 'conda() { PATH="$HOME/miniconda3/envs/$2/bin:$PATH"; export PATH; }'`+"\n")
	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "release")), work("without", "complete 1"),
		Do(Bash("venv", "source .venv/bin/activate && fsmtx complete 1 2>&1")),
		Do(Bash("nvm", `export NVM_DIR="$HOME/.nvm" && . "$NVM_DIR/nvm.sh" && nvm use 20 && fsmtx complete 2`)),
		Do(Bash("conda", `eval "$(~/miniconda3/bin/conda shell.bash hook)" && conda activate x && fsmtx complete 3`)),
		Say("done")}}, "go")
	denied(t, r, "without")
	allowed(t, r, "venv", "nvm", "conda")
	for _, e := range stateOf(t, s).Evidence {
		if e.Verdict == state.Allow {
			assert.Equal(t, state.ByCommand, e.By.How, "#%d", e.Step)
		}
	}
	assert.False(t, stateOf(t, s).HasOpen())
}
