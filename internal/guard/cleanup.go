package guard

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// RemoveOld removes the session files of all sessions that were last modified before that
// time: the files of the frame, and those whose names begin with one of the prefixes. It
// removes only regular files of this user, and ignores errors; the next session tries
// again.
func RemoveOld(s Session, before time.Time, prefixes ...string) {
	prefixes = append(prefixes, logPrefix, breakerPrefix, blocksPrefix)
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(e.Name(), prefix) }) {
			continue
		}
		if info, err := e.Info(); err == nil && isOld(info, before) {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

func isOld(info fs.FileInfo, before time.Time) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().IsRegular() && info.ModTime().Before(before)
}
