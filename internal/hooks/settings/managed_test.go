package settings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// TestAllowManagedHooksOnly shows that the setting drops the hooks of all other files, and that
// it is ignored outside the organisation's file.
func TestAllowManagedHooksOnly(t *testing.T) {
	const hooks = `"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`
	for name, c := range map[string]struct {
		managed, project string
		sources          int
	}{
		"organisation": {`{"allowManagedHooksOnly": true, ` + hooks, `{` + hooks, 1},
		"project":      {`{` + hooks, `{"allowManagedHooksOnly": true, ` + hooks, 2},
		"neither":      {`{` + hooks, `{` + hooks, 2},
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			managed := filepath.Join(t.TempDir(), "managed-settings.json")
			require.NoError(t, os.WriteFile(managed, []byte(c.managed), 0o600))
			require.NoError(t, os.Mkdir(filepath.Join(project, ".claude"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(project, ".claude/settings.json"), []byte(c.project), 0o600))
			d := dialect.Claude()
			d.Settings.Files[0].Path, d.Settings.Files[0].Darwin = managed, ""

			found := Finder{Dialect: d, Where: Where{Home: t.TempDir(), Project: project, Getenv: os.Getenv}}.Find()

			assert.Len(t, found.Sources, c.sources)
			assert.Equal(t, c.sources == 1, len(found.Trouble) > 0, "a message says that the other hooks do not run")
		})
	}
}
