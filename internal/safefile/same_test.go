package safefile_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

func TestSame(t *testing.T) {
	root := t.TempDir()
	a, b, second, missing := root+"/a", root+"/b", root+"/second", root+"/missing"
	require.NoError(t, os.WriteFile(a, nil, 0o600))
	require.NoError(t, os.WriteFile(b, nil, 0o600))
	require.NoError(t, os.Link(a, second))
	assert.True(t, safefile.Same(missing, missing))
	assert.True(t, safefile.Same(a, second))
	assert.False(t, safefile.Same(a, b))
	assert.False(t, safefile.Same(missing, a))
	assert.False(t, safefile.Same(a, missing))
}
