package guard

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Purge removes the files that guards have kept for this user's sessions, of rules with
// their prefixes too, and returns their paths. Logs at a configured place are kept: only the
// project's configuration knows them.
//
// The default directory is shared, so files of other users, and whatever is not a file, are
// left alone.
func Purge(env func(string) string, prefixes ...string) (removed []string, err error) {
	dir := cmp.Or(env(stateDir), defaultStateDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	prefixes = append(prefixes, logPrefix, breakerPrefix, blocksPrefix)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !hasPrefix(e.Name(), prefixes) || !isMine(path) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, path)
	}
	return removed, nil
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// isMine reports whether the path is a regular file of this user.
func isMine(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
