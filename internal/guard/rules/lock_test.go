package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

func noLog(string) string { return "" }

func TestReadLock(t *testing.T) {
	root := worlds.Tree(t, "dir/", "real", "link -> real", "dangling -> none")
	now := time.Now().Add(-time.Hour) // before the files were created, so that every age is 0
	read := func(name string) lockFile {
		l := readLock(root+"/"+name, now, noLog)
		assert.Equal(t, root+"/"+name, l.path)
		l.path = ""
		return l
	}
	for text, want := range map[string]lockFile{
		`{"session_id":"me","pid":1}`: {exists: true, owner: "me"},
		`{"session_id":""}`:           {exists: true},
		`{"session_id":7}`:            {exists: true},
		`["session_id"]`:              {exists: true},
		`{`:                           {exists: true},
		``:                            {exists: true},
	} {
		require.NoError(t, os.WriteFile(root+"/real", []byte(text), 0o600))
		assert.Equal(t, want, read("real"), text)
	}
	for name, want := range map[string]lockFile{"link": {exists: true}, "dangling": {exists: true}, "dir": {exists: true}, "none": {},
		"real/x": {}} {
		assert.Equal(t, want, read(name), name)
	}
}

func TestALockIsStaleWhenItsSessionIsInactive(t *testing.T) {
	root := worlds.Tree(t, "lock", "log")
	now := time.Now()
	set := func(name string, age time.Duration) {
		require.NoError(t, os.Chtimes(root+"/"+name, now.Add(-age), now.Add(-age)))
	}
	require.NoError(t, os.WriteFile(root+"/lock", []byte(`{"session_id":"you"}`), 0o600))
	held := func(session string) ownership {
		return readLock(root+"/lock", now,
			func(s string) string { return root + "/" + map[string]string{"you": "log"}[s] }).heldBy(session, time.Hour)
	}
	set("lock", 2*time.Hour)
	set("log", 30*time.Minute)
	assert.Equal(t, foreign, held("me"), "its owner was active half an hour ago")
	set("log", 90*time.Minute)
	assert.Equal(t, stale, held("me"))
	for age, want := range map[time.Duration]ownership{time.Hour - time.Second: foreign, time.Hour: stale} {
		assert.Equal(t, want, lockFile{exists: true, owner: "you", age: age}.heldBy("me", time.Hour), age)
	}
	assert.Equal(t, mine, held("you"), "a session does not lose its own lock")
	set("lock", time.Minute)
	assert.Equal(t, foreign, held("me"), "it has just been written")
	require.NoError(t, os.WriteFile(root+"/lock", []byte(`{`), 0o600))
	assert.Equal(t, damaged, held("me"))
	require.NoError(t, os.Remove(root+"/lock"))
	assert.Equal(t, free, held("me"))
}

func TestAgeText(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "less than a minute", 119 * time.Second: "a minute", 3 * time.Minute: "3 min",
		time.Minute: "a minute", 2 * time.Minute: "2 min", 119 * time.Minute: "119 min", 2 * time.Hour: "2 h", 47 * time.Hour: "47 h",
		48 * time.Hour: "2 days",
		5 * time.Hour:  "5 h", 72 * time.Hour: "3 days"} {
		assert.Equal(t, want, ageText(age))
	}
}

func TestALockIsDescribed(t *testing.T) {
	for want, l := range map[string]lockFile{"none": {}, "unreadable": {exists: true},
		"held by you, last active 3 min ago": {exists: true, owner: "you", age: 3 * time.Minute}} {
		assert.Equal(t, want, l.describe())
	}
}

func TestTheSpecIsRecognisedByAnyPath(t *testing.T) {
	root, env := onBranch(t, "feature/foo", "plans/foo/spec.md", "plans/foo/other.md", "specs/foo -> ../plans/foo",
		"alias -> specs/foo/spec.md")
	require.NoError(t, os.WriteFile(root+"/plans/foo/"+stateName, []byte("phase: RESEARCH\n"), 0o600))
	require.NoError(t, os.Link(root+"/plans/foo/spec.md", root+"/second"))
	for path, row := range map[string]int{
		"specs/foo/spec.md": 5, "plans/foo/spec.md": 5, "alias": 5, "second": 5, root + "/specs/../plans/./foo/spec.md": 5,
		"specs/foo/../../plans/foo/spec.md": 5,
		"specs/foo/other.md":                2, "spec.md": 2, "specs/foo/spec.md/x": 2, "specs/foo": 2,
	} {
		input := fmt.Sprintf(`{"cwd":%q,"tool_input":{"file_path":%q}}`, root, path)
		assert.Equal(t, row, explain(t, "H04", input, map[string]string{"PATH": env(nil)("PATH")}).Row, path)
	}
}

func TestTheLockCoversAllPathsIntoTheFeatureDirectory(t *testing.T) {
	root := worlds.Tree(t, "plans/foo/", "link -> plans/foo", "other/")
	for _, feature := range []string{root + "/plans/foo", root + "/link"} {
		vars := map[string]string{"PLANNING_FEATURE_DIR": feature}
		for input, row := range map[string]int{
			`{"file_path":"plans/foo/a.md"}`:                           4,
			`{"file_path":"link/a.md"}`:                                4,
			`{"notebook_path":"plans/foo/a.ipynb"}`:                    4,
			`{"file_path":"","notebook_path":"link/a.ipynb"}`:          4,
			`{"file_path":"other/a","notebook_path":"plans/foo/a.md"}`: 1,
			`{"file_path":"plans/foo"}`:                                1,
			`{"file_path":"link/../a.md"}`:                             1,
			`{}`:                                                       1,
		} {
			event := fmt.Sprintf(`{"session_id":"s","cwd":%q,"tool_input":%s}`, root, input)
			assert.Equal(t, row, explain(t, "H02", event, vars).Row, "%s %s", feature, input)
		}
	}
}

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
