package tools

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const doctorLong = `Doctor looks for reasons why workflows are not found, shown or followed in this directory.
It prints each problem, the most urgent first, with a command that repairs it:

  program      the program of a hook is missing; committed settings are checked too
  hooks        switched off, missing, registered twice, outdated, or in a file that the
               client does not read here
  agents       the hooks or the MCP server of another agent are outdated, or the agent does not
               run them because they are not trusted
  steps        the hooks that enforce the steps are missing, let steps through if the program
               is broken, or their time limits are too short; a hook of yours may answer for
               you; what is on record about a list's steps cannot be read or is gone; or the
               tasks of a workflow were removed with steps open
  task tools   newer models do not have the tools for the task list that install --task-tools promised
  workflow     a skill's fsm.json is not valid, has another name, or no name leads to it
  guards       a configuration of the planning guards that cannot be read
  recovery     an interrupted call, or a journal that is not trusted
  plugin       installed in two scopes with different versions, or a copy that is older
               than its source
  task list    its directory is not writable, on a network, or without hard links
  lock         a stale lock of the client, or a file at the path of a lock
  leftover     the state directory of a list that was removed at least 30 days ago, or
               temporary files of a command that was killed
  note         not wrong, and good to know: that checks are off; if nothing is wrong also whether
               there is a workflow at all, and how a session works on steps here

--fix repairs what can be repaired safely: it finishes interrupted calls, removes
stale locks, the state directories of lists that were removed at least 30 days ago, and what
killed commands left.

Hooks are switched off by disableAllHooks in a settings file (the nearest file that has it
decides), by the settings of an organisation, and by modes of the client such as --bare.
In the agent's shell doctor also knows the options of the client. It does not know settings
that an organisation serves or sets by device management.

--json prints an array of objects with kind (the first column above), what, file, line (in
the file, 0 for none), command (what repairs it; may be empty), safe (whether --fix does)
and fixed.

The exit code is 0 if nothing is wrong, and 1 otherwise.`

type doctorFlags struct {
	fix, json bool
}

func newDoctor(s terminal.Streams) *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Find out why workflows are not found, seen or followed here",
		Long:    doctorLong,
		Example: command.Example("fsmtx doctor", "fsmtx doctor --fix", "fsmtx doctor --json"),
		Args:    command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			return f.run(ctx, s)
		},
	}
	c.Flags().BoolVar(&f.fix, "fix", false, "repair what can be repaired safely")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	return c
}

// leftoverAge is how long ago a list must have been removed for its state directory to be a leftover. The client
// removes its own files after as long.
const leftoverAge = 30 * 24 * time.Hour

func (f doctorFlags) run(ctx context.Context, s terminal.Streams) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	found, err := install.Examine(ctx, s, install.Question{Dir: cwd, Age: leftoverAge})
	if err != nil {
		return err
	}
	left := 0
	for i := range found {
		if f.fix && found[i].Safe {
			found[i].Repair(ctx)
		}
		if !found[i].Fixed {
			left++
		}
	}
	if f.json {
		all := append([]install.Fault{}, found...)
		for _, note := range install.Notes(s, cwd, len(found) > 0) {
			all = append(all, install.Fault{Kind: "note", What: note})
		}
		err = command.PrintJSON(s.Out, all)
	} else {
		err = printFaults(s, found, install.Notes(s, cwd, len(found) > 0))
		if f.fix && left > 0 {
			f.sayWhyNot(s, len(found)-left, left)
		}
	}
	if err == nil && left > 0 {
		return &command.Exit{Code: command.ExitNo}
	}
	return err
}

// sayWhyNot tells what --fix has not repaired, and why.
func (f doctorFlags) sayWhyNot(s terminal.Streams, fixed, left int) {
	message.Fprintf(s.Out, "\n--fix repaired %d of %s. It only completes or removes what fsmtx itself has left behind; for settings, "+
		"workflows and programs do what is said above.\n",
		fixed, terminal.Count(fixed+left, "problem"))
}

// printFaults prints the problems, or that there are none, and the notes.
func printFaults(s terminal.Streams, found []install.Fault, notes []string) error {
	var b strings.Builder
	if len(found) == 0 {
		b.WriteString("nothing is wrong\n")
	}
	for _, one := range found {
		what := message.Line(one.Place() + one.What)
		switch {
		case one.Fixed:
			message.Fprintf(&b, "%s: %s: repaired\n", one.Kind, what)
		case one.Command == "":
			message.Fprintf(&b, "%s: %s\n", one.Kind, what)
		default:
			message.Fprintf(&b, "%s: %s\n    %s\n", one.Kind, what, one.Command)
		}
	}
	for _, note := range notes {
		b.WriteString(note + "\n")
	}
	_, err := s.Out.Write([]byte(b.String()))
	return err
}
