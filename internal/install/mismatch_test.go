package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/programs"
)

func TestMismatch(t *testing.T) {
	dir := t.TempDir()
	p := small()
	p.Version = "1.2.3"
	_, err := p.Write(dir, false)
	require.NoError(t, err)
	own := filepath.Join(dir, "bin/fsmtx")
	for _, version := range []string{"1.2.2", "1.3.0"} { // the plugin is newer, and older
		assert.Contains(t, programs.Mismatch(dir, own, version), "was written by fsmtx 1.2.3, but its program is fsmtx "+version+",")
	}
	for _, version := range []string{"1.2.3", "1.3.0-dev.2+gabc", "1.2.3+dirty"} {
		assert.Empty(t, programs.Mismatch(dir, own, version), version)
	}
	assert.Empty(t, programs.Mismatch(dir, "/usr/bin/fsmtx", "1.3.0"), "it is not the plugin's program")
	assert.Empty(t, programs.Mismatch("", own, "1.3.0"), "no plugin has started it")
	require.NoError(t, os.Remove(filepath.Join(dir, "bin/VERSION")))
	assert.Empty(t, programs.Mismatch(dir, own, "1.3.0"), "it is not known")
}
