package rules

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// Contents returns the content of every file below a directory, by path, and "directory"
// for every directory.
func Contents(t require.TestingT, root string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "directory"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}
