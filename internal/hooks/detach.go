package hooks

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach starts the process and does not wait for it, not even for this one's
// end. Its standard input is a file that has no name any more, its output goes
// nowhere, and nothing enforces its timeout, as with the agent that has such
// hooks.
func (i invocation) detach() error {
	input, err := unnamed(i.stdin)
	if err != nil {
		return i.notStarted(err)
	}
	defer input.Close()
	cmd := exec.Command(i.argv[0], i.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = i.dir, i.env, input
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return i.notStarted(err)
	}
	return cmd.Process.Release()
}

// unnamed returns a file with the content, open at its beginning and already
// removed.
func unnamed(content []byte) (*os.File, error) {
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
