package gates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// killAfter is the time between SIGTERM and SIGKILL for a check that is stopped. The client
// kills an interrupted hook about a second after SIGTERM (fact 24, client 2.1.197).
const killAfter = 400 * time.Millisecond

// runCheck runs a command of a step with a POSIX shell in its own process group, in a directory
// below base. Standard output and standard error go to the same pipe, unless what it prints
// decides or is a value.
func (c *call) runCheck(ctx context.Context, b *run, base string) state.Result {
	sh, err := process.Sh()
	if err != nil {
		return state.Result{Run: b.Run, Exit: -1, Failed: err.Error(), Unrunnable: true}
	}
	out := facts.NewTail()
	script := readable + `exec /bin/sh -c "$1" 2>&1`
	if b.kind == workflow.CommandDecides || b.kind == workflow.EachLine || b.kind.Prints() != "" {
		script = readable + `exec /bin/sh -c "$1"`
	}
	o := process.Command{
		Args:    []string{sh, "-c", script, "sh", b.Run},
		Dir:     filepath.Join(base, filepath.FromSlash(b.Dir)),
		Env:     append(b.step.WithoutOurs(b.Environ(c.Env)), b.variables...),
		Timeout: b.Limit(),
		Grace:   killAfter,
		Output:  out,
		Whole:   true,
		Started: func(pid int) { c.recordGroup(ctx, pid) },
	}.Run(ctx)
	r := state.Result{Run: b.Run, Exit: o.ExitCode, Seconds: o.Duration.Seconds(), SHA256: out.Digest(), Bytes: out.N,
		Output: out.Text(), Errors: o.Stderr, Cut: out.N > facts.TailBytes}
	if base != b.step.Workflow.Dir {
		r.Dir = filepath.Join(base, filepath.FromSlash(b.Dir))
	}
	switch {
	case errors.Is(o.Err, process.ErrTimeout):
		r.Failed = fmt.Sprintf("it did not end within %v", b.Limit())
	case errors.Is(o.Err, process.ErrCancelled):
		r.Failed, r.Interrupted = "it was interrupted", true
	case o.Err != nil:
		r.Failed, r.Unrunnable = o.Err.Error(), true
	case o.Signal != "":
		r.Failed = "it was ended by " + o.Signal
	}
	if r.Failed != "" {
		r.Exit = -1
	}
	if left := o.Left(); left != "" {
		r.Failed += "; " + left
	}
	r.Unrunnable = r.Unrunnable || r.Exit > 0 && !decisions.Ran(r.Exit)
	return r
}

// readable has the shell read the whole command before it runs a part of it. One that it cannot read is a mistake of the file.
const readable = `/bin/sh -n -c "$1" 2>&1 || { echo "This is no command for /bin/sh: fsmtx validate says what is wrong"; exit 126; }
`

// pending returns the record of a step that this call is about to complete.
func (c *call) pending(step int64, waiting bool) state.Pending {
	pid := os.Getpid()
	return state.Pending{Step: step, Call: c.id, Use: c.update.Use, Waiting: waiting, PID: pid, Start: caller.StartOf(pid)}
}

// recordGroup records the check's process group, so that a later call can kill the check if
// this one is killed. An error is ignored.
func (c *call) recordGroup(ctx context.Context, group int) {
	if c.lockless {
		return
	}
	_ = c.Locked(context.WithoutCancel(ctx), func(dir *txn.Dir) error {
		data, err := dir.ReadState(state.PendingFile)
		if err != nil {
			return err
		}
		alive, _, _ := state.ParsePending(data) // what cannot be read names nobody
		for i, p := range alive {
			if p.Call == c.id {
				alive[i].Group, alive[i].GroupStart = group, caller.StartOf(group)
			}
		}
		return state.WritePending(dir, alive)
	})
}
