package client

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxHead bounds how much of the beginning of a transcript is read.
const maxHead = 1 << 20

// Origin reports whether the transcript of a session goes on from another one, and that one's id if its lines have it: there is none
// yet, or nothing in it, or it begins with lines that were copied, or with what a compaction has left.
func Origin(path, session string) (id string, other bool) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return "", path != "" && errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxHead)
	for n := 0; lines.Scan(); n += len(lines.Bytes()) {
		var l struct {
			Type, Subtype, SessionID string
			IsCompactSummary         bool
		}
		if json.Unmarshal(lines.Bytes(), &l, json.MatchCaseInsensitiveNames(true)) != nil || n > maxHead {
			return "", false
		}
		switch {
		case l.SessionID != "" && l.SessionID != session:
			return l.SessionID, true
		case l.Subtype == "compact_boundary", l.IsCompactSummary:
			return "", true
		case l.Type == "user" || l.Type == "assistant":
			return "", false
		}
	}
	return "", lines.Err() == nil
}

// Neighbours returns the session with this id if it has a transcript beside that of path. Otherwise it
// returns the sessions, other than that of path, that have one, the one written last first.
func Neighbours(path, session string) (ids []string) {
	const suffix = ".jsonl"
	if path == "" {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // a directory that cannot be read has none
	var all []fs.FileInfo
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		info, err := e.Info()
		switch {
		case !ok || err != nil || e.Name() == filepath.Base(path):
		case name == session:
			return []string{name}
		default:
			all = append(all, info)
		}
	}
	slices.SortStableFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range all {
		ids = append(ids, strings.TrimSuffix(info.Name(), suffix))
	}
	return ids
}
