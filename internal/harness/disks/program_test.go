//go:build disks && linux

package disks_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/harness/overseer"
)

// result is the end of a process.
type result struct {
	code   int // -1 if it was killed
	output string
}

// roleVariable names the environment variable with the role of this program in a child
// process: fsmtx, or the tests.
const roleVariable = "FSMTX_TEST_ROLE"

// runProgram runs fsmtx, which is this program, in a home directory. Its working
// directory is not on the drive: a fork waits for it, and this process cannot serve
// the drive while it forks.
func runProgram(home string, decide overseer.Decide, stdin string, args ...string) (result, error) {
	c := exec.Command("/proc/self/exe", args...)
	c.Env = []string{"HOME=" + home, roleVariable + "=fsmtx", "PATH=" + os.Getenv("PATH")}
	var out bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &out
	c.Args[0] = "fsmtx"
	var err error
	if decide == nil {
		err = c.Run()
	} else {
		err = overseer.Run(c, slices.Concat(overseer.Syncs, overseer.Changes), decide)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return result{}, err
	}
	return result{c.ProcessState.ExitCode(), out.String()}, nil
}
