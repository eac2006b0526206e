package guard

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Purge removes the files that guards have kept for this user's sessions, of rules with
// their prefixes too, and returns their paths. Logs at a configured place are kept: only the
// project's configuration knows them.
func Purge(env func(string) string, prefixes ...string) (removed []string, err error) {
	return remove(cmp.Or(env(stateDir), defaultStateDir), prefixes, func(fs.FileInfo) bool { return true })
}

// RemoveOld is Purge for files that were last modified before that time, in the directory of
// a session. It ignores errors; the next session tries again.
func RemoveOld(s Session, before time.Time, prefixes ...string) {
	_, _ = remove(s.dir, prefixes, func(info fs.FileInfo) bool { return info.ModTime().Before(before) })
}

// remove removes the files of guards in a directory for which which returns true. The default
// directory is shared, so files of other users, and whatever is not a file, are left alone.
func remove(dir string, prefixes []string, which func(fs.FileInfo) bool) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	prefixes = append(prefixes, logPrefix, breakerPrefix, blocksPrefix)
	for _, e := range entries {
		if !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(e.Name(), prefix) }) {
			continue
		}
		info, err := e.Info()
		if err != nil || !isMine(info) || !which(info) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, path)
	}
	return removed, err
}

// isMine reports whether a file is a regular one of this user.
func isMine(info fs.FileInfo) bool {
	uid, ok := safefile.OwnerOf(info)
	return (!ok || uid == os.Getuid()) && info.Mode().IsRegular()
}
