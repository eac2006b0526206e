package command

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const reloadLong = `Reload takes the fsm.json of the open workflow as it is now: the gates of a workflow are
recorded when its skill is called, and a correction counts from the next call otherwise. The
new steps come in the place of the old ones, all or none, and "fsmtx undo" takes that back.

A step that is done stays done if the new file has its id with the same subject, it has no
outcomes, no part and no gate is new, and every step that it waits for stays done. Every other
step is open again, as the output says; it also says which steps are new, gone or changed, and
each gate that goes or is another. --dry-run changes nothing, and needs no reason.

It is refused if something could not be kept: a plan, a step that is done once for each line,
a loop that has gone back, a check that is running, a skill that is open under a step.
SKILL is needed if several workflows are open in the list.

If an agent runs the command, it works only if the person has agreed to this very call; the
question lists each gate that goes or is another.`

func newStepReload(s terminal.Streams) *cobra.Command {
	var list, because string
	var dry bool
	c := &cobra.Command{
		Use:   "reload [SKILL] --because TEXT",
		Short: "Take the changed fsm.json of the open workflow",
		Long:  reloadLong,
		Example: Example(`fsmtx step reload --because "the check was wrong"`, "fsmtx step reload --dry-run",
			`fsmtx step reload release --because "two steps are new" --list 9bd5`),
		ValidArgsFunction: CompleteSkills(s),
		Args: func(c *cobra.Command, args []string) error {
			if err := reason(&because); err != nil && !dry && len(args) <= 1 {
				return lacks(c, s, list, false, wayToReload(c.Context(), strings.Join(args, "")), err)
			}
			return Takes(0, "at most the name of a skill",
				`for example: fsmtx step reload release --because "the check was wrong"`)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			found, err := find(ctx, s, list, false, wayToReload(ctx, strings.Join(args, "")))
			if err != nil {
				return err
			}
			return reload(ctx, s, found, strings.Join(args, ""), because, dry)
		},
	}
	c.Flags().StringVar(&because, "because", "", "the reason to record (required)")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would become of the steps, and change nothing")
	NameList(s, c, &list)
	return c
}

// wayToReload is the Way of step reload: what has not changed, or cannot be reloaded, has no line.
func wayToReload(ctx context.Context, skill string) Way {
	return func(dir, line string) (paste, note string) {
		now, err := state.LoadNow(ctx, dir)
		if err != nil {
			return line, "" // which says why the list cannot be read
		}
		switch _, err = hydrate.PrepareReload(now, dir, skill); {
		case err == nil:
			return line, ""
		case errors.Is(err, hydrate.ErrNotOpen):
			return "", ""
		}
		return "", ", but " + message.Line(err.Error())
	}
}

func reload(ctx context.Context, s terminal.Streams, found tasklist.Found, skill, because string, dry bool) error {
	now, err := frameIn(s, found).Now(ctx)
	if err != nil {
		return err
	}
	r, err := hydrate.PrepareReload(now, found.Dir, skill)
	if several, ok := errors.AsType[*hydrate.SeveralOpenError](err); ok {
		text := err.Error() + ". Run one of these:"
		for _, skill := range several.Skills {
			text += "\n    " + strings.Replace(onList(ctx, s, found.Dir), "step reload", "step reload "+shell.Join(skill), 1)
		}
		return &Exit{ExitNo, message.Lines(text), ""}
	}
	if invalid, ok := errors.AsType[*hydrate.SpecError](err); ok {
		err = message.Lines(invalid.Error())
	} else if errors.Is(err, hydrate.ErrNotOpen) {
		err = OrThere(s, found.Dir, skill, err)
	}
	if exit, ok := errors.AsType[*Exit](err); ok {
		return exit
	}
	if err != nil {
		return &Exit{Code: ExitNo, Err: err}
	}
	if dry {
		return printReload(s, r, "would be taken: nothing was changed")
	}
	o := hydrate.Options{LockTimeout: beginWait, Log: decisions.Adder(hook.ToLog(s))}
	result, err := r.Apply(ctx, s.Getenv, o, because, decidedBy(ctx))
	if err != nil {
		return err
	}
	how := "is taken"
	if len(result.Created) > 0 {
		how = "is taken: its steps are " + result.Numbers()
	}
	if err := printReload(s, r, how); err != nil {
		return err
	}
	last, err := tasks.List{Dir: found.Dir}.LastChange()
	if err != nil {
		return err
	}
	return s.Printf("%s takes that back\n",
		shell.Join("fsmtx", "undo", "--list", tasklist.ShortName(s.Getenv, found.Dir), strconv.FormatInt(last.Number, 10)))
}

// printReload prints what becomes of the steps.
func printReload(s terminal.Streams, r *hydrate.Reload, how string) error {
	message.Fprintf(s.Out, "%s: the new fsm.json %s\n", message.Words(r.Workflow.Command), how)
	for _, part := range []struct {
		word  string
		names []string
	}{{"stays done", r.Kept}, {"open again", r.Again}, {"new", r.New}, {"gone", r.Gone}, {"changed", r.Changed}, {"gate", r.Weaker}} {
		for _, name := range part.names {
			message.Fprintf(s.Out, "  %s: %s\n", part.word, name)
		}
	}
	return nil
}
