package install

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// printOff prints what keeps the client from running the hooks that install registers when it
// starts in the current directory, and reports whether there is such a switch.
func (j *job) printOff(s terminal.Streams) bool {
	dir, err := os.Getwd()
	if err != nil {
		return false
	}
	off := settings.Here(s.Getenv, dir).Off(j.Scope.place())
	for _, o := range off {
		s.Errorf("the client does not run these hooks when it starts here: %s", o)
		s.Hintf("%s", o.Remedy)
	}
	return len(off) > 0
}
