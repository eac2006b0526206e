package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const pastLong = `
The task is marked as completed, and the decision is recorded with the reason. The session
is found as by "fsmtx status".

If an agent runs the command, it works only if the person has agreed to this very call; the
hook asks. Otherwise run it in a terminal outside the client: a line that is
typed with ! in the client counts as the agent's.`

type pastFlags struct {
	past    gates.Past
	session string

	// do is what is done instead of going past a gate, and word what the command then says.
	do   func(f *gates.Frame, ctx context.Context, step int64, because string, by state.By) (*state.State, error)
	word string
	ends bool // it ends the workflow
	over bool // the workflow may be over
}

func newStepSkip(s terminal.Streams) *cobra.Command {
	f := &pastFlags{}
	return f.command(s, &cobra.Command{
		Use:   "skip N --because TEXT",
		Short: "Skip a step",
		Long: "Skip skips step N of a workflow, without checking its gates. With --wrong it is on record that\n" +
			"a gate has refused it wrongly.\n" + pastLong + "\n" + blockersLong,
		Example: Example(`fsmtx step skip 3 --because "there is nothing to publish"`,
			`fsmtx step skip 3 --wrong --because "the linter is broken"`,
			`fsmtx step skip 3 --because "not today" --list 0b54`),
	})
}

func newStepDone(s terminal.Streams) *cobra.Command {
	f := &pastFlags{past: gates.Past{Done: true}}
	return f.command(s, &cobra.Command{
		Use:   "done N --because TEXT",
		Short: "Mark a step as done",
		Long: "Done marks step N of a workflow as done. In a terminal that is the yes, or the choice, of the person whom\n" +
			"a step needs: its other gates are tested first. Any other step, and one whose other gates do not hold,\n" +
			"is marked without regard to its gates, and is on record as gone past.\n" + pastLong + flowLong,
		Example: Example(`fsmtx step done 3 --because "published by hand"`,
			`fsmtx step done 44 --outcome merge --because "it is good enough"`,
			`fsmtx step done 43 --set version=1.4.0 --because "bumped by hand"`),
	})
}

const flowLong = `

--outcome says how a step with outcomes ends: a person may take any
outcome, also one that the agent cannot choose. --set gives the values that the step sets,
which have to be what the workflow says; a value that was given before may be left out.
` + blockersLong

const blockersLong = `
The steps before it, and before the step that it is part of, must be done; --with-blockers
skips those that are open.`

func newStepReopen(s terminal.Streams) *cobra.Command {
	f := &pastFlags{do: (*gates.Frame).Reopen, word: "open again", over: true}
	return f.command(s, &cobra.Command{
		Use:   "reopen N --because TEXT",
		Short: "Open a step again",
		Long: "Reopen opens step N again, and every step that comes after\n" +
			"it. Those that are in progress are pending again. If the workflow was ended, it goes on.\n" + recordedLong,
		Example: Example(`fsmtx step reopen 43 --because "the review missed the tests"`),
	})
}

func newStepEnd(s terminal.Streams) *cobra.Command {
	f := &pastFlags{do: (*gates.Frame).End, word: "ended with", ends: true}
	return f.command(s, &cobra.Command{
		Use:   "end [N] --because TEXT",
		Short: "End the workflow of a step",
		Long: "End ends the workflow to which step N belongs, or the one that is open if it is the only\n" +
			"one: its open steps, and what is under them, are not needed any more. In a workflow with\n" +
			"outcomes \"fsmtx step reopen\" takes that back.\n" + recordedLong,
		Example: Example(`fsmtx step end 41 --because "the customer withdrew"`),
	})
}

const recordedLong = `
The decision is recorded with the reason. The list is found as by "fsmtx status".

If an agent runs the command, it works only if the person has agreed to this very call.`

func (f *pastFlags) command(s terminal.Streams, c *cobra.Command) *cobra.Command {
	f.add(s, c)
	c.ValidArgsFunction = completeSteps(s, &f.session, c.Name() == "reopen")
	c.Args = func(c *cobra.Command, args []string) error {
		return lacks(c, s, f.session, f.over, f.way(c.Context()), f.read(args))
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx, stop := signals.Interruptible(c.Context())
		defer stop()
		return f.run(ctx, s)
	}
	return c
}

// lacks returns the error of a command that needs a reason. If it is all that was left out, it says the whole command, for each list that
// can be meant.
func lacks(c *cobra.Command, s terminal.Streams, named string, over bool, way Way, err error) error {
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, errNoReason) || c.Context() == nil: // a hook reads the command of another line
		return &Exit{ExitNo, err, "run " + c.CommandPath() + " --help"}
	}
	line := lineWithout(c.Context(), "--because") + ` --because "..."`
	found, notFound := tasklist.Find(c.Context(), tasklist.Query{Lookup: s.Getenv, Who: s.Who, Named: named, Over: over})
	several, is := errors.AsType[*tasklist.SeveralError](notFound)
	switch {
	case notFound == nil || named != "":
		if named == "" {
			line += " --list " + shell.Join(tasklist.ShortName(s.Getenv, found.Dir))
		}
		if paste, _ := way(found.Dir, line); strings.Contains(paste, "\n") {
			return &Exit{ExitNo, message.Lines(err.Error() + ". Run one of these:\n    " + paste), ""}
		}
		return &Exit{ExitNo, err, line}
	case !is:
		return &Exit{ExitNo, err, "run " + c.CommandPath() + " --help"}
	}
	if ways := waysOf(s, several.Lists, line, way); slices.ContainsFunc(ways, isWay) {
		return runOne(err.Error(), ways)
	}
	return orWhich(c.Context(), s, notFound, way)
}

// lineWithout returns the command that is run without a flag that has a value.
func lineWithout(ctx context.Context, flag string) string {
	all, _ := ctx.Value(wordsKey{}).([]string)
	var words []string
	for i := 0; i < len(all); i++ {
		switch name, _, hasValue := strings.Cut(all[i], "="); {
		case name != flag:
			words = append(words, all[i])
		case !hasValue:
			i++
		}
	}
	return hook.Line(words)
}

// onList returns the command that is run with the name of its list.
func onList(ctx context.Context, s terminal.Streams, dir string) string {
	return lineWithout(ctx, "--list") + " --list " + shell.Join(tasklist.ShortName(s.Getenv, dir))
}

func (f *pastFlags) add(s terminal.Streams, c *cobra.Command) {
	c.Flags().StringVar(&f.past.Because, "because", "", "the reason to record (required)")
	NameList(s, c, &f.session)
	if f.do != nil {
		return
	}
	if f.past.Done {
		c.Flags().StringVar(&f.past.Outcome, "outcome", "", "the `name` of the outcome in which the step ends")
		f.past.Values = addSet(c)
	}
	if !f.past.Done {
		c.Flags().BoolVar(&f.past.Wrong, "wrong", false, "record that its refusal was wrong; fsmtx report counts that")
	}
	c.Flags().BoolVar(&f.past.WithBlockers, "with-blockers", false, "skip the open steps before it, too")
}

// read reads the number of the step from args and checks the reason.
func (f *pastFlags) read(args []string) error {
	if len(args) != 1 && !(f.ends && len(args) == 0) {
		return fmt.Errorf("got %d arguments, want the number of one step", len(args))
	}
	for _, arg := range args {
		n, err := strconv.ParseInt(strings.TrimPrefix(arg, "#"), 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("got %q, want the number of a step", arg)
		}
		f.past.Step = n
	}
	return reason(&f.past.Because)
}

var errNoReason = errors.New("--because is required: give the reason to record")

// reason reads the value of --because, which must give a reason: the dots of an advised line are none.
func reason(because *string) error {
	if *because = strings.TrimSpace(*because); strings.Trim(*because, ".… ") == "" {
		return errNoReason
	}
	return nil
}

// endStep ends the step by the person's yes if that is all that it lacks, else past its gates.
func (f *pastFlags) endStep(ctx context.Context, s terminal.Streams, frame *gates.Frame, found tasklist.Found) (*state.State, error) {
	frame.NoChecks = sync.OnceValue(hook.ChecksOff(s.Getenv, found))
	here, _ := os.Getwd()
	done, why, err := frame.Approve(ctx, f.past, here, decidedBy(ctx))
	switch {
	case err != nil:
		return nil, err
	case done:
		return frame.Now(ctx)
	case why != "":
		s.Errorf("#%d has another gate that does not hold (%s), so it is on record as gone past", f.past.Step, why)
	}
	return frame.GoPast(ctx, f.past, decidedBy(ctx))
}

func (f *pastFlags) run(ctx context.Context, s terminal.Streams) error {
	found, err := find(ctx, s, f.session, f.over, f.way(ctx))
	if err != nil {
		return err
	}
	frame := frameIn(s, found)
	before, err := frame.Now(ctx)
	if f.past.Step == 0 && err == nil {
		f.past.Step, err = gates.OnlyOpen(before)
	}
	if several, is := errors.AsType[*gates.SeveralOpenError](err); is {
		text := err.Error() + ". Run one of these:\n    " + linesToEnd(several, onList(ctx, s, found.Dir))
		return &Exit{ExitNo, message.Lines(text), ""}
	}
	if err != nil {
		return f.there(s, found.Dir, err)
	}
	var now *state.State
	word := f.word
	if f.do != nil {
		now, err = f.do(frame, ctx, f.past.Step, f.past.Because, decidedBy(ctx))
	} else {
		word = map[bool]string{true: "done", false: "skipped"}[f.past.Done]
		now, err = f.endStep(ctx, s, frame, found)
	}
	if err != nil {
		if before.Step(f.past.Step) == nil {
			return f.there(s, found.Dir, err)
		}
		return err
	}
	target := now.Step(f.past.Step)
	var opened []*state.Current
	if f.past.Done && !target.Done() { // a step that is done was opened again by what came before
		word, opened = "leads back", now.OpenedAgain(f.past.Step)
	}
	if word == "skipped" && now.Word(target) == state.IsNotNeeded { // since what came before it was skipped
		word = string(state.IsNotNeeded)
	}
	if f.past.Outcome != "" && target.Outcome != "" && target.Outcome != f.past.Outcome { // the one that was said is spent
		word += " as " + target.Outcome
	}
	if f.ends {
		return printEnded(s, before, now, target)
	}
	if skipped := changed(before, now, func(was, is *state.Current) bool {
		return is != target && !was.Done() && now.Word(is) == state.IsSkipped
	}); len(skipped) > 0 {
		message.Fprintf(s.Out, "skipped: %s\n", state.Names(skipped))
	}
	_, err = message.Fprintf(s.Out, "%s: %s\n", word, target.Name())
	if f.do != nil {
		opened = changed(before, now, func(was, is *state.Current) bool { return is != target && was.Done() && !is.Done() })
	}
	if len(opened) > 0 {
		message.Fprintf(s.Out, "%s: %s\n", map[bool]string{true: "open again", false: "with it"}[f.do == nil], state.Names(opened))
	}
	halted := changed(before, now, func(was, is *state.Current) bool { return was.Status == "in_progress" && is.Status == "pending" })
	if len(halted) > 0 {
		message.Fprintf(s.Out, "not in progress any more: %s\n", state.Names(halted))
	}
	// The lines of a step that is opened again are read anew.
	gone := slices.DeleteFunc(slices.Clone(before.Steps), func(c *state.Current) bool { return c.Gone() || now.Step(c.ID) != nil })
	if len(gone) > 0 {
		message.Fprintf(s.Out, "out of the list: %s\n", state.Names(gone))
	}
	for _, c := range now.Ready() {
		word := string(now.Word(c))
		switch state.Word(word) {
		case state.Ready:
			word = "ready now"
		case state.Awaits:
			word = "waiting for you"
		}
		message.Fprintf(s.Out, "%s: %s\n", word, c.Name())
	}
	return err
}

// linesToEnd returns the command that ends each of the workflows. line is the command without a step.
func linesToEnd(several *gates.SeveralOpenError, line string) string {
	var lines []string
	for _, c := range several.Steps {
		lines = append(lines, strings.Replace(line, "step end", "step end "+message.Itoa(c.ID), 1))
	}
	return strings.Join(lines, "\n    ")
}

// way is the Way of the command: where the person has to say how the step ends there is a line for each outcome, and where several
// workflows are open, one that ends each.
func (f *pastFlags) way(ctx context.Context) Way {
	return func(dir, line string) (paste, note string) {
		var lines []string
		paste, note = wayTo(ctx, f.past.Step, func(now *state.State) error {
			err := f.may(now)
			if several, is := errors.AsType[*gates.SeveralOpenError](err); is {
				lines = append(lines, linesToEnd(several, line))
				return nil
			}
			if f.past.Outcome != "" || !errors.Is(err, gates.ErrNoOutcome) {
				return err
			}
			for _, outcome := range now.Step(f.past.Step).Choices() {
				lines = append(lines, line+" "+shell.Join("--outcome", outcome))
			}
			return nil
		})(dir, line)
		return cmp.Or(strings.Join(lines, "\n    "), paste), note
	}
}

// may returns why the command can do nothing in a list.
func (f *pastFlags) may(now *state.State) error {
	switch {
	case f.ends && f.past.Step == 0:
		_, err := gates.OnlyOpen(now)
		return err
	case f.ends:
		return gates.MayEnd(now, f.past.Step)
	case f.over:
		return gates.MayReopen(now, f.past.Step, "")
	}
	return gates.Try(now, f.past)
}

// changed returns the steps that were there before and for which has is true.
func changed(before, after *state.State, has func(was, is *state.Current) bool) (all []*state.Current) {
	for _, c := range after.Steps {
		if was := before.Step(c.ID); was != nil && has(was, c) {
			all = append(all, c)
		}
	}
	return all
}

// printEnded prints what the end of a workflow has made unnecessary.
func printEnded(s terminal.Streams, before, after *state.State, target *state.Current) error {
	left := changed(before, after, func(was, is *state.Current) bool { return before.IsLeft(was) && !after.IsLeft(is) })
	what := target.Workflow.Level()
	if what == "the workflow" {
		what += " of " + message.Words(target.Workflow.Command)
	}
	_, err := message.Fprintf(s.Out, "ended: %s; not needed: %s\n", what, state.Names(left))
	return err
}

// FrameOf returns the frame for the list that FindAnyList finds.
func FrameOf(ctx context.Context, s terminal.Streams, named string) (*gates.Frame, error) {
	found, err := FindAnyList(ctx, s, named)
	if err != nil {
		return nil, err
	}
	return frameIn(s, found), nil
}

func frameIn(s terminal.Streams, found tasklist.Found) *gates.Frame {
	f := hook.NewFrame(s, found)
	f.Log = hook.ToLog(s)
	return f
}
