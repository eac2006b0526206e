package tasks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// recordPrefix begins the names of lock records in scratch. A record has one line per
// lock: inode, nanoseconds, name. It is written once, before its locks are renamed into
// place, so a lock of a torn record is never in place.
const recordPrefix = "record-"

func encodeRecord(locks []prepared) []byte {
	var b bytes.Buffer
	for _, p := range locks {
		fmt.Fprintf(&b, "%d %d %s\n", p.inode, p.nanos, p.name)
	}
	return b.Bytes()
}

// parseRecord skips lines that encodeRecord does not write, and names that contain a
// slash or do not end in lockSuffix.
func parseRecord(data []byte) []lock {
	var locks []lock
	for line := range strings.Lines(string(data)) {
		var h lock
		if n, err := fmt.Sscanf(line, "%d %d", &h.inode, &h.nanos); n != 2 || err != nil {
			continue
		}
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(fields) != 3 || !strings.HasSuffix(fields[2], lockSuffix) || strings.ContainsAny(fields[2], "/\x00") {
			continue
		}
		h.name = fields[2]
		locks = append(locks, h)
	}
	return locks
}

// Reap releases the locks of dead processes. It runs while the state directory is
// locked, so every process with a record in scratch is dead.
func (l *clientLocks) Reap() error {
	entries, err := l.files.ReadDir(l.scratch)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), recordPrefix) {
			continue
		}
		data, err := l.files.ReadFile(filepath.Join(l.scratch, e.Name()))
		if errors.Is(err, vfs.ErrNotRegular) {
			// Records are not synced: after a power cut a file system without a journal
			// may have a directory or another file under that name. Its locks become stale.
			continue
		}
		if err != nil {
			return err
		}
		for _, h := range parseRecord(data) {
			if err := l.release(h); err != nil {
				return err
			}
		}
	}
	l.clearScratch(entries)
	return nil
}

// clearScratch removes these files and empty directories in scratch. Full directories are
// left: they do no harm.
func (l *clientLocks) clearScratch(entries []fs.DirEntry) {
	for _, e := range entries {
		_ = l.files.Remove(filepath.Join(l.scratch, e.Name()))
	}
}
