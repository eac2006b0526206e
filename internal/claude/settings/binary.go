package settings

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
)

// goRun matches the two places where go run leaves the program it built: a
// directory of the build's own, and the build cache.
var goRun = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/go-build[^/]*/b[0-9]+/exe/[^/]+$|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)
})

// Binary returns the absolute path by which the client can call this program.
// name is what it was called by, os.Args[0]: if that is a link to the program the
// link is returned, because a package manager moves what is behind it. For a
// program that will be gone it returns the path and ErrTemporary.
func Binary(name string) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program's own path: %w", err)
	}
	if IsTemporary(path) {
		return path, fmt.Errorf("%s: %w", path, ErrTemporary)
	}
	if called, err := exec.LookPath(name); err == nil && sameFile(called, path) {
		path = called
	}
	return filepath.Abs(path)
}

// IsTemporary reports whether go run made the program at path. The client tells
// nobody that a hook's program does not exist.
func IsTemporary(path string) bool { return goRun().MatchString(filepath.ToSlash(path)) }

func sameFile(a, b string) bool {
	inA, errA := os.Stat(a)
	inB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(inA, inB)
}
