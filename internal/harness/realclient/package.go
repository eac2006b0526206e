//go:build unix

package realclient

import (
	"context"
	"path/filepath"
)

// Package is an npm package that tests compare with, at a pinned version. The directory
// pinned holds its digests.
type Package struct{ Name, Version string }

// Codex is OpenAI's Codex.
var Codex = Package{Name: "@openai/codex", Version: "0.169.0"}

// Install returns a directory whose node_modules has the package, and installs it into
// the cache if it is not there. It returns ErrNoNPM, errNotPinned, or an error with
// npm's output.
func (p Package) Install(ctx context.Context) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, filepath.Base(p.Name)+"-"+p.Version)
	err = intoCache(dir, func(building string) error {
		return installPinned(ctx, building, p.Name, p.Version, "--ignore-scripts")
	})
	if err != nil {
		return "", err
	}
	return dir, checkPinned(dir, p.Name, p.Version)
}
