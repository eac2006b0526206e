package rules

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheTableOfH02(t *testing.T) {
	mine, theirs, broken := lockFile{true, "me"}, lockFile{true, "you\nthere"}, lockFile{exists: true}
	for _, c := range []struct {
		facts   lockFacts
		row     int
		message string
	}{
		{lockFacts{session: "me"}, 1, ""},
		{lockFacts{inner: "a", lock: theirs}, 1, ""},
		{lockFacts{inner: lockName, session: "me", planned: true}, 2, ""},
		{lockFacts{inner: specName, session: "me"}, 3, ""},
		{lockFacts{inner: specName, session: "me", planned: true}, 4, "DENIED: No planning lock acquired. Call Phase 1 setup first to acquire lock before writing to planning workspace."},
		{lockFacts{inner: "sub/" + specName, session: "me"}, 4, "DENIED: No planning lock acquired. Call Phase 1 setup first to acquire lock before writing to planning workspace."},
		{lockFacts{inner: lockName, session: "me", lock: broken}, 5, "DENIED: Planning lock is corrupted (no readable session_id). Wait for lock release or delete stale lock."},
		{lockFacts{inner: "a", session: "me", lock: theirs}, 6, "DENIED: Planning lock owned by another session (you there). Wait for lock release or delete stale lock."},
		{lockFacts{inner: "a", session: "me", lock: mine}, 7, ""},
	} {
		v := c.facts.decide()
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.message, v.Message)
		assert.Equal(t, c.message != "", refuses(v))
	}
}

func TestReadLock(t *testing.T) {
	root := tree(t, "dir/", "real", "link -> real", "dangling -> none")
	write := func(text string) lockFile {
		require.NoError(t, os.WriteFile(root+"/real", []byte(text), 0o600))
		return readLock(root + "/real")
	}
	for text, want := range map[string]lockFile{
		`{"session_id":"me","pid":1}`: {true, "me"},
		`{"session_id":""}`:           {exists: true},
		`{"session_id":7}`:            {exists: true},
		`["session_id"]`:              {exists: true},
		`{`:                           {exists: true},
		``:                            {exists: true},
	} {
		assert.Equal(t, want, write(text), text)
	}
	write(`{"session_id":"me"}`)
	for name, want := range map[string]lockFile{"link": {exists: true}, "dangling": {exists: true}, "dir": {exists: true}, "none": {}, "real/x": {}} {
		assert.Equal(t, want, readLock(root+"/"+name), name)
	}
}

func TestTheSpecIsRecognisedByAnyPath(t *testing.T) {
	root, env := onBranch(t, "feature/foo", "plans/foo/spec.md", "plans/foo/other.md", "specs/foo -> ../plans/foo", "alias -> specs/foo/spec.md")
	require.NoError(t, os.WriteFile(root+"/plans/foo/"+stateName, []byte("phase: PLAN\n"), 0o600))
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
