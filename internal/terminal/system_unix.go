//go:build unix

package terminal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

func lookup(name string) (string, bool) { return os.LookupEnv(name) }

// writeSurviving writes to standard output or error without ending the program when the reader is gone.
func writeSurviving(f *os.File, p []byte) (n int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Write(func(fd uintptr) (done bool) {
		for n < len(p) && failed == nil {
			var m int
			m, failed = unix.Write(int(fd), p[n:])
			n += max(m, 0)
			if errors.Is(failed, unix.EINTR) {
				failed = nil
			}
		}
		if errors.Is(failed, unix.EAGAIN) {
			failed = nil
			return false // it is called again when there is room
		}
		return true
	})
	if failed != nil {
		err = &fs.PathError{Op: "write", Path: f.Name(), Err: failed}
	}
	return n, err
}

// openTerminal opens the terminal itself, whatever the standard streams are.
func openTerminal() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// NotifyChanges has it sent when the terminal gets another size, and when a stopped process goes on, until stop is called.
func NotifyChanges(resized, continued chan os.Signal) (stop func()) {
	signal.Notify(resized, syscall.SIGWINCH)
	signal.Notify(continued, syscall.SIGCONT)
	return func() { signal.Stop(resized); signal.Stop(continued) }
}

// Suspend stops the processes of this group, as ^Z does.
func Suspend() error { return syscall.Kill(0, syscall.SIGTSTP) }

// prepare does nothing: terminals have UTF-8 and colours here.
func prepare() {}
