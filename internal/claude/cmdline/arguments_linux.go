package cmdline

import (
	"os"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxArguments bounds what is read. Linux allows a quarter of the stack's limit, 2 MiB
// by default; a system prompt may be among the arguments.
const maxArguments = 4 << 20

// arguments returns the command line of a process.
func arguments(pid int) ([]string, error) {
	data, err := safefile.ReadFile("/proc/"+strconv.Itoa(pid)+"/cmdline", maxArguments, 0)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, os.ErrProcessDone // a zombie has none
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"), nil
}
