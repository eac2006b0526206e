package client

import (
	"os"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxArguments bounds the size of a command line, in bytes. Linux allows a quarter of the
// stack limit, 2 MiB by default; the arguments may contain a system prompt.
const maxArguments = 4 << 20

// arguments returns the command line of a process.
func arguments(pid int) ([]string, error) {
	data, err := safefile.ReadFile("/proc/"+strconv.Itoa(pid)+"/cmdline", maxArguments, 0)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, os.ErrProcessDone // a zombie has no command line
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"), nil
}
