package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// openList returns the task list that a command is about, as package tasklist says. named is
// the list that the user named; it may be empty. Without a name it has to be the only one of the project with open steps.
func openList(ctx context.Context, s terminal.Streams, named string) (tasklist.Found, error) {
	return findList(ctx, s, tasklist.Query{Named: named}, nil)
}

// FindAnyList is openList for a command that may concern what is over.
func FindAnyList(ctx context.Context, s terminal.Streams, named string) (tasklist.Found, error) {
	return findList(ctx, s, tasklist.Query{Named: named, Over: true}, nil)
}

func findList(ctx context.Context, s terminal.Streams, q tasklist.Query, way Way) (tasklist.Found, error) {
	q.Lookup, q.Who = s.Getenv, s.Who
	found, err := tasklist.Find(ctx, q)
	return found, orWhich(ctx, s, err, way)
}

// Way returns the command to paste for one of several lists, and what else there is to say of it. line is the one that is run, with the
// list's name. No command is returned if it can do nothing there; the list is then left out, unless there is something to say.
type Way func(dir, line string) (paste, note string)

// orWhich returns the error about the list that a command is about, with what to do: of several lists a line for each, with the command.
// A nil way stands for the command that is run.
func orWhich(ctx context.Context, s terminal.Streams, err error, way Way) error {
	var several *tasklist.SeveralError
	switch {
	case errors.Is(err, tasklist.ErrNoList):
		hint := "call a skill that has a workflow in the client first (fsmtx locate lists them)"
		worked := func(list string) bool { return !tasklist.LastWork(list).IsZero() }
		if others, err := tasklist.WithHistory(s.Getenv); err == nil && slices.ContainsFunc(others, worked) {
			hint += "; fsmtx status --all lists the sessions of other projects"
		}
		here, _ := os.Getwd()
		return &Exit{ExitNo, err, tasklist.OrMoved(ctx, s.Getenv, here, hint)}
	case errors.Is(err, tasklist.ErrNoSuchList):
		return &Exit{ExitNo, err, "a list is named by its name, by the beginning of it, of at least four characters, or " +
			"by its path; fsmtx status --all shows them"}
	case errors.As(err, &several):
		ways := waysOf(s, several.Lists, commandLine(ctx), way)
		if !slices.ContainsFunc(ways, isWay) {
			none := several.Error() + ", and the command can do nothing in any of them"
			return &Exit{ExitNo, message.Lines(strings.Join(append([]string{none}, ways...), "\n")), "fsmtx status --all shows them"}
		}
		return runOne(several.Error()+", so nothing was done", ways)
	}
	return err
}

// isWay reports whether what waysOf has returned of a list has a command.
func isWay(text string) bool { return strings.Contains(text, "\n") }

// runOne returns the error why nothing was done, with the command to paste for each list.
func runOne(why string, ways []string) error {
	lines := append([]string{why + ". Run one of these:"}, ways[:min(len(ways), maxListed)]...)
	if more := len(ways) - maxListed; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more: fsmtx status --all", more))
	}
	return &Exit{ExitNo, message.Lines(strings.Join(lines, "\n")), ""}
}

// maxListed limits the lists of which one line each is printed.
const maxListed = 12

// waysOf returns for each list what is in it, and the command to paste, which begins with line.
func waysOf(s terminal.Streams, all []tasklist.Listed, line string, way Way) (lines []string) {
	for _, l := range all {
		paste, note := line+" --list "+shell.Join(tasklist.ShortName(s.Getenv, l.Dir)), ""
		if way != nil {
			paste, note = way(l.Dir, paste)
		}
		switch {
		case paste != "":
			lines = append(lines, "  "+described(l)+note+":\n    "+paste)
		case note != "":
			lines = append(lines, "  "+described(l)+note)
		}
	}
	return lines
}

// wayTo is the Way of a command about a step, 0 if it names none. may returns why it can do nothing.
func wayTo(ctx context.Context, step int64, may func(*state.State) error) Way {
	return func(dir, line string) (paste, note string) {
		now, err := state.LoadNow(ctx, dir)
		if err != nil {
			return line, "" // which says why the list cannot be read
		}
		switch err := may(now); {
		case err == nil:
			return line, ""
		case step != 0 && now.Step(step) == nil:
			return "", ""
		default:
			return "", ", but " + err.Error()
		}
	}
}

// described says what a person knows of a list, and whether its client runs.
func described(l tasklist.Listed) string {
	if presence.IsAlive(l.Dir) {
		return l.String() + ", its client runs"
	}
	return l.String()
}

// findExisting is openList, or with over FindAnyList, for a list that must exist.
func findExisting(ctx context.Context, s terminal.Streams, named string, over bool) (tasklist.Found, error) {
	return find(ctx, s, named, over, nil)
}

func find(ctx context.Context, s terminal.Streams, named string, over bool, way Way) (tasklist.Found, error) {
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Who: s.Who, Named: named, Over: over})
	if err != nil {
		return found, orWhich(ctx, s, err, way)
	}
	return found, mustExist(found.Dir)
}

// ChooseList returns the list that openList finds, or with over FindAnyList, which must exist. chosen describes it,
// for the first line of the output.
func ChooseList(ctx context.Context, s terminal.Streams, named string, over bool) (list tasks.List, chosen string, err error) {
	return ChooseWay(ctx, s, named, over, nil, nil)
}

// ChooseWay is ChooseList for a command that cannot do the same in each list: of several it means the only one of which there is
// something to say. If there is none, why says of each list why the command can do nothing there.
func ChooseWay(ctx context.Context, s terminal.Streams, named string, over bool, way Way, why func(dir string) error) (list tasks.List,
	chosen string, err error) {
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Who: s.Who, Named: named, Over: over})
	if several, is := errors.AsType[*tasklist.SeveralError](err); is && way != nil {
		all := slices.DeleteFunc(slices.Clone(several.Lists), func(l tasklist.Listed) bool {
			paste, note := way(l.Dir, commandLine(ctx))
			return paste+note == ""
		})
		if len(all) == 1 {
			found, err = all[0].Found, nil
		}
		if len(all) == 0 && why != nil {
			way = func(dir, _ string) (paste, note string) { return "", reasonOf(why(dir)) }
		}
	}
	if err == nil {
		err = mustExist(found.Dir)
	} else {
		err = orWhich(ctx, s, err, way)
	}
	if err != nil {
		return list, "", err
	}
	list = tasks.List{Dir: found.Dir, Wait: tasklist.Wait}
	if !found.IsOfSession() { // else it is of no project, or of another one than that of the directory
		return list, "the list of " + found.Project + ": task list " + found.Dir, nil
	}
	return list, "task list " + found.Dir, nil
}

// reasonOf returns why a command can do nothing in a list, with what to do, to be told after the list.
func reasonOf(err error) (note string) {
	if err == nil {
		return ""
	}
	note = ": " + message.Words(err.Error())
	if hint := message.Hint(err); hint != "" {
		note += "; " + message.Words(hint)
	}
	return note
}

// NameList adds the flag that names the list of a command.
func NameList(s terminal.Streams, c *cobra.Command, named *string) {
	c.Flags().Var((*listName)(named), "list", "the list of this `NAME`: a session's id, a name, or the beginning of one")
	_ = c.RegisterFlagCompletionFunc("list", CompleteLists(s))
}

// AtMostANumber is for a command that takes the number of a hydration, or with none no argument. A list is named by its flag.
func AtMostANumber(c *cobra.Command, args []string) error {
	takes := strings.Contains(c.Use, "[N]")
	for i, arg := range args {
		if !takes || i > 0 || arg == "" || strings.Trim(arg, "0123456789") != "" {
			want := "no argument"
			if takes {
				want = "at most one number, which the log prints"
			}
			got := InWords(args)
			if len(args) == 1 && arg != "" {
				got = message.Quote(arg)
			}
			return &Exit{ExitUsage, fmt.Errorf("got %s, want %s", got, want),
				"a list is named by --list NAME; run " + c.CommandPath() + " --help"}
		}
	}
	return nil
}

// listName is a name that is not empty: that of a variable that is not set does not stand for the newest list.
type listName string

func (n *listName) Set(name string) error {
	if *n = listName(name); name == "" {
		return errors.New("want a name; or leave the flag out")
	}
	return nil
}

func (n *listName) String() string { return string(*n) }
func (n *listName) Type() string   { return "string" }

// mustExist returns an error if neither the list nor its state directory exists.
func mustExist(dir string) error {
	if !txn.IsAbsent(dir) {
		return nil
	}
	return &Exit{ExitNo, errors.New(dir + ": no such task list"),
		"a session's list is created with its first task; fsmtx status --all lists the sessions with workflows"}
}

// completeSteps completes the numbers of the steps of the list that a command is about, named or the
// one that openList finds: those that are done, or those that are open.
func completeSteps(s terminal.Streams, named *string, done bool) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) (numbers []string, _ cobra.ShellCompDirective) {
		ctx := c.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Named: *named, Who: s.Who})
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		now, err := state.LoadNow(ctx, found.Dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, step := range now.Steps {
			if step.Done() == done {
				numbers = Offer(numbers, strconv.FormatInt(step.ID, 10), step.Subject)
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// CompleteLists completes the ids of sessions that have a task list, with or without a
// workflow.
func CompleteLists(s terminal.Streams) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		dirs, _ := tasklist.All(s.Getenv)
		var ids []string
		for _, dir := range dirs {
			if name := filepath.Base(dir); strings.HasPrefix(name, begun) {
				ids = Offer(ids, name, "")
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
