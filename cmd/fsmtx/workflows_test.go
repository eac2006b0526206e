package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	uses   = regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	digest = regexp.MustCompile(`^[^@\s]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// TestActionsArePinned: a tag can be moved to other code, but the digest of a commit cannot.
func TestActionsArePinned(t *testing.T) {
	for path, text := range workflows(t) {
		for _, found := range uses.FindAllStringSubmatch(text, -1) {
			assert.True(t, strings.HasPrefix(found[1], "./") || digest.MatchString(found[1]), "%s: %s is not pinned by digest and version",
				path, found[1])
		}
	}
}

// TestWorkflowsKeepNoCredentials: by default actions/checkout leaves the token in
// .git/config, where every program of the job can read it. Without explicit permissions the
// token has those of the repository's settings.
func TestWorkflowsKeepNoCredentials(t *testing.T) {
	for path, text := range workflows(t) {
		assert.Equal(t, strings.Count(text, "uses: actions/checkout@"), strings.Count(text, "persist-credentials: false"), path)
		if strings.HasPrefix(path, "workflows/") {
			assert.Regexp(t, `(?m)^permissions:`, text, path)
		}
	}
}

// workflows returns the workflows and actions of this repository by path in .github.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	root := os.DirFS("../../.github")
	require.NoError(t, fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".yml") && !strings.HasSuffix(path, ".yaml") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		texts[path] = string(text)
		return err
	}))
	require.Contains(t, texts, "workflows/ci.yml")
	return texts
}
