package guard

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// sessionFiles are the beginnings of the names of session files; a session's id and an
// ending follow.
var sessionFiles = []string{logPrefix, breakerPrefix, blocksPrefix, "planning-research-budget-"}

// RemoveOld removes the files of ended sessions: regular files of this user in the
// session's directory that were last modified before that time. What cannot be removed
// stays; the next session tries again.
func RemoveOld(s Session, before time.Time) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !isSessionFile(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && isOld(info, before) {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

func isSessionFile(name string) bool {
	for _, prefix := range sessionFiles {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func isOld(info fs.FileInfo, before time.Time) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().IsRegular() && info.ModTime().Before(before)
}
