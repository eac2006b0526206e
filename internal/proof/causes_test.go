package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/message"
)

// TestCausesAreNamed: of what cannot be compared.
func TestCausesAreNamed(t *testing.T) {
	r := aRepository(t)
	first := r.git("rev-parse", "HEAD")
	r.put("a", "a")
	r.commitAll()
	for _, base := range []string{"", "0000000000000000000000000000000000000000"} {
		_, err := r.commit(t.Context(), base)
		require.ErrorIs(t, err, errNoBase)
	}
	_, err := r.commit(t.Context(), "nonsense")
	require.EqualError(t, err, `"nonsense" is not a commit of this repository`)

	clone := t.TempDir()
	r.git("clone", "-q", "--depth", "1", "file://"+r.Dir, clone)
	shallow, err := openRepository(t.Context(), clone)
	require.NoError(t, err)
	_, err = shallow.commit(t.Context(), first)
	require.ErrorContains(t, err, "is not a commit of this repository (a shallow clone with one commit: fetch-depth: 0 fetches all)")
	j := judge{in: shallow, commit: r.git("rev-parse", "HEAD")}
	problems, _, err := j.subject(t.Context(), about(first))
	require.NoError(t, err)
	require.Contains(t, problems[0], "and it is not in this clone (a shallow clone with one commit")
	r.git("checkout", "-q", "--orphan", "other")
	_, err = r.changedSince(t.Context(), first, r.commitAll())
	require.ErrorContains(t, err, "no common ancestor of")
	require.NotContains(t, err.Error(), "shallow")
}

// TestAPartialCloneIsNamed: what it lacks is not fetched, and nothing else is blamed.
func TestAPartialCloneIsNamed(t *testing.T) {
	r := aRepository(t)
	r.git("config", "uploadpack.allowFilter", "true")
	for _, filter := range []string{"tree:0", "blob:none"} {
		dir := t.TempDir()
		r.git("clone", "-q", "--no-checkout", "--filter="+filter, "file://"+r.Dir, dir)
		partial, err := openRepository(t.Context(), dir)
		require.NoError(t, err)
		commit := must(partial.commit(t.Context(), "HEAD"))
		_, err = partial.read(t.Context(), commit, "dist/notes.md")
		require.ErrorIs(t, err, git.ErrPartial, filter)
		_, err = partial.digest(t.Context(), commit, "dist/notes.md")
		require.ErrorIs(t, err, git.ErrPartial, filter)
		require.Contains(t, message.Hint(err), "--filter")
	}
}

// TestTheActionNamesCauses: before it needs a program.
func TestTheActionNamesCauses(t *testing.T) {
	r := aRepository(t)
	script, err := filepath.Abs("../../.github/actions/verify/verify.sh")
	require.NoError(t, err)
	run := func(dir, base string) string {
		c := exec.Command("/bin/sh", script)
		c.Dir = dir
		c.Env = append(os.Environ(), "BASE="+base, "COMMIT=HEAD", "POLICY=", "SIGNERS=x", "FILES=", "NOTE=false", "PROGRAM=/bin/echo",
			"VERSION=", "SUMS=")
		out, err := c.CombinedOutput()
		if err != nil {
			require.Equal(t, 2, c.ProcessState.ExitCode(), string(out))
		}
		return string(out)
	}
	require.Contains(t, run(r.Dir, ""), "there is no base")
	require.Contains(t, run(r.Dir, "00000000"), "there is no base")
	require.Contains(t, run(t.TempDir(), "main"), "not a git repository")
	require.Contains(t, run(r.Dir, "HEAD"), "verify --format github --commit HEAD --from HEAD --allowed-signers x --")
	r.put("a", "a")
	r.commitAll()
	first := r.git("rev-parse", "HEAD^")
	clone := t.TempDir()
	r.git("clone", "-q", "--depth", "1", "file://"+r.Dir, clone)
	require.Contains(t, run(clone, first), "this clone is shallow, with 1 commits")
	require.NotEmpty(t, message.Hint(errNoBase))
}
