package install

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// off returns what keeps the client from running the hooks that install registers when it
// starts in the current directory.
func (j *job) off(s terminal.Streams) []settings.Off {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	return settings.Here(s.Getenv, dir).Off(j.Scope.place())
}

// printOff prints what keeps the client from running the hooks, and reports whether there is
// such a switch.
func (j *job) printOff(s terminal.Streams) bool {
	off := j.off(s)
	for _, o := range off {
		s.Errorf("the client does not run these hooks when it starts here: %s", o)
		s.Hintf("%s", o.Remedy)
	}
	return len(off) > 0
}
