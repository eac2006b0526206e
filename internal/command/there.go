package command

import (
	"fmt"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// OrThere returns the error about a workflow that is not in the list with where it goes on, if it was there, and with the command that
// shows it there.
func OrThere(s terminal.Streams, list, skill string, err error) error {
	went := state.WentOn(list, skill, 0)
	if went.Words == "" {
		return err
	}
	return &Exit{ExitNo, fmt.Errorf("%w: %s", err, went.Words), shownThere(s, went)}
}

func shownThere(s terminal.Streams, went state.Went) string {
	if went.Replaced {
		return ""
	}
	return shell.Join("fsmtx", "status", "--list", tasklist.ShortName(s.Getenv, went.List)) + " shows it there"
}

// there gives the error about a step that is not in the list the command for the list in which it is.
func (f *pastFlags) there(s terminal.Streams, list string, err error) error {
	went := state.WentOn(list, "", f.past.Step)
	switch {
	case went.Words == "", went.Replaced, f.ends && went.Ended:
		return err
	case f.ends:
		return &Exit{ExitNo, err, shell.Join("fsmtx", "step", "end", message.Itoa(went.Step), "--because", f.past.Because,
			"--list", tasklist.ShortName(s.Getenv, went.List)) + " does it there"}
	}
	return &Exit{ExitNo, err, shownThere(s, went) + ", as #" + message.Itoa(went.Step)}
}
