package rules

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// lockFile is the content of the workflow's lock.
type lockFile struct {
	exists bool
	owner  string // session_id, empty if it cannot be read
}

func (l lockFile) describe() string {
	switch {
	case !l.exists:
		return "none"
	case l.owner == "":
		return "unreadable"
	}
	return "held by " + l.owner
}

// maxLock bounds a lock, which is a line or two of JSON.
const maxLock = 1 << 20

// readLock reads the workflow's lock. Anything but a regular file, a symbolic link
// included, is a lock without an owner.
func readLock(path string) lockFile {
	data, err := safefile.ReadFile(path, maxLock, safefile.NoFollow)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return lockFile{}
	}
	return lockFile{exists: true, owner: jsonx.StringMember(data, "session_id")}
}
