//go:build unix

package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// keepAttributes gives a new file the owner, the group and the extended attributes of like, which
// include access control lists, and the permissions of mode.
func keepAttributes(f, like *os.File, mode fs.FileMode) error {
	fd := int(f.Fd())
	var want, have unix.Stat_t
	if err := errors.Join(unix.Fstat(int(like.Fd()), &want), unix.Fstat(fd, &have)); err != nil {
		return err
	}
	if want.Uid != have.Uid || want.Gid != have.Gid {
		if err := unix.Fchown(fd, int(want.Uid), int(want.Gid)); err != nil {
			return fmt.Errorf("it belongs to user %d and group %d, and this is user %d: %w", want.Uid, want.Gid, os.Geteuid(), err)
		}
	}
	if err := copyAttributes(fd, int(like.Fd())); err != nil {
		return err
	}
	bits := uint32(want.Mode)&0o7000 | uint32(mode.Perm())
	if err := unix.Fstat(fd, &have); err != nil {
		return err
	}
	if uint32(have.Mode)&0o7777 != bits {
		return unix.Fchmod(fd, bits)
	}
	return nil
}

// copyAttributes makes the extended attributes of fd those of like. On a file system
// without extended attributes it does nothing.
func copyAttributes(fd, like int) error {
	want, err := attributes(like)
	if err != nil {
		return err
	}
	have, err := attributes(fd)
	if err != nil {
		return err
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			if err := unix.Fremovexattr(fd, name); err != nil {
				return fmt.Errorf("removing the attribute %s: %w", name, err)
			}
		}
	}
	for name, value := range want {
		if bytes.Equal(have[name], value) {
			continue
		}
		if err := unix.Fsetxattr(fd, name, value, 0); err != nil {
			return fmt.Errorf("setting the attribute %s: %w", name, err)
		}
	}
	return nil
}

// notCopied are attributes that the system computes from a file's content or its origin,
// so that they are not valid for another file.
var notCopied = []string{"security.ima", "security.evm", "com.apple.provenance"}

// attributes returns the extended attributes of a file by name, without notCopied.
func attributes(fd int) (map[string][]byte, error) {
	list, err := readAttribute(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for name := range strings.SplitSeq(string(list), "\x00") {
		if name == "" || slices.Contains(notCopied, name) {
			continue
		}
		value, err := readAttribute(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
		if err != nil {
			return nil, fmt.Errorf("reading the attribute %s: %w", name, err)
		}
		all[name] = value
	}
	return all, nil
}

// readAttribute reads a value whose size is not known. Without a buffer, read returns the
// size.
func readAttribute(read func([]byte) (int, error)) ([]byte, error) {
	for {
		size, err := read(nil)
		if err != nil || size == 0 {
			return nil, err
		}
		buf := make([]byte, size)
		n, err := read(buf)
		if errors.Is(err, unix.ERANGE) {
			continue // the value has grown
		}
		return buf[:max(n, 0)], err
	}
}
