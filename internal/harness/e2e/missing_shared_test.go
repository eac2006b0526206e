//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// TestASharedFileWithoutTheProgram: a colleague without fsmtx on PATH reads of it when the session
// starts, and nothing afterwards, neither at a call of a task tool nor when the turn ends.
func TestASharedFileWithoutTheProgram(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	skill(s, projectSkills, "release", `[{"id": 1, "subject": "Write"}]`)
	install := exec.Command(fsmtx, "install", "--project")
	install.Dir, install.Env = s.Project, []string{"HOME=" + s.Home, "PATH=" + filepath.Dir(fsmtx) + ":/usr/bin:/bin"}
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	client := s.Attend(Script{Main: append(begun(), Do(TaskList("list")), Do(Bash("run", "echo fsmtx")), Say("That is all."))})
	client.See(0, "fsmtx is not on your PATH")
	client.Enter("release it")
	text := client.See(client.Here(), "That is all.")
	assert.NotRegexp(t, `(?i)hook\s*failed|hook\s*error|usable\s*answer|hook\s*problem|missing\s*program`, text+client.Text())
}
