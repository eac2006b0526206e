package programs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMismatch(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "bin/fsmtx")
	file := filepath.Join(dir, filepath.FromSlash(PluginVersion))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	for _, c := range []struct {
		root, program, written, own string
		differs                     bool
	}{
		{dir, own, "1.2.3", "1.2.2", true}, {dir, own, "1.2.3", "1.3.0", true}, {dir, own, "1.2.3", "1.2.3", false},
		{dir, own, "1.2.3", "1.3.0-dev.2+gabc", false}, {dir, own, "1.2.3", "1.2.3+dirty", false}, {dir, own, "1.3.0-dev.2", "1.2.3", false},
		{dir, "/usr/bin/fsmtx", "1.2.3", "1.3.0", false}, // it is not the plugin's program
		{"", own, "1.2.3", "1.3.0", false}, {dir, own, "", "1.3.0", false},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.written+"\n"), 0o600))
		text := Mismatch(c.root, c.program, c.own)
		assert.Equal(t, c.differs, text != "", "%+v: %s", c, text)
		if c.differs {
			assert.Contains(t, text, "in "+dir+" was written by fsmtx 1.2.3, but its program is fsmtx "+c.own+",")
		}
	}
	require.NoError(t, os.Remove(file))
	assert.Empty(t, Mismatch(dir, own, "1.3.0"), "it is not known")
}
