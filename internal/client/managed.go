package client

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ManagedDir returns the directory with the settings files of an organisation, which
// take precedence over all others (client 2.1.329). What Windows has in its registry is not read.
func ManagedDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// ManagedFiles returns the paths of the settings files of an organisation in dir, the one
// with the lowest precedence first: managed-settings.json, which may not exist, and the
// files of managed-settings.d, in the order of their names (fact 110, client 2.1.329).
func ManagedFiles(readDir func(string) ([]fs.DirEntry, error), dir string) []string {
	files := []string{filepath.Join(dir, "managed-settings.json")}
	parts := filepath.Join(dir, "managed-settings.d")
	entries, _ := readDir(parts)
	var names []string
	for _, e := range entries {
		isFile := e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0
		if isFile && strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, filepath.Join(parts, e.Name()))
		}
	}
	slices.Sort(names)
	return append(files, names...)
}
