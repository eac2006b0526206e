package medium

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel's protocol for file systems in user space, as in linux/fuse.h: the part that a
// single file needs that is never cached.
const (
	fuseForget      = 2
	fuseGetattr     = 3
	fuseSetattr     = 4
	fuseOpen        = 14
	fuseRead        = 15
	fuseWrite       = 16
	fuseRelease     = 18
	fuseFsync       = 20
	fuseInit        = 26
	fuseInterrupt   = 36
	fuseBatchForget = 42

	fuseMaxPages  = 1 << 22 // flag: the reply to init limits the size of requests in pages
	fuseBigWrites = 1 << 5  // flag: writes of more than a page
	fuseDirectIO  = 1       // flag of open: no page cache between the device and the medium

	fuseRoot     = 1
	fuseHeader   = 40 // bytes before the arguments of a request
	fuseTransfer = 1 << 20
)

type (
	fuseRequest struct {
		Length, Opcode uint32
		Unique, Node   uint64
		UID, GID, PID  uint32
		_              uint32
	}
	fuseReply struct {
		Length uint32
		Errno  int32
		Unique uint64
	}
	fuseTransferIn struct {
		Handle, Offset uint64
		Size           uint32
		_              uint32
		_              uint64
		_, _           uint32
	}
	fuseInitOut struct {
		Major, Minor, ReadAhead, Flags uint32
		MaxBackground, Congestion      uint16
		MaxWrite, Granularity          uint32
		MaxPages, _                    uint16
		_                              [8]uint32
	}
	fuseAttr struct {
		Valid                         uint64
		ValidNano, _                  uint32
		Inode, Size, Blocks           uint64
		ATime, MTime, CTime           uint64
		ANano, MNano, CNano           uint32
		Mode, Links, UID, GID, Device uint32
		BlockSize, Flags              uint32
	}
	fuseOpenOut struct {
		Handle   uint64
		Flags, _ uint32
	}
	fuseWriteOut struct{ Size, _ uint32 }
)

// Device opens what a process reads the kernel's requests from. It fails with ErrMissing if
// this user cannot open /dev/fuse on this machine.
func Device() (*os.File, error) {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: /dev/fuse cannot be opened: %w", ErrMissing, err)
	}
	return os.NewFile(uintptr(fd), "/dev/fuse"), nil
}

// mountFile mounts the file that a server of the device answers for. Call forget before the file
// is unmounted.
func mountFile(path string, device *os.File) (forget func(), err error) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, err
	}
	err = unix.Mount("fsmtx-disk", path, "fuse", unix.MS_NOSUID|unix.MS_NODEV,
		fmt.Sprintf("fd=%d,rootmode=100600,user_id=0,group_id=0", device.Fd()))
	if err != nil {
		return nil, fmt.Errorf("%w: a file system in user space cannot be mounted: %w", ErrMissing, err)
	}
	forget, err = register(path)
	if err != nil {
		return nil, errors.Join(err, unix.Unmount(path, unix.MNT_DETACH))
	}
	return forget, nil
}

const fuseControl = "/sys/fs/fuse/connections"

var servers struct {
	sync.Mutex
	aborts map[string]bool // files that end the connection to a server
}

// register remembers how to end the connection to the server of a mounted file, until forget.
func register(path string) (forget func(), err error) {
	var at unix.Stat_t
	if err := unix.Stat(path, &at); err != nil {
		return nil, err
	}
	if err := unix.Mount("fusectl", fuseControl, "fusectl", 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
		return nil, fmt.Errorf("%w: %s cannot be mounted, without which a killed process would leave a thread behind: %w",
			ErrMissing, fuseControl, err)
	}
	file := fmt.Sprintf("%s/%d/abort", fuseControl, unix.Minor(at.Dev))
	servers.Lock()
	defer servers.Unlock()
	if servers.aborts == nil {
		servers.aborts = map[string]bool{}
	}
	servers.aborts[file] = true
	return func() {
		servers.Lock()
		defer servers.Unlock()
		delete(servers.aborts, file)
	}, nil
}

// Abort makes every call that waits for a file of this process fail. It is the last thing that
// a process does that has to end while its disks are in use.
func Abort() {
	servers.Lock()
	defer servers.Unlock()
	for file := range servers.aborts {
		if err := os.WriteFile(file, []byte("1"), 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// Serve answers the kernel's requests for the file of a device, one at a time, so that a flush
// covers exactly the writes that were answered before it. It returns when the file is
// unmounted, or when stop is closed before it is mounted.
func (m *Medium) Serve(device *os.File, stop <-chan struct{}) error {
	defer runtime.KeepAlive(device)
	return (&fuseServer{m, int(device.Fd())}).run(stop)
}

type fuseServer struct {
	*Medium
	fd int
}

func (s *fuseServer) run(stop <-chan struct{}) error {
	buf := make([]byte, fuseTransfer+2*blockSize)
	for {
		n, err := unix.Read(s.fd, buf)
		switch {
		case errors.Is(err, unix.ENODEV):
			return nil
		case errors.Is(err, unix.EPERM): // it is not mounted yet
			select {
			case <-stop:
				return nil
			case <-time.After(10 * time.Millisecond):
			}
			continue
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOENT):
			continue
		case err != nil:
			return err
		}
		var r fuseRequest
		if _, err := binary.Decode(buf[:n], binary.NativeEndian, &r); err != nil {
			return err
		}
		if r.Opcode == fuseForget || r.Opcode == fuseBatchForget || r.Opcode == fuseInterrupt {
			continue // these have no reply
		}
		out, errno := s.answer(r, buf[fuseHeader:n])
		if err := s.reply(r.Unique, out, errno); err != nil {
			return err
		}
	}
}

func (s *fuseServer) reply(unique uint64, out any, errno unix.Errno) error {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, fuseReply{Unique: unique, Errno: -int32(errno)}); err != nil {
		return err
	}
	if out != nil {
		if err := binary.Write(&b, binary.NativeEndian, out); err != nil {
			return err
		}
	}
	binary.NativeEndian.PutUint32(b.Bytes(), uint32(b.Len()))
	if _, err := unix.Write(s.fd, b.Bytes()); err != nil && !errors.Is(err, unix.ENOENT) { // ENOENT: interrupted
		return err
	}
	return nil
}

func (s *fuseServer) answer(r fuseRequest, args []byte) (out any, errno unix.Errno) {
	switch r.Opcode {
	case fuseInit:
		return fuseInitOut{Major: 7, Minor: 31, Flags: fuseMaxPages | fuseBigWrites, MaxWrite: fuseTransfer, Granularity: 1,
			MaxPages: fuseTransfer / blockSize}, 0
	case fuseGetattr, fuseSetattr:
		return fuseAttr{Inode: fuseRoot, Size: uint64(s.size), Blocks: uint64(s.size) / 512, Mode: unix.S_IFREG | 0o600, Links: 1,
			BlockSize: blockSize}, 0
	case fuseOpen:
		return fuseOpenOut{Flags: fuseDirectIO}, 0
	case fuseRelease:
		return nil, 0
	case fuseFsync:
		s.flush()
		return nil, 0
	case fuseRead, fuseWrite:
		return s.transfer(r, args)
	}
	// This includes flush, which a close sends. If the server implemented it, a close would
	// wait for this process, which cannot answer while it forks or exits.
	return nil, unix.ENOSYS
}

func (s *fuseServer) transfer(r fuseRequest, args []byte) (out any, errno unix.Errno) {
	var in fuseTransferIn
	n, err := binary.Decode(args, binary.NativeEndian, &in)
	if err != nil || in.Offset%blockSize != 0 || in.Size%blockSize != 0 || int64(in.Offset)+int64(in.Size) > s.size {
		return nil, unix.EINVAL
	}
	if r.Opcode == fuseWrite {
		s.write(args[n:n+int(in.Size)], int64(in.Offset))
		return fuseWriteOut{Size: in.Size}, 0
	}
	data := make([]byte, in.Size)
	s.read(data, int64(in.Offset))
	return data, 0
}
