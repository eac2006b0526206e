//go:build unix

package tools_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

// aBlock is an indented block of commands, by how it begins. Either it is run, or why says why not, and what runs or checks it instead.
type aBlock struct{ page, begins, before, why string }

const (
	fetches = "fetches the program; CI builds it from a clone"
	release = `mkdir -p .claude/skills/release &&
printf '%s\n' --- 'name: release' 'description: Release.' --- >.claude/skills/release/SKILL.md
printf '{"fsm": 2, "steps": [{"id": 1, "subject": "Plan"},
 {"id": 2, "subject": "Build", "blockedBy": [1], "check": "test -f built"},
 {"id": 3, "subject": "Review", "blockedBy": [2], "outcomes": {"merge": {}, "again": {"back": 2, "max": 3}}},
 {"id": 4, "subject": "Package", "blockedBy": [1]},
 {"id": 5, "subject": "Push", "blockedBy": [3, 4], "only": ["Bash(git push *)"]}]}' >.claude/skills/release/fsm.json
`
	begun = release + "fsmtx begin release && fsmtx complete 1\n"
)

// blocksOfCommands are all of them. A block is run in the directory of its page, in which the blocks before it have run.
var blocksOfCommands = []aBlock{
	{page: "README.md", begins: "git clone", why: fetches},
	{page: "README.md", begins: "make install", why: fetches},
	{page: "README.md", begins: "fsmtx init", why: "asks questions; init.txtar answers them"},
	{page: "README.md", begins: "fsmtx status --watch", before: begun + "fsmtx install"},
	{page: "CONTRIBUTING.md", begins: "make help", why: "takes hours; TestBlocksOfCommands finds the targets"},
	{page: "docs/agents.md", begins: "fsmtx install --agent codex"},
	{page: "docs/ci.md", begins: "fsmtx validate", before: release},
	{page: "docs/ci.md", begins: "gh release", why: "needs a release"},
	{page: "docs/ci.md", begins: "mkdir", why: "attest_pull_request.txtar runs it; TestTheExampleIsRun compares"},
	{page: "docs/ci.md", begins: "fsmtx attest", why: "attest_pull_request.txtar runs it; TestTheExampleIsRun compares"},
	{page: "docs/ci.md", begins: "fsmtx verify", why: "attest_pull_request.txtar runs it; TestTheExampleIsRun compares"},
	{page: "docs/ci.md", begins: ".github", why: "needs a release; TestAuthorsCheck runs it against a server of its own"},
	{page: "docs/ci.md", begins: "cat ~/.claude/fsmtx.jsonl", before: `mkdir -p ~/.claude && fsmtx install -- --log ~/.claude/fsmtx.jsonl
FSMTX_LOG=~/.claude/fsmtx.jsonl fsmtx begin release && test -s ~/.claude/fsmtx.jsonl`},
	{page: "docs/compatibility.md", begins: "git checkout", why: "needs a release; make dist-check builds one twice and compares"},
	{page: "docs/faq.md", begins: "fsmtx step skip 4", before: begun},
	{page: "docs/start.md", begins: "git clone https://github.com/fsmtx/fsmtx && cd fsmtx", why: fetches},
	{page: "docs/start.md", begins: "git clone https://github.com/fsmtx/fsmtx; cd fsmtx", why: fetches + ", in PowerShell"},
	{page: "docs/start.md", begins: "fsmtx install", before: begun},
	{page: "docs/start.md", begins: "claude plugin", before: `ln -s "$REPOSITORY" fsmtx`},
	{page: "docs/steps.md", begins: "fsmtx status", before: begun},
	{page: "docs/steps.md", begins: "fsmtx continue", before: "FSMTX_TEST_CALLER=agent CLAUDE_CODE_SESSION_ID=9bd5 fsmtx begin release\n" +
		"fsmtx step end 1 --list 9bd5 --because x\nFSMTX_TEST_CALLER=agent CLAUDE_CODE_SESSION_ID=77aa fsmtx begin release"},
	{page: "docs/windows.md", begins: "fsmtx install", before: begun},
	{page: "docs/internals/guards.md", begins: "fsmtx plugin"},
	{page: "internal/harness/dist/npm/README.md", begins: "npm install"},
}

// TestEveryBlockOfCommandsIsRun: as a person types it, with programs beside fsmtx that only look at their arguments. No command may fail.
func TestEveryBlockOfCommandsIsRun(t *testing.T) {
	left := blocksOfCommands
	ofPage := map[string][]string{}
	for name, page := range pages(t) {
		ofPage[strings.TrimPrefix(filepath.ToSlash(name), "../../")] = indentedIn(page)
	}
	for len(left) > 0 {
		page, n := left[0].page, 1
		for n < len(left) && left[n].page == page {
			n++
		}
		known, texts := left[:n], ofPage[page]
		left = left[n:]
		delete(ofPage, page)
		t.Run(strings.ReplaceAll(page, "/", "."), func(t *testing.T) {
			t.Parallel()
			require.Len(t, texts, len(known), "a block is not in the list, or has gone")
			w := newTyping(t)
			for i, b := range known {
				require.True(t, strings.HasPrefix(strings.TrimSpace(texts[i]), b.begins), "%s", texts[i])
				if b.why == "" {
					w.runs(b.before)
					w.runs(texts[i])
				}
			}
		})
	}
	for page, texts := range ofPage {
		assert.Empty(t, texts, "%s: a block that is not in the list", page)
	}
}

// typing is where the commands of a page are typed.
type typing struct {
	t       *testing.T
	project string
	env     []string
}

func newTyping(t *testing.T) typing {
	dir := t.TempDir()
	home, bin, project := filepath.Join(dir, "home"), filepath.Join(dir, "bin"), filepath.Join(dir, "project")
	for _, d := range []string{home, bin, filepath.Join(project, ".git")} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	for name, text := range map[string]string{
		"npm": `test "$*" = "install -g fsmtx"`,
		"claude": `case $* in
--plugin-dir*) test -f "$2/.claude-plugin/plugin.json";;
*add*) test -f ./fsmtx/.claude-plugin/marketplace.json;;
esac`,
	} {
		require.NoError(t, sessions.WriteProgram(filepath.Join(bin, name), "#!/bin/sh\n"+text+"\n", 0o755))
	}
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	return typing{t, project, []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "REPOSITORY=" + repository, raceOptions}}
}

// runs runs the commands one after the other.
func (w typing) runs(block string) {
	w.t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(block), "")
	require.NoError(w.t, err)
	if _, err := exec.LookPath("jq"); err != nil && strings.Contains(block, "jq ") {
		w.t.Skip("jq is not there")
	}
	for _, s := range file.Stmts {
		line := block[s.Pos().Offset():s.End().Offset()]
		line = strings.TrimSuffix(line, " --watch") // which needs a terminal, and lasts until ^C: status_watch_test.go
		c := exec.Command("sh", "-c", line)
		c.Dir, c.Env = w.project, append(w.env, callers.Environ(caller.Person))
		if line == "fsmtx continue" { // by the agent
			c.Env = append(w.env, callers.Environ(caller.Agent), "CLAUDE_CODE_SESSION_ID=0b54")
		}
		out, err := c.CombinedOutput()
		require.NoError(w.t, err, "%s\n%s", line, out)
		w.t.Logf("$ %s\n%s", line, out)
	}
}
