package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatSettingsSayAboutTheTracker(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	for text, want := range map[string][2]bool{
		`{"experimental": {"taskTracker": true}}`:          {true, true},
		`{"experimental": {"taskTracker": true,}} // mine`: {true, true},
		`{"experimental": {"taskTracker": false}}`:         {false, true},
		`{"experimental": {"taskTracker": "yes"}}`:         {false, false},
		`{"experimental": {}}`:                             {false, false},
		`{"experimental"`:                                  {false, false},
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		on, known := tracks(file)
		assert.Equal(t, want, [2]bool{on, known}, text)
	}
}
