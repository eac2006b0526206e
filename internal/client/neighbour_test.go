package client

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNeighbour(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own.jsonl")
	assert.Empty(t, Neighbour(own, "a"))
	assert.Empty(t, Neighbour("", "a"))
	for i, name := range []string{"a.jsonl", "b.jsonl", "c.jsonl", "own.jsonl", "notes.txt"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		at := time.Now().Add(time.Duration(i%3-5) * time.Minute) // c is the newest
		require.NoError(t, os.Chtimes(path, at, at))
	}
	assert.Equal(t, "c", Neighbour(own, ""))
	assert.Equal(t, "c", Neighbour(own, "gone"))
	assert.Equal(t, "a", Neighbour(own, "a"))
}
