//go:build windows

package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

func TestPathsOfWindows(t *testing.T) {
	assert.Equal(t, `C:\Program Files\ClaudeCode`, client.ManagedDir())
	r, err := client.ParseRegistry("file", []byte("[]"))
	require.NoError(t, err)
	for dir, applies := range map[string]bool{
		`C:\Work\app`: true, `c:\work\APP\src`: true, `C:\work\app2`: false, `D:\work\app`: false, `\\server\work\app`: false,
	} {
		assert.Equal(t, applies, r.Applies(client.Installation{Scope: client.ScopeLocal, ProjectPath: `C:\work\app`}, dir), dir)
	}
	assert.True(t, r.Applies(client.Installation{Scope: client.ScopeLocal, ProjectPath: `C:\`}, `C:\work`))
}
