package medium

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FileSystem is a kind of file system, with the options of one way to use it.
type FileSystem struct {
	Name    string
	Kind    string   // the kernel's name
	Size    int64    // of the disk, in bytes
	Mkfs    []string // the program that makes it, and its arguments before the device
	Options string   // of mount
	Check   []string // a program that has to run before a mount after a power cut
}

// MiB is a unit of sizes.
const MiB = 1 << 20

// Ext4 and XFS have the smallest size that their mkfs accepts. Nothing is left to be initialised
// while they are mounted.
var (
	Ext4 = FileSystem{Name: "ext4", Kind: "ext4", Size: 24 * MiB, Options: "data=ordered",
		Mkfs: []string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}}
	XFS = FileSystem{Name: "xfs", Kind: "xfs", Size: 320 * MiB, Mkfs: []string{"mkfs.xfs", "-q", "-f", "-K", "-s", "size=4096"}}
)

// ErrMissing is returned when the kernel, the machine or the rights of this user lack something
// that a disk needs.
var ErrMissing = errors.New("missing here")

// Disk is a device with a file system on it, whose blocks are in a process's memory.
type Disk struct {
	FileSystem
	At      string // where it is mounted
	Checked []byte // what the check before the last mount printed

	file   string // the medium as a file
	loop   string // its device while it is mounted
	forget func()
}

// New makes an empty file system, whose medium and mount point are in the directory dir. It is
// not mounted. The medium is what Serve answers for, with the same device and size, in this
// process or in another one, for which this one then closes the device. New fails with ErrMissing
// if this machine cannot make the file system.
func New(dir string, f FileSystem, device *os.File) (*Disk, error) {
	d := &Disk{FileSystem: f, file: filepath.Join(dir, "medium"), At: filepath.Join(dir, "disk")}
	if _, err := exec.LookPath(f.Mkfs[0]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	if err := os.Mkdir(d.At, 0o755); err != nil {
		return nil, err
	}
	var err error
	if d.forget, err = mountFile(d.file, device); err != nil {
		return nil, err
	}
	if err := d.make(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close ends the disk. If it is mounted and in use, what uses it gets errors.
func (d *Disk) Close() error {
	if err := unix.Unmount(d.At, 0); errors.Is(err, unix.EBUSY) {
		Abort()
		_ = unix.Unmount(d.At, unix.MNT_DETACH)
	}
	d.forget()
	return unix.Unmount(d.file, unix.MNT_DETACH)
}

// Own is a disk whose medium is in this process.
type Own struct {
	*Disk
	*Medium
	device *os.File
	served chan error
}

// Here makes an empty file system as New does, on a medium of this process.
func Here(dir string, f FileSystem) (*Own, error) {
	device, err := Device()
	if err != nil {
		return nil, err
	}
	o := &Own{Medium: Empty(f.Size), device: device, served: make(chan error, 1)}
	stop := make(chan struct{})
	go func() { o.served <- o.Serve(device, stop) }()
	if o.Disk, err = New(dir, f, device); err != nil {
		close(stop)
		return nil, errors.Join(err, <-o.served, device.Close())
	}
	return o, nil
}

// Close ends the disk and its medium.
func (o *Own) Close() error {
	defer o.device.Close()
	if err := o.Disk.Close(); err != nil {
		return err
	}
	return <-o.served
}

func (d *Disk) make() error {
	loop, err := d.attach()
	if err != nil {
		return err
	}
	defer loop.Close()
	_, err = run(d.Mkfs, loop.Name(), 0)
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

// Mount mounts what is on the medium. The device is a new one each time, so that
// nothing is left in the kernel's caches of what was on the medium before.
func (d *Disk) Mount() error {
	loop, err := d.attach()
	if err != nil {
		return err
	}
	defer loop.Close() // the mount keeps it until it is unmounted
	d.loop = loop.Name()
	if d.Check != nil {
		const corrected = 2
		if d.Checked, err = run(d.Check, d.loop, corrected); err != nil {
			return err
		}
	}
	err = unix.Mount(d.loop, d.At, d.Kind, unix.MS_NOATIME, d.Options)
	if errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("%w: the kernel has no %s", ErrMissing, d.Kind)
	}
	if err != nil {
		return fmt.Errorf("mount of %s: %w", d.Name, err)
	}
	return nil
}

// attach makes the medium a loop device, which disappears when it is closed.
func (d *Disk) attach() (*os.File, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
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
			return nil, fmt.Errorf("%w: a loop device: %w", ErrMissing, err)
		}
		loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMissing, err)
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

// Unmount unmounts the file system.
func (d *Disk) Unmount() error {
	if err := unix.Unmount(d.At, 0); err != nil {
		return fmt.Errorf("unmount of %s: %w", d.Name, err)
	}
	if d.Kind == "btrfs" {
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

// Sync makes everything in the file system durable.
func (d *Disk) Sync() error {
	dir, err := os.Open(d.At)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Syncfs(int(dir.Fd()))
}
