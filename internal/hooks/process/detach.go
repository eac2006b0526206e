package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Detach starts the process and does not wait for it: the process may outlive this program.
// Its standard input is an unlinked file: this program may exit before it could have written
// everything to a pipe. The output is discarded, and the time limit is not enforced.
func (c Command) Detach() error {
	input, err := unnamedFile(c.Stdin)
	if err != nil {
		return c.notStarted(err)
	}
	defer input.Close()
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, input
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return c.notStarted(err)
	}
	return cmd.Process.Release()
}

// unnamedFile returns an open, unlinked file with the content, at its beginning.
func unnamedFile(content []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "hook-input-*")
	if err != nil {
		return nil, err
	}
	_, writeErr := f.Write(content)
	_, seekErr := f.Seek(0, 0)
	if err := errors.Join(os.Remove(f.Name()), writeErr, seekErr); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
