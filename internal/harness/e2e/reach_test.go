//go:build e2e

package e2e

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// Fact 52: from which directories the client reads the settings that install wrote. What
// installHooks says about it rests on this.
func TestWhereTheClientReadsWhatInstallWrote(t *testing.T) {
	for _, c := range []struct {
		name           string
		git            string // directory with .git
		file, in, from string // install with this flag in this directory; start the client in that one
		read           bool
	}{
		{"user", "", "--user", "project", "project/a/b", true},
		{"local, without git", "", "--local", "project", "project/a", false},
		{"local, in the root", "project", "--local", "project", "project", true},
		{"local, below the root", "project", "--local", "project", "project/a/b", true},
		{"local, below the root with settings of its own", "project", "--local", "project", "project/own", true},
		{"local, in a subdirectory", "project", "--local", "project/a", "project/a", true},
		{"local, below a subdirectory", "project", "--local", "project/a", "project/a/b", false},
		{"local, above", "project", "--local", "project/a", "project", false},
		{"project, below the root", "project", "--project", "project", "project/a", false},
		{"project, in a subdirectory", "project", "--project", "project/a", "project/a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := realclient.New(t)
			onPath(s)
			s.Write("project/own/.claude/settings.local.json", "{}")
			require.NoError(t, os.MkdirAll(s.Path("project/a/b"), 0o755))
			if c.git != "" {
				s.Project = s.Path(c.git)
				require.Zero(t, s.Command("", "git", "init", "--quiet").Code)
			}
			assert.Equal(t, c.read, reaches(t, s, c.in, c.from, c.file))
		})
	}
}

// reaches reports whether a hook that is registered in one directory runs in a session that
// starts in another.
func reaches(t *testing.T, s *realclient.Sandbox, in, from string, flags ...string) bool {
	skill(s, userSkills, "release", steps("Release"))
	s.Project = s.Path(in)
	hydrating(t, s, flags...)
	s.Project = s.Path(from)
	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "release")), Say("done")}}, "go")
	return len(r.Ran("PostToolUse")) == 1
}

// In a linked work tree the client reads the file in the root of the main one. The file
// in the linked one's root is read only by a client that starts there.
func TestSettingsInALinkedWorkTree(t *testing.T) {
	for _, c := range []struct {
		in, from string
		read     bool
	}{
		{"linked", "linked", true},
		{"linked", "linked/a", false},
		{"project", "linked", true},
		{"project", "linked/a", true},
	} {
		t.Run(c.in+" from "+c.from, func(t *testing.T) {
			s := realclient.New(t)
			linkedTree(t, s)
			assert.Equal(t, c.read, reaches(t, s, c.in, c.from))
		})
	}
}

// linkedTree makes the project a repository with the linked work tree linked, which has a directory.
func linkedTree(t *testing.T, s *realclient.Sandbox) {
	t.Helper()
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--allow-empty", "--message", "first"},
		{"worktree", "add", "--quiet", s.Path("linked")},
	} {
		out := s.Command("", "git", args...)
		require.Zero(t, out.Code, out)
	}
	require.NoError(t, os.Mkdir(s.Path("linked/a"), 0o755))
}

// A submodule is a repository of its own.
func TestSettingsInASubmodule(t *testing.T) {
	for _, c := range []struct {
		in, from string
		read     bool
	}{
		{"project/module", "project/module/a", true},
		{"project", "project/module", false},
	} {
		t.Run(c.in+" from "+c.from, func(t *testing.T) {
			s := realclient.New(t)
			source := s.Path("source")
			commit := []string{"-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--allow-empty", "--message", "first"}
			for _, args := range [][]string{
				{"init", "--quiet", source},
				append([]string{"-C", source}, commit...),
				{"init", "--quiet"},
				{"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "module"},
			} {
				out := s.Command("", "git", args...)
				require.Zero(t, out.Code, out)
			}
			require.NoError(t, os.Mkdir(s.Path("project/module/a"), 0o755))
			assert.Equal(t, c.read, reaches(t, s, c.in, c.from))
		})
	}
}
