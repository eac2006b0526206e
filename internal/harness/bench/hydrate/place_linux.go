package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
	"github.com/fsmtx/fsmtx/internal/harness/medium"
)

// slowDisks are the file systems on slow disks, large enough for every row.
func slowDisks() []medium.FileSystem {
	ext4, xfs := medium.Ext4, medium.XFS
	ext4.Size = 512 * medium.MiB
	return []medium.FileSystem{ext4, xfs}
}

// apart runs this program again, in a process with mounts of its own and the directory work, and
// returns its exit code. This process keeps the slow disks: its memory, which is that of the
// disks, does not count as the peak of the programs that are timed. Nobody else sees the mounts,
// and the kernel removes them with the last process that has them, however that ends; this
// process does not have them, so that its own end never waits for a disk.
func apart(work string, flush time.Duration) (code int, err error) {
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Env = append(os.Environ(), workVariable+"="+work)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	for range slowDisks() {
		device, err := medium.Device()
		if err != nil {
			return 0, err
		}
		c.ExtraFiles = append(c.ExtraFiles, device)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	runtime.LockOSThread() // the other process is killed when the thread that starts it ends
	if err := c.Start(); err != nil {
		signal.Stop(signals)
		return 0, fmt.Errorf("a process with mounts of its own, which only root can start: %w", err)
	}
	go func() {
		for s := range signals {
			_ = c.Process.Signal(s)
		}
	}()
	over := make(chan struct{})
	unmounted := serve(c.ExtraFiles, flush, over)
	err = c.Wait()
	close(over)
	select {
	case <-unmounted:
	case <-time.After(5 * time.Second): // a program that is still there gets errors from its disk
	}
	if failed, exited := errors.AsType[*exec.ExitError](err); exited {
		return max(failed.ExitCode(), 1), nil
	}
	return 0, err
}

// serve keeps slow disks on devices until all that were mounted before over are unmounted.
func serve(devices []*os.File, flush time.Duration, over <-chan struct{}) (unmounted chan error) {
	unmounted = make(chan error, 1)
	var group errgroup.Group
	for i, f := range slowDisks() {
		m := medium.Empty(f.Size)
		m.Slow(flush)
		group.Go(func() error { return m.Serve(devices[i], over) })
	}
	go func() { unmounted <- group.Wait() }()
	return unmounted
}

// mountSlow mounts new file systems below dir, on the disks of the process that started this
// one. It says what it cannot mount, and why.
func mountSlow(dir string, flush time.Duration) (mounted []place, unmount func()) {
	process.Check(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	var disks []*medium.Disk
	for i, f := range slowDisks() {
		d, err := mountOne(filepath.Join(dir, f.Name), f, os.NewFile(uintptr(3+i), "/dev/fuse")) // 3 is the first of ExtraFiles
		if err != nil {
			log.Printf("not measured on %s where a flush takes %s: %v", f.Name, millis(flush), err)
			continue
		}
		disks = append(disks, d)
		mounted = append(mounted, place{d.At, fmt.Sprintf("%s, a flush takes %s", f.Name, millis(flush))})
	}
	return mounted, func() {
		for _, d := range disks {
			if err := d.Close(); err != nil {
				log.Print("unmounting a slow disk: ", err)
			}
		}
	}
}

// mountOne closes the device: the disk must end with the process that serves it.
func mountOne(dir string, f medium.FileSystem, device *os.File) (*medium.Disk, error) {
	defer device.Close()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	d, err := medium.New(dir, f, device)
	if err != nil {
		return nil, err
	}
	if err := d.Mount(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}
