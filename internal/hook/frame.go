package hook

import (
	"cmp"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// lockWait limits the wait for the locks of the list.
const lockWait = 3 * time.Second

// planMode is the permission mode in which the agent only reads.
const planMode = "plan"

// NewFrame returns the frame for a list, for hooks and commands.
func NewFrame(s terminal.Streams, found tasklist.Found) *gates.Frame {
	return &gates.Frame{
		Store: state.Store{
			List:       tasks.List{Dir: found.Dir, Wait: lockWait},
			Session:    found.Session,
			ListName:   func() string { return tasklist.ShortName(s.Getenv, found.Dir) },
			Known:      cmp.Or(found.Known, new(state.Known)), // copies of the frame share it
			Unreleased: func(err error) { s.Errorf("%s", hydrate.Unreleased(err)) },
		},
		Env:           os.Environ(),
		Interruptible: signals.Interruptible,
		Questions:     found.Questions(),
	}
}
