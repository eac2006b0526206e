package rules

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheTableOfH02(t *testing.T) {
	const noLock = "DENIED: No planning lock acquired. Call Phase 1 setup first to acquire lock before writing to planning workspace."
	broken := lockFile{path: "/f/lock", exists: true, age: 3 * time.Minute}
	theirs := lockFile{path: "/f/lock", exists: true, owner: "you\nthere", age: 30 * time.Minute}
	old := lockFile{path: "/f/lock", exists: true, owner: "you", age: 3 * time.Hour}
	for _, c := range []struct {
		facts   lockFacts
		row     int
		message string
	}{
		{lockFacts{session: "me"}, 1, ""},
		{lockFacts{inner: "a", held: foreign, lock: theirs}, 1, ""},
		{lockFacts{inner: lockName, session: "me", planned: true}, 2, ""},
		{lockFacts{inner: specName, session: "me"}, 3, ""},
		{lockFacts{inner: specName, session: "me", planned: true}, 4, noLock},
		{lockFacts{inner: "sub/" + specName, session: "me"}, 4, noLock},
		{lockFacts{inner: lockName, session: "me", held: damaged, lock: broken}, 5, ""},
		{lockFacts{inner: "a", session: "me", held: damaged, lock: broken}, 6, "DENIED: Planning lock is corrupted (no readable session_id). Wait for lock release or delete stale lock. " +
			"The lock is /f/lock, last sign of life 3 min ago. If that session is over, run: fsmtx guard unlock Or repair it: write .planning.lock with {\"session_id\": \"me\"}"},
		{lockFacts{inner: lockName, session: "me", held: stale, lock: old}, 7, ""},
		{lockFacts{inner: "a", session: "me", held: foreign, lock: theirs}, 8, "DENIED: Planning lock owned by another session (you there). Wait for lock release or delete stale lock. " +
			"The lock is /f/lock, last sign of life 30 min ago. If that session is over, run: fsmtx guard unlock --session 'you there'"},
		{lockFacts{inner: lockName, session: "me", held: foreign, lock: theirs}, 8, "DENIED: Planning lock owned by another session (you there). Wait for lock release or delete stale lock. " +
			"The lock is /f/lock, last sign of life 30 min ago. If that session is over, run: fsmtx guard unlock --session 'you there'"},
		{lockFacts{inner: "a", session: "me", held: stale, lock: old}, 8, "DENIED: Planning lock owned by another session (you). Wait for lock release or delete stale lock. " +
			"The lock is /f/lock, last sign of life 3 h ago. If that session is over, run: fsmtx guard unlock --session you Or take it over, since its session was last seen so long ago: write .planning.lock with {\"session_id\": \"me\"}"},
		{lockFacts{inner: "a", session: "me", held: mine}, 9, ""},
	} {
		v := c.facts.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.message, v.Message)
		assert.Equal(t, c.message != "", refuses(v))
	}
}

func noLog(string) string { return "" }

func TestReadLock(t *testing.T) {
	root := tree(t, "dir/", "real", "link -> real", "dangling -> none")
	now := time.Now().Add(-time.Hour) // before the files were made: nothing has an age
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
	for name, want := range map[string]lockFile{"link": {exists: true}, "dangling": {exists: true}, "dir": {exists: true}, "none": {}, "real/x": {}} {
		assert.Equal(t, want, read(name), name)
	}
}

func TestALockIsStaleWithoutASignOfLife(t *testing.T) {
	root := tree(t, "lock", "log")
	now := time.Now()
	set := func(name string, age time.Duration) {
		require.NoError(t, os.Chtimes(root+"/"+name, now.Add(-age), now.Add(-age)))
	}
	require.NoError(t, os.WriteFile(root+"/lock", []byte(`{"session_id":"you"}`), 0o600))
	held := func(session string) ownership {
		return readLock(root+"/lock", now, func(s string) string { return root + "/" + map[string]string{"you": "log"}[s] }).heldFor(session, time.Hour)
	}
	set("lock", 2*time.Hour)
	set("log", 30*time.Minute)
	assert.Equal(t, foreign, held("me"), "its owner was at work half an hour ago")
	set("log", 90*time.Minute)
	assert.Equal(t, stale, held("me"))
	assert.Equal(t, mine, held("you"), "a session does not lose its own lock")
	set("lock", time.Minute)
	assert.Equal(t, foreign, held("me"), "it has just been written")
	require.NoError(t, os.WriteFile(root+"/lock", []byte(`{`), 0o600))
	assert.Equal(t, damaged, held("me"))
	require.NoError(t, os.Remove(root+"/lock"))
	assert.Equal(t, free, held("me"))
}

func TestAgesAreSaidAsPeopleSayThem(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "less than a minute", 119 * time.Second: "a minute", 3 * time.Minute: "3 min", 5 * time.Hour: "5 h", 72 * time.Hour: "3 days"} {
		assert.Equal(t, want, ageText(age))
	}
}

func TestTheSpecIsRecognisedByAnyPath(t *testing.T) {
	root, env := onBranch(t, "feature/foo", "plans/foo/spec.md", "plans/foo/other.md", "specs/foo -> ../plans/foo", "alias -> specs/foo/spec.md")
	require.NoError(t, os.WriteFile(root+"/plans/foo/"+stateName, []byte("phase: RESEARCH\n"), 0o600))
	require.NoError(t, os.Link(root+"/plans/foo/spec.md", root+"/second"))
	for path, row := range map[string]int{
		"specs/foo/spec.md": 5, "plans/foo/spec.md": 5, "alias": 5, "second": 5, root + "/specs/../plans/./foo/spec.md": 5, "specs/foo/../../plans/foo/spec.md": 5,
		"specs/foo/other.md": 2, "spec.md": 2, "specs/foo/spec.md/x": 2, "specs/foo": 2,
	} {
		input := fmt.Sprintf(`{"cwd":%q,"tool_input":{"file_path":%q}}`, root, path)
		assert.Equal(t, row, explain(t, "H04", input, map[string]string{"PATH": env(nil)("PATH")}).Row, path)
	}
}

func TestTheLockCoversAllPathsIntoTheFeatureDirectory(t *testing.T) {
	root := tree(t, "plans/foo/", "link -> plans/foo", "other/")
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
