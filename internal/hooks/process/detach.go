package process

import (
	"os/exec"
)

// Shell returns the arguments that run a command line by a POSIX shell. Where there is none, starting them says so.
func Shell(line string) []string {
	sh, err := Sh()
	if err != nil {
		sh = "sh"
	}
	return []string{sh, "-c", line}
}

// Detach starts the process and does not wait for it: the process may outlive this program.
// Its standard input is a file without a name: this program may exit before it could have written
// everything to a pipe. The output is discarded, and the time limit is not enforced.
func (c Command) Detach() error {
	input, err := unnamedFile(c.Stdin)
	if err != nil {
		return c.notStarted(err)
	}
	defer input.Close()
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, input
	cmd.SysProcAttr = alone()
	if err := cmd.Start(); err != nil {
		return c.notStarted(err)
	}
	return cmd.Process.Release()
}
