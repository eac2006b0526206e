package realclient

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Package is another package that tests compare with, at a pinned version.
// The directory pinned has its digests.
type Package struct{ Name, Version string }

// Install returns a directory whose node_modules has the package, and installs it into
// the cache if it is not there. It returns ErrNoNPM, ErrNotPinned, or an error with
// npm's output.
func (p Package) Install(ctx context.Context) (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, filepath.Base(p.Name)+"-"+p.Version)
	if _, err := os.Stat(dir); err == nil {
		return dir, checkPinned(dir, p.Name, p.Version)
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
	if err := installPinned(ctx, building, p.Name, p.Version, "--ignore-scripts"); err != nil {
		return "", err
	}
	if err := os.Rename(building, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return dir, checkPinned(dir, p.Name, p.Version) // another process was faster
		}
		return "", err
	}
	return dir, nil
}
