package continuation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/tasklist"
)

// TestWhichDirectoriesAreOfTheProject: those of one work tree, or of two of one repository. Outside any, each is for itself.
func TestWhichDirectoriesAreOfTheProject(t *testing.T) {
	top := t.TempDir()
	for path, text := range map[string]string{
		"repo/.git/HEAD":                       "ref: refs/heads/main\n",
		"repo/.git/worktrees/linked/commondir": "../..\n",
		"repo/.git/worktrees/linked/gitdir":    top + "/linked/.git\n",
		"linked/.git":                          "gitdir: " + top + "/repo/.git/worktrees/linked\n",
		"other/.git/HEAD":                      "ref: refs/heads/main\n",
		"repo/a/x":                             "", "linked/a/x": "", "plain/a/x": "", "bare/x": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(top, path), []byte(text), 0o600))
	}
	for _, c := range []struct {
		here, dir  string
		ours, same bool // of the project, and of its work tree
	}{
		{"repo", "repo/a", true, true},
		{"repo/a", "repo", true, true},
		{"repo/a", "linked/a", true, false},
		{"linked", "repo", true, false},
		{"repo", "other", false, false},
		{"repo", "plain", false, false},
		{"plain", "linked", false, false},
		{"plain/a", "plain", true, true},
		{"plain", "bare", false, false},
	} {
		q := Query{Lookup: func(string) (string, bool) { return "", false }, Here: filepath.Join(top, c.here)}
		dir := filepath.Join(top, c.dir)
		assert.Equal(t, []bool{c.ours, c.same}, []bool{tasklist.Belongs(q.Lookup, dir, q.Here), q.isHere(dir)}, "%+v", c)
	}
}
