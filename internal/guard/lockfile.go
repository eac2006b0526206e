package guard

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"
)

// lockFile is what the workflow's lock says.
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

// readLock reads the workflow's lock. What is there and no regular file, a
// symlink too, is a lock nobody can be shown to own.
func readLock(path string) lockFile {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return lockFile{}
	}
	if err != nil {
		return lockFile{exists: true}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return lockFile{exists: true}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLock))
	if err != nil {
		return lockFile{exists: true}
	}
	return lockFile{exists: true, owner: textMember(jsontext.Value(data), "session_id")}
}
