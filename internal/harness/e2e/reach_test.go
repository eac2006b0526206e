//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// trees make of the project what the client looks for in git.
var trees = map[string]func(*testing.T, *realclient.Sandbox){
	"no repository":    func(*testing.T, *realclient.Sandbox) {},
	"a repository":     func(t *testing.T, s *realclient.Sandbox) { git(t, s, "init --quiet") },
	"a linked tree":    linkedTree,
	"with a submodule": withSubmodule,
}

// Fact 52: from which directories the client reads the settings that install wrote. What installHooks says about it rests on this.
// In a linked work tree that is the file in the root of the main one; the one in the linked one's root is read only by a client that
// starts there. A submodule is a repository of its own.
func TestWhereTheClientReadsWhatInstallWrote(t *testing.T) {
	for _, c := range []struct {
		tree, file, in, from string // install with this flag in this directory; start the client in that one
		read                 bool
	}{
		{"no repository", "--user", "project", "project/a/b", true},
		{"no repository", "--local", "project", "project/a", false},
		{"a repository", "--local", "project", "project", true},
		{"a repository", "--local", "project", "project/a/b", true},
		{"a repository", "--local", "project", "project/own", true}, // which has settings of its own
		{"a repository", "--local", "project/a", "project/a", true},
		{"a repository", "--local", "project/a", "project/a/b", false},
		{"a repository", "--local", "project/a", "project", false},
		{"a repository", "--project", "project", "project/a", false},
		{"a repository", "--project", "project/a", "project/a", true},
		{"a linked tree", "--local", "linked", "linked", true},
		{"a linked tree", "--local", "linked", "linked/a", false},
		{"a linked tree", "--local", "project", "linked", true},
		{"a linked tree", "--local", "project", "linked/a", true},
		{"with a submodule", "--local", "project/module", "project/module/a", true},
		{"with a submodule", "--local", "project", "project/module", false},
	} {
		t.Run(fmt.Sprintf("%s, %s in %s, from %s", c.tree, c.file, c.in, c.from), func(t *testing.T) {
			s := realclient.New(t)
			onPath(s)
			s.Write("project/own/.claude/settings.local.json", "{}")
			require.NoError(t, os.MkdirAll(s.Path("project/a/b"), 0o755))
			trees[c.tree](t, s)
			skill(s, userSkills, "release", steps("Release"))
			s.Project = s.Path(c.in)
			hydrating(t, s, c.file)
			s.Project = s.Path(c.from)
			r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "release")), Say("done")}}, "go")
			assert.Equal(t, c.read, len(r.Ran("PostToolUse")) == 1)
		})
	}
}

// git runs commands in the project.
func git(t *testing.T, s *realclient.Sandbox, lines ...string) {
	t.Helper()
	for _, line := range lines {
		out := s.Command("", "git", strings.Fields(line)...)
		require.Zero(t, out.Code, out)
	}
}

const commit = "-c user.name=n -c user.email=e commit --quiet --allow-empty --message first"

// linkedTree makes the project a repository with the linked work tree linked, which has a directory.
func linkedTree(t *testing.T, s *realclient.Sandbox) {
	t.Helper()
	git(t, s, "init --quiet", commit, "worktree add --quiet "+s.Path("linked"))
	require.NoError(t, os.Mkdir(s.Path("linked/a"), 0o755))
}

// withSubmodule makes the project a repository with the submodule module.
func withSubmodule(t *testing.T, s *realclient.Sandbox) {
	source := s.Path("source")
	git(t, s, "init --quiet "+source, "-C "+source+" "+commit, "init --quiet",
		"-c protocol.file.allow=always submodule --quiet add "+source+" module")
	require.NoError(t, os.Mkdir(s.Path("project/module/a"), 0o755))
}
