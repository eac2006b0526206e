package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// FindList returns the task list that a command is about, as package tasklist says. named is
// the list that the user named; it may be empty.
func FindList(ctx context.Context, s terminal.Streams, named string) (tasklist.Found, error) {
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Named: named, Who: s.Who})
	if errors.Is(err, tasklist.ErrNoList) {
		err = &Exit{ExitNo, err, "call a skill that has a workflow in the client first (fsmtx locate lists them); fsmtx status --all lists " +
			"the sessions of other projects"}
	}
	return found, err
}

// findExisting is FindList for a list that must exist.
func findExisting(ctx context.Context, s terminal.Streams, named string) (tasklist.Found, error) {
	found, err := FindList(ctx, s, named)
	if err != nil {
		return found, err
	}
	return found, MustExist(found.Dir)
}

// ChooseList returns the list that FindList finds, which must exist. chosen describes it,
// for the first line of the output.
func ChooseList(ctx context.Context, s terminal.Streams, named string) (list tasks.List, chosen string, err error) {
	found, err := findExisting(ctx, s, named)
	if err != nil {
		return list, "", err
	}
	list = tasks.List{Dir: found.Dir, Wait: tasklist.Wait}
	switch {
	case found.Newest:
		return list, NewestList + ": " + found.Dir, nil
	case found.Project != "":
		return list, "the list of " + found.Project + ": task list " + found.Dir, nil
	}
	return list, "task list " + found.Dir, nil
}

// NewestList is what a command says of the list that it took itself.
const NewestList = "newest task list of this project"

// NameList adds the flags that name the list of a command: by its session, or by its name.
func NameList(s terminal.Streams, c *cobra.Command, named *string) {
	c.Flags().Var((*listName)(named), "session", "the task list of this session `ID`")
	c.Flags().Var((*listName)(named), "list", "the list of this `NAME`, as that of a project in other agents")
	for _, flag := range []string{"session", "list"} {
		_ = c.RegisterFlagCompletionFunc(flag, CompleteLists(s))
	}
	c.MarkFlagsMutuallyExclusive("session", "list")
}

// NamedOnce returns the list that a command is about: the one of a flag, or of an argument.
func NamedOnce(flag, argument string) (string, error) {
	if flag != "" && argument != "" {
		return "", &Exit{ExitNo, fmt.Errorf("the list is named twice: %s and %s", flag, argument), "name it once"}
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

// MustExist returns an error if neither the list nor its state directory exists.
func MustExist(dir string) error {
	if !txn.IsAbsent(dir) {
		return nil
	}
	return &Exit{ExitNo, errors.New(dir + ": no such task list"),
		"a session's list is created with its first task; fsmtx status --all lists the sessions with workflows"}
}

// NotAStep is the error of a command that takes a session, for one that does not exist. A short
// number is meant as that of a step.
func NotAStep(session string, err error) error {
	if len(session) > 0 && len(session) < 7 && strings.Trim(session, "0123456789") == "" {
		return &Exit{ExitNo, err, "the argument is a session, not a step; without it every step is shown"}
	}
	return err
}

// completeSteps completes the numbers of the steps of the list that a command is about, named or the
// one that FindList finds: those that are done, or those that are open.
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
