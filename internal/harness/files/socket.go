package files

import (
	"net"
	"os"
	"path/filepath"
)

// Socket creates a Unix socket at path and returns the function that closes it. The system limits
// the path of a socket to about 100 bytes, so the directory is reached through a short link.
func Socket(path string) (closeSocket func() error, err error) {
	short, err := os.MkdirTemp("/tmp", "fsmtx-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(short)
	link := filepath.Join(short, "d")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(link, filepath.Base(path))})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the link is gone by then
	return l.Close, nil
}
