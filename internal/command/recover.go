package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const recoverLong = `Recover finishes interrupted calls, the changes that put the steps of a skill into a task
list: it completes those that were committed, and rolls back others. After a power cut it
also writes again what the disk has lost of committed changes. For each list it prints one of:

  clean         there was nothing to do
  rolled back   the change was rolled back; the restored and removed files are listed
  completed     the change had been committed and was completed; the created and deleted
                files are listed
  committed     the change had been made; its temporary files were removed
  conflict      rolled back or completed; a file changed by another program was moved to
                the path shown
  set aside     an untrusted journal was moved to the path shown (--force)
  damaged       nothing was interrupted, but what is on record about the workflow cannot be
                read or is gone, so its steps are not fully enforced
  refused       nothing was done; the reason is shown, and what to do

The exit code is 0 if nothing is left to do, and 1 otherwise, also if the session has no
task list.

--json prints an array of objects with the fields list, state (one of the above), skill
and time of the interrupted call (empty if there was none), restored, removed, created,
deleted, conflicts (name, moved_to, why), aside, reason, hint and dry_run.`

type recoverFlags struct {
	session   string
	all, json bool
	tasklist.RecoverOptions
}

func newRecover(s terminal.Streams) *cobra.Command {
	var f recoverFlags
	c := &cobra.Command{
		Use:     "recover [--list NAME | --all]",
		Short:   "Finish or take back what a crash has interrupted",
		Long:    recoverLong,
		Example: Example("fsmtx recover", "fsmtx recover --dry-run --json", "fsmtx recover --list 0b54"),
		Args:    NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			return runRecover(ctx, s, f)
		},
	}
	NameList(s, c, &f.session)
	c.Flags().BoolVar(&f.all, "all", false, "every task list (default)")
	c.Flags().BoolVar(&f.DryRun, "dry-run", false, "print what would be done, and change nothing")
	c.Flags().BoolVar(&f.json, "json", false, "print the reports as JSON")
	c.Flags().BoolVar(&f.Force, "force", false, "move an untrusted journal aside; it is never applied")
	c.MarkFlagsMutuallyExclusive("list", "all")
	return c
}

func runRecover(ctx context.Context, s terminal.Streams, f recoverFlags) error {
	reports, err := recoverLists(ctx, s, f)
	if err != nil {
		return err
	}
	if err := printReports(s, f.json, reports); err != nil {
		return err
	}
	for _, r := range reports {
		if r.Pending() {
			return &Exit{Code: ExitNo}
		}
	}
	return nil
}

func recoverLists(ctx context.Context, s terminal.Streams, f recoverFlags) ([]tasklist.Report, error) {
	f.Lookup = s.Getenv
	if f.session == "" {
		dirs, err := tasklist.WithHistory(s.Getenv)
		if err != nil {
			return nil, err
		}
		return tasklist.RecoverAll(ctx, dirs, tasklist.Wait, f.RecoverOptions)
	}
	found, err := findExisting(ctx, s, f.session, true)
	if err != nil {
		return nil, err
	}
	return []tasklist.Report{tasklist.Recover(ctx, found.Dir, tasklist.Wait, f.RecoverOptions)}, nil
}

func printReports(s terminal.Streams, asJSON bool, reports []tasklist.Report) error {
	if asJSON {
		return PrintJSON(s.Out, reports)
	}
	if len(reports) == 0 {
		s.Errorf("nothing to recover: fsmtx has not changed any task list")
	}
	for _, r := range reports {
		if _, err := message.Fprintf(s.Out, "%s\n", message.Lines(r.String())); err != nil {
			return err
		}
		if r.Hint != "" {
			s.Hintf("%s", r.Hint)
		}
	}
	return nil
}
