package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const logLong = `Log lists the calls of a task list, newest first. A call is one change that put the
steps of a skill into the list in place of others. Log prints its number, time, skill, how
many tasks were created and deleted, how many of the created ones are done, and the state:

  in the list     at least one of its tasks is in the list
  replaced by N   call N deleted its tasks
  undone by N     call N undid it
  undoes N        it undid call N
  gone            other programs deleted its tasks
  cleared         all were done, so the client has removed its tasks
  empty           it created no tasks
  goes on in L    its workflow was continued in the list L
  came back as N  it was, and came back; call N has it now

Where a workflow was continued here, the calls of the list follow in which it was before.

--all prints those of every list; with --json an array of objects with list and hydrations.

With N it prints one call in full: the path and the SHA-256 of its fsm.json, and each
task. --list is as for "fsmtx undo". For each list the last ten calls of skills are
kept (see fsmtx hydrate --history), with what came under their steps, and older ones that
have a task in the list or that undoing one of these can bring back. "fsmtx undo N" undoes
one.

--json prints an array of objects, newest first, or with N one object, with number, id, time,
skill, spec, sha256, session, created, deleted (arrays of id, subject, state, gone),
state (in the list, replaced, undone, undoing, gone, cleared, empty, moved), by and undoes (numbers), from (id,
list, session, dir, time: where its workflow was before) and to (the list in which it goes on).

--decisions prints instead what calls, steps and guards decided about the list and in its
sessions, oldest first, with who decided and why. Calls come from the history, steps from the
evidence, and planning guards from their logs, which tell the time in whole seconds. With --json
it prints one object per line, as described by "fsmtx schema --log".

"fsmtx report" counts them.

The hooks and commands that decide write the same lines to a file: "fsmtx hook" and "fsmtx guard"
with --log FILE, and each of them, "fsmtx mcp", and the commands for steps, begin and undo if FSMTX_LOG
names a file. A person's command also finds FSMTX_LOG under "env" in the user's or the
organisation's settings of Claude Code; set elsewhere, it has to be in the environment of the terminal,
or what the person skips is in no log. The file is rotated at 10 MiB: FILE.1, FILE.2 and
FILE.3 are kept. A file that is not a log of fsmtx is left alone. docs/ci.md says how a
log collector takes it from there.`

func NewLog(s terminal.Streams) *cobra.Command {
	var asJSON, decided, everything bool
	var named string
	c := &cobra.Command{
		Use:               "log [N]",
		Short:             "List what was put into a task list, by which skill, and whether it was undone",
		Long:              logLong,
		Example:           command.Example("fsmtx log", "fsmtx log 3", "fsmtx log --decisions", "fsmtx log --list 0b54 --json"),
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              command.AtMostANumber,
		RunE: func(c *cobra.Command, args []string) error {
			number := strings.Join(args, "")
			if everything {
				if named != "" || number != "" {
					return command.Fail(command.ExitUsage, errors.New("--all cannot be combined with --list or a number"), "run fsmtx log --help")
				}
				return logOfAll(c.Context(), s, asJSON)
			}
			if decided {
				if number != "" {
					return command.Fail(command.ExitUsage, fmt.Errorf("--decisions cannot be combined with the number of a call, %s", number),
						"fsmtx log --decisions shows those of the whole list")
				}
				return printDecisions(c.Context(), s, named, asJSON)
			}
			return runLog(c.Context(), s, named, number, asJSON)
		},
	}
	c.Flags().BoolVar(&decided, "decisions", false, "print what calls, steps and guards decided, in order, with who and why")
	c.Flags().BoolVar(&everything, "all", false, "print the calls of every list that has ever had a workflow")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	command.NameList(s, c, &named)
	c.MarkFlagsMutuallyExclusive("all", "decisions")
	return c
}

// loggedList is what "fsmtx log --all --json" prints of a list.
type loggedList struct {
	List       string      `json:"list"`
	Hydrations []Hydration `json:"hydrations"` // newest first

	skill string // of the workflow that went on elsewhere
}

// logOfAll prints the hydrations of each list that has a history.
func logOfAll(ctx context.Context, s terminal.Streams, asJSON bool) error {
	dirs, err := tasklist.WithHistory(s.Getenv)
	if err != nil {
		return err
	}
	lists, failed := []loggedList{}, false
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		all, unread, err := readHistories(storeOf(dir), false)
		if err = cmp.Or(err, tasklist.Interrupted(ctx, s.Getenv, dir)); err != nil {
			s.Errorf("%s: %s", filepath.Base(dir), message.Error(err))
			failed = true
			continue
		}
		reportUnread(s, unread)
		if slices.Reverse(all); len(all) > 0 {
			lists = append(lists, loggedList{List: dir, Hydrations: all})
		}
	}
	if asJSON {
		return command.PrintJSON(s.Out, lists)
	}
	if len(lists) == 0 {
		return none(failed)
	}
	for _, l := range lists {
		if err := printHydrations(s, "task list "+l.List, l.Hydrations); err != nil {
			return err
		}
	}
	return nil
}

func runLog(ctx context.Context, s terminal.Streams, session, number string, asJSON bool) error {
	list, chosen, err := command.ChooseList(ctx, s, session, true)
	if err == nil {
		err = tasklist.Interrupted(ctx, s.Getenv, list.Dir)
	}
	if err != nil {
		return err
	}
	all, unread, err := readHistories(storeOf(list.Dir), false)
	if err != nil {
		return err
	}
	reportUnread(s, unread)
	slices.Reverse(all)
	if number != "" {
		h, err := findHydration(tasklist.ShortName(s.Getenv, list.Dir), all, number)
		if err != nil {
			return err
		}
		if asJSON {
			return command.PrintJSON(s.Out, h)
		}
		return printHydration(s, list.Dir, chosen, h)
	}
	if asJSON {
		return command.PrintJSON(s.Out, append([]Hydration{}, all...))
	}
	if len(all) == 0 && len(unread) > 0 {
		return &command.Exit{Code: command.ExitNo}
	}
	if len(all) == 0 {
		return command.Fail(command.ExitNo, fmt.Errorf("%s: no skill has put a workflow into this task list", list.Dir), "")
	}
	if err := printHydrations(s, chosen, all); err != nil {
		return err
	}
	earlier, unread := before(all, map[string]bool{list.Dir: true})
	reportUnread(s, unread)
	for _, l := range earlier {
		if err := printHydrations(s, message.Sprintf("%s was before in the task list %s", l.skill, l.List), l.Hydrations); err != nil {
			return err
		}
	}
	return nil
}

// before returns the lists in which the workflows of these hydrations were before, and before that; seen are those that are known.
func before(all []Hydration, seen map[string]bool) (lists []loggedList, unread []error) {
	for _, h := range all {
		if h.From == nil || h.State == undone || seen[h.From.List] {
			continue
		}
		seen[h.From.List] = true
		there, troubles, err := readHistories(storeOf(h.From.List), false)
		if unread = append(unread, troubles...); err != nil {
			unread = append(unread, err)
			continue
		}
		slices.Reverse(there)
		more, troubles := before(there, seen)
		lists, unread = append(append(lists, loggedList{h.From.List, there, h.Skill}), more...), append(unread, troubles...)
	}
	return lists, unread
}

// printHydrations prints a line for each hydration of a list.
func printHydrations(s terminal.Streams, chosen string, all []Hydration) error {
	message.Fprintf(s.Out, "%s\n", chosen)
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, h := range all {
		message.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", nameOf(h), when(h), h.Skill, cameAndWent(h), doneOf(h), outcomeOf(h))
	}
	return w.Flush()
}

// none is the answer about all lists if none can be shown. unread reports that some could not be read, which was said.
func none(unread bool) error {
	if unread {
		return &command.Exit{Code: command.ExitNo}
	}
	return command.Fail(command.ExitNo, errors.New("no skill has put a workflow into a task list"), "")
}

// reportUnread says on standard error what could not be read.
func reportUnread(s terminal.Streams, unread []error) {
	for _, err := range unread {
		s.Errorf("%v", err)
	}
}

// findHydration returns the hydration with this number, or with this id.
func findHydration(list string, all []Hydration, name string) (Hydration, error) { // list is its name for a person
	n, err := strconv.ParseInt(name, 10, 64)
	for _, h := range all {
		if h.ID == name || err == nil && n > 0 && h.Number == n {
			return h, nil
		}
	}
	return Hydration{}, command.Fail(command.ExitNo, fmt.Errorf("the history of the list has no call %s", name),
		shell.Join("fsmtx", "log", "--list", list)+" lists those that are on record")
}

func nameOf(h Hydration) string {
	if h.Number == 0 {
		return h.ID
	}
	return strconv.FormatInt(h.Number, 10)
}

func when(h Hydration) string { return h.Time.Local().Format("2006-01-02 15:04:05") }

func cameAndWent(h Hydration) string {
	came, verb := fmt.Sprintf("%d created", len(h.Created)), "deleted"
	if h.Undoes != 0 {
		came, verb = fmt.Sprintf("%d restored", len(h.Created)), "removed"
	}
	if len(h.Deleted) == 0 {
		return came
	}
	went := fmt.Sprintf("%s, %d %s", came, len(h.Deleted), verb)
	if len(h.Lost) > 0 {
		went += ": " + strings.Join(h.Lost, ", ")
	}
	return went
}

func doneOf(h Hydration) string {
	if len(h.Created) == 0 {
		return "-"
	}
	return h.Count().Short()
}

func outcomeOf(h Hydration) string {
	switch h.State {
	case inList:
		switch {
		case h.isBack():
			return "brought the tasks back"
		case h.Reloaded != nil:
			return string(h.State) + ", reloaded: " + h.Reloaded.Because
		case h.From != nil:
			return fmt.Sprintf("%s, from %s", h.State, h.From.List)
		case h.Parent != 0:
			return fmt.Sprintf("%s, under #%d", h.State, h.Parent)
		}
	case replaced, undone:
		if h.Reloaded != nil {
			return fmt.Sprintf("%s by %d, reloaded: %s", h.State, h.By, h.Reloaded.Because)
		}
		return fmt.Sprintf("%s by %d", h.State, h.By)
	case undoing:
		return fmt.Sprintf("undoes %d", h.Undoes)
	case moved:
		if h.By != 0 {
			return fmt.Sprintf("came back as %d", h.By)
		}
		return h.where.Brief(h.To)
	case cleared:
		return "done; the client has cleared the list"
	}
	return string(h.State)
}

func printHydration(s terminal.Streams, list, chosen string, h Hydration) error {
	var b strings.Builder
	message.Fprintf(&b, "%s\ncall %s, %s: %s\n", chosen, nameOf(h), when(h), outcomeOf(h))
	session := tasklist.ShortName(s.Getenv, filepath.Join(filepath.Dir(list), h.Session))
	message.Fprintf(&b, "skill    %s\nsession  %s\nfile     %s\nsha256   %s\n", h.Skill, session, h.Spec, cmp.Or(h.SHA256, "unknown"))
	came, went := "created", "deleted"
	if h.Undoes != 0 {
		came, went = "restored", "removed"
	}
	tasksOf(&b, came, h.Created)
	tasksOf(&b, went, h.Deleted)
	_, err := io.WriteString(s.Out, b.String())
	return err
}

func tasksOf(b *strings.Builder, title string, list []ChangedTask) {
	if len(list) == 0 {
		return
	}
	message.Fprintf(b, "%s:\n", title)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, t := range list {
		where := ""
		if t.Gone {
			where = "not in the list now"
		}
		message.Fprintf(w, "  #%s\t%s\t%s\t%s\n", t.ID, cmp.Or(t.State, "unknown"), t.Subject, where)
	}
	_ = w.Flush()
}
