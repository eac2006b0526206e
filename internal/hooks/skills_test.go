package hooks_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// TestUnusualSkillsDoNotStopTheSearch shows that a named pipe in place of a SKILL.md does not
// block the search, that broken frontmatter is reported only if it seems to have hooks, and that the name of the project is
// not a pattern.
func TestUnusualSkillsDoNotStopTheSearch(t *testing.T) {
	project := filepath.Join(t.TempDir(), `a?b*[c]\`)
	skill := func(name string) string {
		dir := filepath.Join(project, ".claude", "skills", name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		return filepath.Join(dir, "SKILL.md")
	}
	require.NoError(t, files.Mkfifo(skill("pipe"), 0o600))
	require.NoError(t, os.Mkdir(skill("folder"), 0o755))
	require.NoError(t, os.WriteFile(skill("broken"), []byte("---\nname: [\n---\n"), 0o600))
	require.NoError(t, os.WriteFile(skill("broken-hooks"), []byte("---\nname: x\nhooks:\n  Stop: [\n---\n"), 0o600))
	require.NoError(t, os.WriteFile(skill("good"), []byte("---\nhooks:\n  Stop: []\n---\n"), 0o600))
	for _, other := range []string{`axb*[c]\`, `a?bx[c]\`} {
		other = skill("../../../" + other + "/.claude/skills/other")
		require.NoError(t, os.WriteFile(other, []byte("---\nhooks:\n  Stop: []\n---\n"), 0o600))
	}
	finder := hooks.Finder{Dialect: dialect.Claude(), Where: hooks.Where{Home: t.TempDir(), Project: project, Getenv: os.Getenv},
		Active: []string{"good"}}

	done := make(chan hooks.Found)
	go func() { done <- finder.Find() }()

	select {
	case found := <-done:
		assert.Equal(t, []string{"good"}, found.Skills)
		require.Len(t, found.Sources, 1)
		assert.False(t, found.Sources[0].Inactive)
		require.Len(t, found.Trouble, 1)
		assert.ErrorContains(t, found.Trouble[0], "broken-hooks/SKILL.md:")
	case <-time.After(time.Minute):
		t.Fatal("the search did not return")
	}
}
