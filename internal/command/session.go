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

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/history"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// findList returns the task list that a command is about, as package tasklist says. named is
// the list that the user named; it may be empty.
func findList(ctx context.Context, s terminal.Streams, named string) (tasklist.Found, error) {
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Named: named, Who: s.Who})
	if errors.Is(err, tasklist.ErrNoList) {
		err = &exit{exitNo, err, "call a skill that has a workflow in the client first (fsmtx locate lists them); fsmtx status --all lists " +
			"the sessions of other projects"}
	}
	return found, err
}

// chooseList returns the list that findList finds, which must exist. chosen describes it,
// for the first line of the output.
func chooseList(ctx context.Context, s terminal.Streams, named string) (list tasks.List, chosen string, err error) {
	found, err := findList(ctx, s, named)
	if err != nil {
		return list, "", err
	}
	list = tasks.List{Dir: found.Dir, Wait: recovery.Wait}
	switch {
	case found.Newest:
		return list, newestList + ": " + found.Dir, nil
	case found.Project != "":
		return list, "the list of " + found.Project + ": task list " + found.Dir, mustExist(found.Dir)
	}
	return list, "task list " + found.Dir, mustExist(found.Dir)
}

// newestList is what a command says of the list that it took itself.
const newestList = "newest task list of this project"

// nameList adds the flags that name the list of a command: by its session, or by its name.
func nameList(s terminal.Streams, c *cobra.Command, named *string) {
	c.Flags().Var((*listName)(named), "session", "the task list of this session `ID`")
	c.Flags().Var((*listName)(named), "list", "the list of this `NAME`, as that of a project in other agents")
	for _, flag := range []string{"session", "list"} {
		_ = c.RegisterFlagCompletionFunc(flag, completeLists(s))
	}
	c.MarkFlagsMutuallyExclusive("session", "list")
}

// namedOnce returns the list that a command is about: the one of a flag, or of an argument.
func namedOnce(flag, argument string) (string, error) {
	if flag != "" && argument != "" {
		return "", &exit{exitNo, fmt.Errorf("the list is named twice: %s and %s", flag, argument), "name it once"}
	}
	return cmp.Or(flag, argument), nil
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
	_, err := os.Lstat(dir)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if state, stateErr := txn.StateDir(dir); stateErr == nil {
		if _, stateErr := os.Lstat(state); stateErr == nil {
			return nil
		}
	}
	return &exit{exitNo, errors.New(dir + ": no such task list"),
		"a session's list is created with its first task; fsmtx status --all lists the sessions with workflows"}
}

// notAStep is the error of a command that takes a session, for one that does not exist. A short
// number is meant as that of a step.
func notAStep(session string, err error) error {
	if len(session) > 0 && len(session) < 7 && strings.Trim(session, "0123456789") == "" {
		return &exit{exitNo, err, "the argument is a session, not a step; without it every step is shown"}
	}
	return err
}

// completeSessions completes the sessions whose lists have a history.
func completeSessions(s terminal.Streams) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		dirs, err := tasklist.WithHistory(s.Getenv)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var sessions []string
		for _, dir := range dirs {
			all, _ := history.Read(dir)
			if len(all) > 0 {
				last := all[len(all)-1]
				sessions = offer(sessions, last.Session, last.Skill+", "+last.Time.Local().Format("2006-01-02 15:04"))
			}
		}
		slices.Sort(sessions)
		return slices.Compact(sessions), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSteps completes the numbers of the steps of the list that a command is about, named or the
// one that findList finds: those that are done, or those that are open.
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
		state, err := steps.LoadNow(ctx, found.Dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, step := range state.Steps {
			if step.Done() == done {
				numbers = offer(numbers, strconv.FormatInt(step.ID, 10), step.Subject)
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// sessionAndNumber splits the arguments [SESSION] [N], of which there are at most two. A single argument
// of digits is N.
func sessionAndNumber(args []string) (session, number string) {
	switch {
	case len(args) == 0:
		return "", ""
	case len(args) > 1:
		return args[0], args[1]
	case strings.Trim(args[0], "0123456789") == "":
		return "", args[0]
	}
	return args[0], ""
}
