package install

import (
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Install writes what the request says, and prints what it has done and what is left to do.
//
// Errors carry advice (package hint): settings.ErrNotOnPath, settings.ErrTemporary, errUntrusted,
// those of settings.Add and of settings.File.Replace.
func Install(s terminal.Streams, r Request) error { return do(s, job{Request: r}) }

// Remove removes what Install has written, from the files of the request's scope.
func Remove(s terminal.Streams, r Request) error { return do(s, job{Request: r, verb: remove}) }

// Preview prints the file that Install would write, or the one that Remove would leave, and changes
// nothing.
func Preview(s terminal.Streams, r Request, removed bool) error {
	j := job{Request: r, preview: true}
	if removed {
		j.verb = remove
	}
	return do(s, j)
}

// Check prints how what is there differs from what Install would write, and changes nothing. With an
// error the status is Unreadable.
func Check(s terminal.Streams, r Request) (Status, error) {
	j := job{Request: r, verb: compare}
	return j.doAll(s)
}

func do(s terminal.Streams, j job) error {
	_, err := j.doAll(s)
	return err
}

func (j *job) doAll(s terminal.Streams) (Status, error) {
	if len(j.Agents) > 0 {
		return j.runAgents(s)
	}
	return j.run(s, agent.Claude())
}
