package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newContinue(s terminal.Streams) *cobra.Command {
	f := &workFlags{}
	var from string
	c := &cobra.Command{
		Use:   "continue [SKILL] [--list NAME] [--to LIST]",
		Short: "Go on here with a workflow that another session has begun",
		Long: `Continue takes an unfinished workflow out of another task list and puts it into this one, with all that was decided: which
steps are done, their values, rounds and items, and what came under them. Its numbers are new. It works from session to session,
from agent to agent, and from one work tree of a repository to another: the gates look in this project from then on.

Without arguments it is the unfinished workflow of this project. If there are several, or if its session is at work on it, nothing is
done, and the whole command for each is printed. A terminal has no list of its own: name the one in which it goes on with --to; the
gates then look in the directory of that session. An agent needs the person's yes to take one from a session that is at work on it, or
from another work tree or project.

If the client has removed the task files of this list, as it does when a session is old, they come back with their numbers.

It is not undone: the same command takes it back. "fsmtx undo" says by which line.

--json prints an object with list, session, from (the list in which it was), text (as without --json), and what "fsmtx next --json"
prints.
`,
		Example:           Example("fsmtx continue", "fsmtx continue release", "fsmtx continue release --list 0b54 --to 9bd5"),
		ValidArgsFunction: CompleteSkills(s),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && args[0] == "" {
				return &Exit{exitTrouble, fmt.Errorf("got %s, want at most the name of a skill", InWords(args)),
					"run fsmtx continue --help"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return troubled(f.goOn(c, s, from, args))
		},
	}
	NameList(s, c, &from)
	c.Flags().StringVar(&f.list, "to", "", "the list of this `NAME`, or of the session with this id, in which it goes on")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	_ = c.RegisterFlagCompletionFunc("to", CompleteLists(s))
	return c
}

// shownContinued is what continue prints as JSON.
type shownContinued struct {
	From string `json:"from"`
	Text string `json:"text"`
	shownWork
}

// placeOf returns the directory of a list's session that is on record, whatever directory the terminal is in; empty if there is none.
func (l *listWork) placeOf(ctx context.Context, here string) string {
	at := ""
	for _, c := range presence.Of(l.List.Dir).Clients {
		at = c.Dir
	}
	return cmp.Or(l.Directory(ctx), at, tasklist.Elsewhere(l.streams.Getenv, l.List.Dir, here))
}

// program returns the agent that worked last on the list, as package caller names it; empty if none did. It goes on where a person says so.
func (l *listWork) program() (name string) {
	for _, c := range presence.Of(l.List.Dir).Clients {
		name = c.Program
	}
	return name
}

// unknownSession returns the error about a session that may run, but has left nothing by which that can be known.
func unknownSession(id, from string, args []string) error {
	line := append([]string{"continue"}, args...)
	if from != "" {
		line = append(line, "--list", from)
	}
	return &Exit{ExitNo, fmt.Errorf("it cannot be known whether session %s runs: it has begun no workflow, "+
		"and Claude Code has no transcript of it", id), "in that session, its agent runs: " + hook.Line(line)}
}

// goOn continues the workflow of the list that is named from, or else of the project.
func (f *workFlags) goOn(c *cobra.Command, s terminal.Streams, from string, args []string) error {
	ctx := c.Context()
	l, err := f.find(ctx, s, f.list == "", nil) // a list of that name, else a session's
	if errors.Is(err, tasklist.ErrNoSuchList) && tasklist.IsSessionID(f.list) {
		err = unknownSession(f.list, from, args)
	}
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	l.vouched(ctx, c.Name(), args, "")
	dir, chosen := l.directory(ctx)
	if f.list != "" && dir == "" {
		dir = l.placeOf(ctx, here)
	}
	own, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Who: s.Who, Begins: true})
	if err != nil {
		return err
	}
	q := continuation.Query{Lookup: s.Getenv, Here: cmp.Or(dir, here), List: l.List.Dir, Named: f.list != "", Own: own.Dir, Chosen: chosen,
		Client: cmp.Or(s.Env("AI_AGENT"), s.Who().Program, l.program()), Who: s.Who, By: l.Via}
	if f.list == "" && l.found.Project != "" && s.Who().Kind != caller.Agent { // only agents work on the list of a project
		q.List = ""
	}
	unasked := agent.Unasked(s.Who().Program) != ""
	if unasked && f.list == "" {
		presence.Enter(ctx, l.List.Dir) // a refusal names it
	}
	u, err := continuation.Choose(ctx, q, from, strings.Join(args, ""))
	if err != nil {
		return &Exit{ExitNo, err, l.endsOther(err)}
	}
	rule := ruleOf(c)
	switch rule.What = q.Needs(u); {
	case rule.What == "":
	case from == "" && s.Who().Kind != caller.Person:
		line := continuation.Line(s.Getenv, u.Workflow.Command, u.List, "")
		presence.Enter(ctx, l.List.Dir) // the other line names it
		hint := "name its list, and the person is asked: " + line + "; a line with ! asks nobody: in a terminal outside the client, " +
			continuation.Line(s.Getenv, u.Workflow.Command, u.List, l.List.Dir)
		if unasked {
			hint = hook.OnlyAPerson(s.Who(), here, continuation.Line(s.Getenv, u.Workflow.Command, u.List, l.List.Dir))
		}
		return &Exit{ExitNo, errors.New("only a person can " + rule.What), hint}
	default:
		presence.Enter(ctx, l.List.Dir) // the refusal names it
		if q.By, err = permit(c, s, rule, args, []string{u.List}); err != nil {
			return err
		}
	}
	s.SurviveBrokenPipe()
	ctx, stop := signals.Interruptible(ctx)
	defer stop()
	text, err := continuation.Take(ctx, q, &l.Store, u)
	if err != nil {
		return &Exit{ExitNo, err, l.endsOther(err)}
	}
	if f.list == "" {
		presence.Join(ctx, &l.Store, s, "", here, false)
	} else {
		presence.Give(ctx, &l.Store)
	}
	if q.By.Young {
		recordDeed(c, s, rule, args, q.By, []string{u.List})
	}
	l.SayLater(context.WithoutCancel(ctx), message.ForPerson(text))
	if f.list != "" { // that session reads of here
		text = strings.Replace(text, " goes on here ", " goes on in the list "+tasklist.ShortName(s.Getenv, l.List.Dir)+" ", 1)
	}
	out := shownContinued{From: u.List, Text: text}
	if now, err := l.Now(context.WithoutCancel(ctx)); err == nil {
		out.shownWork = shownWork{l.shown(now), progress.Waiting(now)}
		text += "\n" + l.Next(now)
	}
	return l.print(out, text)
}

// endsOther returns what to do about an error of continue: if a skill would be open twice in the list, a person can end that workflow.
func (l *listWork) endsOther(err error) string {
	var open *state.OpenHereError
	if !errors.As(err, &open) {
		return message.Hint(err)
	}
	line := fmt.Sprintf("fsmtx step end %d --because \"...\" --list ", open.Step.ID) +
		shell.Join(tasklist.ShortName(l.streams.Getenv, open.List))
	if l.streams.Who().Kind == caller.Person {
		return line + " ends that one"
	}
	return "a person can end that one, in a terminal outside the client: " + line
}
