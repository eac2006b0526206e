// Package npm is what this program does when npm, or a package manager like it, has
// installed it: the hooks run a copy of the program outside of the packages.
//
// A hook needs a path that stays. Those of packages do not: npx and its likes run from
// caches that are emptied, some managers have the version in the path, and a version
// manager for Node has the version of Node in it. The client says next to nothing when a
// hook's program is missing (fact 46 of docs/client-facts.md), so the workflows would
// silently be gone. The price of a copy is that it keeps its version until it is
// renewed.
package npm

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Launcher is the variable in which the launcher of the npm package says where it is.
const Launcher = "FSMTX_LAUNCHER"

// names are the programs of the copy: the server of "fsmtx mcp" is looked for beside
// fsmtx.
var names = []string{"fsmtx", "fsmtx-mcp"}

// ErrOld is returned by Copy.Check for a copy of another version.
var ErrOld = errors.New("is not the version that npm has installed")

// Copy is the copy of the programs that hooks run.
type Copy struct {
	dir  string // of the copy
	from string // directory of this program
}

// Find returns the copy if this program is in a package, and where it is or will be:
// fsmtx/bin in XDG_DATA_HOME or ~/.local/share. For any other program ok is false.
//
// Errors: claude.ErrNoHome, and that of os.Executable.
func Find(getenv func(string) (string, bool)) (c Copy, ok bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, false, fmt.Errorf("finding the path of this program: %w", err)
	}
	c.from = filepath.Dir(self)
	if !slices.Contains(strings.Split(filepath.ToSlash(self), "/"), "node_modules") {
		return c, false, nil
	}
	c.dir, err = copyDir(getenv)
	return c, true, err
}

func copyDir(getenv func(string) (string, bool)) (string, error) {
	data, _ := getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // relative paths are invalid, says its specification
		home, _ := getenv("HOME")
		if home == "" {
			return "", claude.ErrNoHome
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "fsmtx", "bin"), nil
}

// Path is the path of fsmtx in the copy.
func (c Copy) Path() string { return filepath.Join(c.dir, names[0]) }

// Check returns ErrOld, naming the file, if the copy is not of this program's version. It
// reads both.
func (c Copy) Check() error {
	for _, name := range names {
		ours, err := os.ReadFile(filepath.Join(c.from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		theirs, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(ours, theirs) {
			return fmt.Errorf("%s %w", filepath.Join(c.dir, name), ErrOld)
		}
	}
	return nil
}

// Renew makes the copy one of this program's version. Programs that run from it go on
// undisturbed. It writes nothing if the copy is of this version already.
func (c Copy) Renew() error {
	if c.Check() == nil {
		return nil
	}
	if _, err := safefile.Mkdir(c.dir); err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(c.from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := safefile.Write(filepath.Join(c.dir, name), data, renameio.WithStaticPermissions(0o755)); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the copy and returns its directory, empty if there was none. It keeps
// what others have put there.
func Remove(getenv func(string) (string, bool)) (string, error) {
	dir, err := copyDir(getenv)
	if err != nil {
		return "", err
	}
	removed := ""
	for _, name := range names {
		switch err := os.Remove(filepath.Join(dir, name)); {
		case err == nil:
			removed = dir
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
	}
	if removed != "" {
		_ = os.Remove(dir)
		_ = os.Remove(filepath.Dir(dir))
	}
	return removed, nil
}

// IsOnPath reports whether the launcher that started this program is the fsmtx on PATH.
func IsOnPath(getenv func(string) (string, bool)) bool {
	launcher, _ := getenv(Launcher)
	found, err := exec.LookPath(names[0])
	if err != nil || launcher == "" {
		return false
	}
	return safefile.Same(found, launcher)
}
