package settings

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// goRun matches the paths of programs that go run built: in a temporary build directory
// or in the build cache.
var goRun = pattern.New(`/go-build[^/]*/b[0-9]+/exe/[^/]+$|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// Binary returns the absolute path with which the client can run this program. name
// is os.Args[0]. If name is a link to the program, Binary returns the link, because
// package managers change the link's target on upgrade; but if it is not called Program,
// the first thing it leads to that is, because hooks are known by that name. If go run
// built the program, Binary returns its path and ErrTemporary.
func Binary(name string) (string, error) {
	path, err := programs.Path()
	if err != nil {
		return "", err
	}
	if IsTemporary(path) {
		return path, fmt.Errorf("%s: %w", path, ErrTemporary)
	}
	if called, err := exec.LookPath(name); err == nil && safefile.Same(called, path) {
		path = called
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	for at := path; ; {
		if IsNamed(at) {
			return at, nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return path, nil // no link has the name
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		at = to
	}
}

// CheckName returns ErrNotOnPath if Program on PATH is not this program. A hook that
// runs Program by name would not start, or would run another version.
func CheckName() error {
	self, err := programs.Path()
	if err != nil {
		return err
	}
	found, err := exec.LookPath(Program)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotOnPath, err)
	}
	if !safefile.Same(found, self) {
		return fmt.Errorf("%w: this is %s, and PATH has %s", ErrNotOnPath, self, found)
	}
	return nil
}

// IsTemporary reports whether go run built the program at path, and will delete it. A
// hook with such a path would fail unnoticed: the client does not inform the model that a
// hook's program is missing (fact 46, client 2.1.329).
func IsTemporary(path string) bool { return goRun.Regexp().MatchString(filepath.ToSlash(path)) }
