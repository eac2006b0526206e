package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// IsNew reports whether the transcript of a session does not exist yet, or has nothing in it.
func IsNew(path string) bool {
	info, err := os.Stat(path)
	return path != "" && (errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0)
}

// Neighbour returns the session with this id if it has a transcript beside that of path. Otherwise it
// returns the session, other than that of path, whose transcript was written last, or "".
func Neighbour(path, session string) (id string) {
	const suffix = ".jsonl"
	if path == "" {
		return ""
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // a directory that cannot be read has none
	var last time.Time
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		info, err := e.Info()
		switch {
		case !ok || err != nil || e.Name() == filepath.Base(path):
		case name == session:
			return name
		case info.ModTime().After(last):
			id, last = name, info.ModTime()
		}
	}
	return id
}
