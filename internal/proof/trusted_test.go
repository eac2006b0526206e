package proof

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFileOfTheRepositoryDoesNotSayWhatHasToHold: in whatever spelling. With --from its path leads to the file of that branch, and a link
// to the work tree leads nowhere. One that is elsewhere is read.
func TestAFileOfTheRepositoryDoesNotSayWhatHasToHold(t *testing.T) {
	r := aRepository(t)
	r.put("ci/policy.json", "of main")
	r.put("packages/a/x", "x")
	base := r.commitAll()
	r.put("ci/policy.json", "of the commit")
	require.NoError(t, os.Symlink("ci", filepath.Join(r.Dir, "linked")))
	j := judge{commit: r.commitAll()}
	r.put("untracked.json", "untracked")
	r.put(".git/policy.json", "in the directory of git")
	out, name := t.TempDir(), filepath.Base(r.Dir)
	separate := filepath.Join(out, "separate")
	r.git("worktree", "add", "-q", "--detach", separate, j.commit)
	require.NoError(t, os.WriteFile(filepath.Join(out, "policy.json"), []byte("elsewhere"), 0o644))
	for link, to := range map[string]string{"file": r.Dir + "/ci/policy.json", "dir": r.Dir, "sub": r.Dir + "/packages/a", "again": "file",
		"git": r.Dir + "/.git", "fine": "policy.json"} {
		require.NoError(t, os.Symlink(to, filepath.Join(out, link)))
	}
	up, err := filepath.Rel(r.Dir, out)
	require.NoError(t, err)
	const refused, ofMain, elsewhere, none = "is a file of the repository", "of main", "elsewhere", "HEAD^ does not have"
	type row struct{ dir, name, alone, from string }
	for _, c := range []row{
		{".", "ci/policy.json", refused, ofMain},
		{".", "./ci//policy.json", refused, ofMain},
		{".", "packages/../ci/policy.json", refused, ofMain},
		{".", "../" + name + "/ci/policy.json", refused, ofMain},
		{"packages/a", "../../ci/policy.json", refused, ofMain},
		{"packages/a", "../../../" + name + "/ci/policy.json", refused, ofMain},
		{".", r.Dir + "/ci/policy.json", refused, ofMain},
		{".", r.Dir + "/../" + name + "/ci/policy.json", refused, ofMain},
		{".", out + "/dir/ci/policy.json", refused, ofMain},
		{"packages/a", out + "/dir/ci/policy.json", refused, ofMain},
		{".", up + "/dir/ci/policy.json", refused, ofMain},
		{".", "/proc/self/cwd/ci/policy.json", refused, ofMain},
		{"packages/a", "/proc/self/cwd/../../ci/policy.json", refused, refused},
		{".", "linked/policy.json", refused, none},
		{".", "untracked.json", refused, none},
		{".", "nothing.json", refused, none},
		{".", ".git/policy.json", refused, none},
		{".", out + "/file", refused, refused},
		{".", up + "/file", refused, refused},
		{".", out + "/again", refused, refused},
		{".", out + "/sub/../../ci/policy.json", refused, refused},
		{".", out + "/git/policy.json", refused, refused},
		{separate, "ci/policy.json", refused, ofMain},
		{separate, r.Dir + "/.git/policy.json", refused, refused},
		{separate, r.Dir + "/.git/worktrees/separate/HEAD", refused, refused},
		{".", out + "/policy.json", elsewhere, elsewhere},
		{".", out + "/fine", elsewhere, elsewhere},
		{"packages/a", "../../" + up + "/policy.json", elsewhere, elsewhere},
		{r.Dir + "/.git", r.Dir + "/.git/policy.json", refused, none},
	} {
		if !filepath.IsAbs(c.dir) {
			c.dir = filepath.Join(r.Dir, c.dir)
		}
		if _, err := os.Stat("/proc/self/cwd"); err != nil && strings.HasPrefix(c.name, "/proc") {
			continue
		}
		t.Chdir(c.dir)
		for from, want := range map[string]string{"": c.alone, base: c.from} {
			j.in, err = openRepository(t.Context(), c.dir)
			require.NoError(t, err)
			j.base = from
			data, err := verifyFlags{from: "HEAD^"}.trusted(t.Context(), j, c.name)
			if err != nil {
				data = []byte(err.Error())
			}
			require.Contains(t, string(data), want, "%s in %s, --from %q", c.name, c.dir, from)
		}
	}
}
