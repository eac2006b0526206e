package edit

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Darwin has no leases.
func lease(int) (held bool, err error) { return false, nil }
func leaseHolds(int) bool              { return true }
func leaseExclusively(int)             {}
func endLease(int)                     {}

// cloneACL is CLONE_ACL of <sys/clonefile.h>.
const cloneACL = 4

// clone creates an empty clone of a file and opens it for writing. Unlike a new file
// the clone has the access control list, which on darwin is not an extended attribute.
func clone(like *os.File, dir *safefile.Dir, name string) (*os.File, error) {
	if err := unix.Fclonefileat(int(like.Fd()), dir.Fd(), name, unix.CLONE_NOFOLLOW|cloneACL); err != nil {
		return nil, err
	}
	f, err := dir.Open(name, os.O_RDWR|os.O_TRUNC)
	if err != nil {
		_ = unix.Fchmodat(dir.Fd(), name, 0o600, 0) // the file may not be writable
		f, err = dir.Open(name, os.O_RDWR|os.O_TRUNC)
	}
	if err != nil {
		_ = dir.Remove(name)
	}
	return f, err
}
