package crash_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// cannotRestrict is the exit code of a process whose restrictions could not be set.
const cannotRestrict = 99

// restrict sets the restrictions of this process that its environment names:
//
//	FSMTX_TEST_UID=N      it runs as the user N
//	FSMTX_TEST_FILES=N    it may have N files open
//	FSMTX_TEST_BYTES=N    its files may have N bytes
//	FSMTX_TEST_NOLINKS=1  the kernel refuses hard links
//
// All but the user are set before the program executes itself again, so that they
// hold from its first instruction. The user is set afterwards, because another user
// may not be allowed to execute it.
func restrict() error {
	runtime.LockOSThread() // the filter of system calls is a thread's
	again := false
	for name, take := range map[string]func(n int) error{
		"FSMTX_TEST_FILES":   func(n int) error { return limit(syscall.RLIMIT_NOFILE, n) },
		"FSMTX_TEST_BYTES":   func(n int) error { return limit(syscall.RLIMIT_FSIZE, n) },
		"FSMTX_TEST_NOLINKS": func(int) error { return refuseLinks() },
	} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			if err := take(n); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			os.Unsetenv(name)
			again = true
		}
	}
	if again {
		return syscall.Exec(self(), os.Args, os.Environ())
	}
	runtime.UnlockOSThread()
	if id, err := strconv.Atoi(os.Getenv("FSMTX_TEST_UID")); err == nil {
		return become(id)
	}
	return nil
}

func limit(what, n int) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(what, &l); err != nil {
		return err
	}
	l.Cur, l.Max = uint64(n), uint64(n)
	return syscall.Setrlimit(what, &l)
}

func become(id int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(id); err != nil {
		return err
	}
	return syscall.Setuid(id)
}

// self returns the path of this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
