package realclient

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Package is another package that tests compare with, at a pinned version.
type Package struct{ Name, Version string }

// Install returns a directory whose node_modules has the package, and installs it into
// the cache if it is not there. It returns ErrNoNPM, or an error with npm's output.
func (p Package) Install(ctx context.Context) (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, filepath.Base(p.Name)+"-"+p.Version)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", ErrNoNPM
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(cache, "lock"))
	if err := lock.Lock(); err != nil {
		return "", err
	}
	defer lock.Close()
	building, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(building)
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", building, "--ignore-scripts", "--no-audit", "--no-fund", p.Name+"@"+p.Version)
	if err := output(npm); err != nil {
		return "", err
	}
	if err := os.Rename(building, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return dir, nil // another process was faster
		}
		return "", err
	}
	return dir, nil
}
