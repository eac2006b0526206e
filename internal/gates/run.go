package gates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
)

// killAfter is the time between SIGTERM and SIGKILL for a check that is stopped. The client
// kills an interrupted hook about a second after SIGTERM (fact 24, client 2.1.197).
const killAfter = 400 * time.Millisecond

// runCheck runs a command of a step with its shell in its own process group, in a directory
// below base.
func (c *call) runCheck(ctx context.Context, b *run, base string) state.Result {
	args, variables, err := b.shell()
	if err != nil {
		return state.Result{Run: b.Run, Exit: -1, Failed: err.Error(), Unrunnable: true}
	}
	if fault := b.fault(); fault != "" {
		return state.Result{Run: b.Run, Exit: -1, Failed: fault, Unrunnable: true, Fault: true}
	}
	out := facts.NewTail()
	o := process.Command{
		Args:    args,
		Dir:     filepath.Join(base, filepath.FromSlash(b.Dir)),
		Env:     slices.Concat(b.step.WithoutOurs(b.Environ(c.Env)), b.variables, variables),
		Timeout: b.Timeout,
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
		r.Failed = fmt.Sprintf("it did not end within %v", b.Timeout)
	case errors.Is(o.Err, process.ErrCancelled):
		r.Failed, r.Interrupted, r.Ends = "it was interrupted", true, signals.ExitCode(o.Err)
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
	if r.Unrunnable = r.Unrunnable || r.Exit > 0 && !decisions.Ran(r.Exit); r.Unrunnable {
		r.InShell = slices.Contains([]state.How{state.ByCommand, state.ByShell, state.AtTerminal}, c.Via.How) && !c.asks
		script, _ := shell.Parse(b.Run)
		if said := r.Printed(); strings.Contains(said, script.Program()+": ") && strings.Contains(said, "not found") {
			r.Lacks = script.Program()
		}
	}
	return r
}

// fault returns why a POSIX shell cannot run the command, in the words of fsmtx validate: a mistake of the file, of which nothing is run.
func (b *run) fault() string {
	if b.Shell == fsmspec.PowerShell {
		return ""
	}
	return shell.Fault(b.Run)
}

// shell returns the program that runs the command and its arguments, and variables for it. Standard error goes to the same pipe as
// standard output, unless what is printed decides or is a value; in PowerShell it never does, because that makes errors of the lines.
func (b *run) shell() (args, variables []string, err error) {
	if b.Shell == fsmspec.PowerShell {
		program, err := process.PowerShell()
		args = []string{program, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", inPowerShell}
		return args, []string{commandVariable + "=" + b.Run}, err
	}
	sh, err := process.Sh()
	script := readable + `exec /bin/sh -c "$1"`
	if b.kind != fsmspec.CommandDecides && b.kind != fsmspec.EachLine && b.kind.Prints() == "" {
		script += " 2>&1"
	}
	return []string{sh, "-c", script, "sh", b.Run}, nil, err
}

// commandVariable has a command for PowerShell, whose quotes no command line would leave alone.
const commandVariable = "FSMTX_COMMAND"

// inPowerShell runs the command as a gate needs it: an error ends it, a program that failed last is its exit code, and one that cannot
// be parsed is a mistake of the file. Output is UTF-8 where there is a console.
const inPowerShell = `$ErrorActionPreference = 'Stop'; try { [Console]::OutputEncoding = New-Object Text.UTF8Encoding $false } catch {}; ` +
	`try { $c = [ScriptBlock]::Create($env:` + commandVariable + `) } catch { $_.Exception.Message; exit 126 }; ` +
	`$env:` + commandVariable + ` = $null; $global:LASTEXITCODE = 0; . $c; exit $LASTEXITCODE`

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
	_ = c.Remember(context.WithoutCancel(ctx), func(m *state.Memory) {
		for i, p := range m.Pending {
			if p.Call == c.id {
				m.Pending[i].Group, m.Pending[i].GroupStart = group, caller.StartOf(group)
			}
		}
	})
}
