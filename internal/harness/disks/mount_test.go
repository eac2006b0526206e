//go:build disks && linux

package disks_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fileSystem is a kind of file system, with the options of one way to use it.
type fileSystem struct {
	name    string
	kind    string // the kernel's name
	size    int64  // the smallest that its mkfs accepts
	mkfs    []string
	options string
	check   []string // a program that has to run before a mount after a power cut
}

const mib = 1 << 20

var ext4 = []string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}

var fileSystems = []fileSystem{
	{name: "ext4 data=ordered", kind: "ext4", size: 24 * mib, mkfs: ext4, options: "data=ordered"},
	{name: "ext4 data=writeback", kind: "ext4", size: 24 * mib, mkfs: ext4, options: "data=writeback"},
	{name: "ext4 fast_commit", kind: "ext4", size: 24 * mib, mkfs: append(ext4[:len(ext4):len(ext4)], "-O", "fast_commit"),
		options: "data=ordered"},
	{name: "ext4 without journal", kind: "ext4", size: 24 * mib, mkfs: append(ext4[:len(ext4):len(ext4)], "-O", "^has_journal"),
		check: []string{"e2fsck", "-fy"}},
	{name: "xfs", kind: "xfs", size: 320 * mib, mkfs: []string{"mkfs.xfs", "-q", "-f", "-K", "-s", "size=4096"}},
	{name: "btrfs", kind: "btrfs", size: 128 * mib, mkfs: []string{"mkfs.btrfs", "-q", "-f", "-K"}},
	{name: "f2fs", kind: "f2fs", size: 128 * mib, mkfs: []string{"mkfs.f2fs", "-q", "-f", "-t", "0"}},
}

// errMissing is returned when the kernel or the machine lacks something.
var errMissing = errors.New("missing here")

// drive is a device with a file system on it.
type drive struct {
	fileSystem
	*medium
	file string // the medium as a file
	at   string // where it is mounted
	loop string // its device while it is mounted

	checked []byte // what the check before the last mount printed
}

// newDrive makes an empty file system. It fails with errMissing if this machine cannot
// make or mount it.
func newDrive(t *testing.T, f fileSystem) (*drive, error) {
	dir := t.TempDir()
	d := &drive{fileSystem: f, medium: &medium{size: f.size, content: image{}}, file: filepath.Join(dir, "medium"),
		at: filepath.Join(dir, "disk")}
	require.NoError(t, os.Mkdir(d.at, 0o755))
	serve(t, d.medium, d.file)
	if _, err := exec.LookPath(f.mkfs[0]); err != nil {
		return nil, fmt.Errorf("%w: %w", errMissing, err)
	}
	if err := d.make(); err != nil {
		return nil, err
	}
	if err := d.mount(); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = unix.Unmount(d.at, unix.MNT_DETACH) })
	return d, d.unmount()
}

func (d *drive) make() error {
	loop, err := d.attach()
	if err != nil {
		return err
	}
	defer loop.Close()
	_, err = run(d.mkfs, loop.Name(), 0)
	return err
}

// run runs a program for a device and returns what it prints. Exit codes up to good
// are not failures.
func run(command []string, device string, good int) ([]byte, error) {
	out, err := exec.Command(command[0], append(command[1:len(command):len(command)], device)...).CombinedOutput()
	failed, exited := errors.AsType[*exec.ExitError](err)
	if err == nil || exited && failed.Exited() && failed.ExitCode() <= good {
		return out, nil
	}
	return out, fmt.Errorf("%s: %w: %s", command[0], err, out)
}

// mount mounts what is on the medium. The device is a new one each time, so that
// nothing is left in the kernel's caches of what was on the medium before.
func (d *drive) mount() error {
	loop, err := d.attach()
	if err != nil {
		return err
	}
	defer loop.Close() // the mount keeps it until it is unmounted
	d.loop = loop.Name()
	if d.check != nil {
		const corrected = 2
		if d.checked, err = run(d.check, d.loop, corrected); err != nil {
			return err
		}
	}
	err = unix.Mount(d.loop, d.at, d.kind, unix.MS_NOATIME, d.options)
	if errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("%w: the kernel has no %s", errMissing, d.kind)
	}
	if err != nil {
		return fmt.Errorf("mount of %s: %w", d.name, err)
	}
	return nil
}

// attach makes the medium a loop device, which disappears when it is closed.
func (d *drive) attach() (*os.File, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMissing, err)
	}
	defer control.Close()
	// Not os.OpenFile, which polls: the runtime would wait for this process.
	file, err := unix.Open(d.file, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(file)
	for {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("%w: a loop device: %w", errMissing, err)
		}
		loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errMissing, err)
		}
		config := unix.LoopConfig{Fd: uint32(file), Size: blockSize}
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &config)
		if err == nil {
			return loop, nil
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) { // another process took it
			return nil, fmt.Errorf("loop device: %w", err)
		}
	}
}

func (d *drive) unmount() error {
	if err := unix.Unmount(d.at, 0); err != nil {
		return fmt.Errorf("unmount of %s: %w", d.name, err)
	}
	if d.kind == "btrfs" {
		return forget(d.loop)
	}
	return nil
}

// forget makes btrfs forget a device. It remembers those that it has seen, and refuses
// an older state of the same file system on another one.
func forget(device string) error {
	control, err := os.OpenFile("/dev/btrfs-control", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer control.Close()
	const forgetDevice = 0x50009405 // BTRFS_IOC_FORGET_DEV
	var args struct {
		fd   int64
		name [4088]byte
	}
	copy(args.name[:], device)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, control.Fd(), forgetDevice, uintptr(unsafe.Pointer(&args)))
	if errno != 0 && errno != unix.ENOENT {
		return fmt.Errorf("btrfs cannot forget %s: %w", device, errno)
	}
	return nil
}

// syncfs makes everything in the file system durable.
func (d *drive) syncfs() error {
	dir, err := os.Open(d.at)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Syncfs(int(dir.Fd()))
}
