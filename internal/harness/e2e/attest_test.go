//go:build e2e

// A run of the client as a signed statement (docs/internals/attestation.md).

package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/proof"
)

// TestAStatementOfTheClientsRun: it verifies, and names the client with its version, the refusal, the words that the person was asked
// and their yes, and the test that was removed, of which the person was told.
func TestAStatementOfTheClientsRun(t *testing.T) {
	for _, program := range []string{"git", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not there")
		}
	}
	s := held(t, `[
	{"id": 1, "subject": "Test", "check": {"run": "test -e tested", "watch": ["*_test.go"]}},
	{"id": 2, "subject": "Publish", "blockedBy": [1], "approval": "Shall it be published?"}
]`)
	s.Write("project/a_test.go", "1\n")
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("start", "1", "in_progress")),
		Do(TaskUpdate("untested", "1", "completed")),
		Do(Bash("weaken", "touch tested; rm a_test.go")),
		Do(TaskUpdate("tested", "1", "completed")),
		Do(TaskUpdate("published", "2", "completed")),
		Say("done"))}, "go", saysYes(t, s)...)
	denied(t, r, "untested")
	allowed(t, r, "start", "weaken", "tested", "published")
	const weaker = `#1 "Test" is completed, and of the files on which its check stands: a_test.go removed (files: 1 before, 0 now; ` +
		`lines: 1 before, 0 now)`
	assert.Contains(t, r.Output.Stdout, strings.ReplaceAll(weaker, `"`, `\"`))

	shell := func(line string) string {
		t.Helper()
		out := s.Command("", "/bin/sh", "-c", "cd "+s.Path("project")+" && "+line)
		require.Zero(t, out.Code, out)
		return out.Stdout
	}
	shell("git init -q . && git add . && git -c user.name=a -c user.email=a@b.c commit -q -m x && " +
		"ssh-keygen -q -t ed25519 -N '' -f ../key && echo ada $(cat ../key.pub) >../allowed")
	shell(fsmtx + " attest --session " + s.Session + " --key ../key -o ../release.json")
	assert.Contains(t, shell(fsmtx+" verify ../release.json --allowed-signers ../allowed"), "holds: release, signed by ada")

	var st proof.Statement
	require.NoError(t, json.Unmarshal([]byte(shell(fsmtx+" attest --print --session "+s.Session)), &st))
	assert.Equal(t, proof.Agent{Name: "claude-code", Version: realclient.Version}, st.Predicate.Agent)
	var told []string
	for _, step := range st.Predicate.Steps {
		for _, d := range step.Decisions {
			told = append(told, strings.Join([]string{d.Decision, d.Gate, d.Question, d.Who, d.How}, " "))
			if d.Watched != nil {
				assert.Equal(t, []string{"a_test.go"}, d.Watched.Removed)
			}
		}
	}
	assert.Equal(t, []string{"allow   agent update", "deny check  command update", "allow   agent update",
		"ask approval Shall it be published? agent update", "allow   person approval"}, told)
	assert.Empty(t, st.Predicate.Unenforced)
}
