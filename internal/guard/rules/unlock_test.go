package rules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestUnlockRemovesTheLockOfAnybodyOrOfOneSession.
func TestUnlockRemovesTheLockOfAnybodyOrOfOneSession(t *testing.T) {
	root := worlds.Tree(t, "plans/foo/", "else/")
	vars := map[string]string{"PLANNING_FEATURE_DIR": root + "/plans/foo"}
	lock := filepath.Join(root, "plans/foo", lockName)
	unlock := func(session string) (string, error) { return Unlock(root, session, getenv(vars)) }

	assert.Equal(t, "there is no lock at "+lock, must(unlock("")))

	require.NoError(t, os.WriteFile(lock, []byte(`{"session_id":"you"}`), 0o600))
	_, err := unlock("me")
	require.ErrorIs(t, err, errOtherOwner)
	assert.ErrorContains(t, err, lock)
	assert.FileExists(t, lock)
	assert.Contains(t, must(unlock("you")), "removed "+lock)
	assert.NoFileExists(t, lock)

	require.NoError(t, os.WriteFile(lock, []byte(`{"session_id":"you"}`), 0o600))
	_, err = unlock("")
	require.NoError(t, err)
	assert.NoFileExists(t, lock)

	_, err = Unlock(root+"/else", "", getenv(nil))
	require.ErrorIs(t, err, errNoFeature)
}

// TestNamedFilesAreThoseOfTheFeature: an answer is judged with the documents that it names, not with
// files elsewhere.
func TestNamedFilesAreThoseOfTheFeature(t *testing.T) {
	root := worlds.Tree(t, "plans/foo/a/", "plans/bar/", "link.md -> plans/foo/design.md", "out.md -> plans/bar/theirs.md")
	for path, text := range map[string]string{
		"plans/foo/design.md": "DESIGN", "plans/foo/a/deep.md": "DEEP", "plans/bar/theirs.md": "THEIRS", "plans/foo/notes.txt": "NOTES",
		"plans/foo/empty.md": "", "plans/foo/1.md": "1", "plans/foo/2.md": "2", "plans/foo/3.md": "3", "plans/foo/4.md": "4",
		"plans/foo/5.md": "5", "plans/foo/6.md": "6",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	c := newCall(root, "s")
	c.place = place{feature: root + "/plans/foo", cwd: root + "/plans/foo/a", root: root}
	for answer, want := range map[string][]string{
		"Done.":                                                nil,
		"It is in design.md.":                                  {"DESIGN"},
		"It is in `plans/foo/design.md`, see it":               {"DESIGN"},
		"It is in " + root + "/plans/foo/design.md":            {"DESIGN"},
		"See deep.md and a/deep.md":                            {"DEEP"},
		"See design.md, then deep.md":                          {"DESIGN", "DEEP"},
		"See link.md":                                          {"DESIGN"},
		"See out.md, ../bar/theirs.md and plans/bar/theirs.md": nil,
		"See empty.md, gone.md and notes.txt":                  nil,
		"1.md 2.md 3.md 4.md 5.md 6.md":                        {"1", "2", "3", "4", "5"},
	} {
		whole := answer
		for _, text := range want {
			whole += "\n\n" + text
		}
		assert.Equal(t, whole, c.withNamedFiles(answer))
	}
	c.place.feature = ""
	assert.Equal(t, "design.md", c.withNamedFiles("design.md"), "no feature directory")
}
