package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

func newBegin(s terminal.Streams) *cobra.Command {
	f := &workFlags{}
	c := &cobra.Command{
		Use:   "begin SKILL|DIR [--args TEXT]",
		Short: "Put the workflow of a skill into the task list, as at the skill's call",
		Long: `Begin does what the hook does when a skill is called: it puts the tasks of the skill's
fsm.json into the task list, all of them or none. SKILL is found as by "fsmtx locate"; DIR
is a directory with an fsm.json. It prints the steps, those that are ready in full, and how
to work on them.

--json prints an object with list, session, skill, spec (path of the fsm.json), created,
deleted (arrays of numbers), text (as without --json), and what "fsmtx next --json" prints.
` + workLong,
		Example:           example("fsmtx begin release", `fsmtx begin release --args "1.4.0"`, "fsmtx begin .agents/skills/release"),
		ValidArgsFunction: completeSkills(s),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return &exit{exitTrouble, fmt.Errorf("got %d arguments, want a skill or a directory", len(args)), "for example: " + c.CommandPath() + " release"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return troubled(f.begin(c.Context(), s, args[0])) },
	}
	c.Flags().StringVar(&f.args, "args", "", "the arguments of the skill's call, as one `text`")
	c.Flags().StringVar(&f.list, "list", "", "the list of this `NAME`, or of the session with this id")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	_ = c.RegisterFlagCompletionFunc("list", completeLists(s))
	return c
}

// beginWait limits the wait for the locks of the list.
const beginWait = 5 * time.Second

func (f *workFlags) begin(ctx context.Context, s terminal.Streams, what string) error {
	l, err := f.find(ctx, s, true)
	if err != nil {
		return err
	}
	r, err := l.request(s, what, f.args)
	if err != nil {
		return err
	}
	result, err := carryOut(ctx, s, r, hydrate.Options{LockTimeout: beginWait})
	switch {
	case err != nil:
		return notBegun(err, result, s)
	case result.Spec == "":
		return noSpec(s, r, result)
	}
	for _, note := range notes(result) {
		s.Errorf("%s", note)
	}
	return l.begun(ctx, r, result)
}

// request returns the request that a call of the skill would make.
func (l *listWork) request(s terminal.Streams, what, args string) (r hydrate.Request, err error) {
	here, err := os.Getwd()
	if err != nil {
		return r, err
	}
	project := s.Env("CLAUDE_PROJECT_DIR")
	if project == "" || l.project != "" {
		project = tasklist.Project(s.Getenv, here)
	}
	r = hydrate.Request{Event: event.PostToolUse, Session: l.Session, List: l.List.Dir, Command: what, Args: hydrate.Arguments(args), Cwd: here, Project: project, Typed: l.Via.Who == steps.ThePerson, Way: l.Way}
	info, err := os.Stat(what)
	if err != nil || !info.IsDir() || !strings.ContainsRune(what, filepath.Separator) && what != "." && what != ".." && isSkill(s, what, here) {
		return r, nil
	}
	dir, err := filepath.Abs(what)
	if err != nil {
		return r, err
	}
	r.Command, r.Folder = filepath.Base(dir), dir
	if _, err := os.Lstat(filepath.Join(dir, specName)); err != nil {
		if err := misnamedIn(dir); err != nil {
			return r, err
		}
		return r, &exit{exitNo, fmt.Errorf("%s has no %s", what, specName), "name a skill, or a directory with an " + specName}
	}
	return r, nil
}

// isSkill reports whether a skill with a workflow has the name.
func isSkill(s terminal.Streams, name, here string) bool {
	l, err := clientLocator(s)
	if err != nil {
		return false
	}
	found, err := l.Locate(name, here)
	return err == nil && found.Found()
}

// notBegun returns the error of a workflow that could not be put into the list: refused if
// its file is not valid or the list is in use, and trouble otherwise.
func notBegun(err error, result hydrate.Result, s terminal.Streams) error {
	message, hint := hydrate.Explain(err, result, s.Getenv)
	code := exitTrouble
	_, active := errors.AsType[*fsmspec.ActiveError](err)
	_, invalid := errors.AsType[*fsmspec.InvalidError](err)
	if active || invalid || errors.Is(err, steps.ErrOpenAbove) {
		code = exitNo
	}
	return &exit{code, visible.Lines(message), hint}
}

// noSpec returns the error of a skill without a workflow.
func noSpec(s terminal.Streams, r hydrate.Request, result hydrate.Result) error {
	if len(result.Misnamed) > 0 {
		m := result.Misnamed[0]
		return &exit{exitNo, fmt.Errorf("%s is not read as a workflow: %s", m.Path, m.Why), ""}
	}
	hint := "fsmtx locate lists the workflows that are visible from here"
	if l, err := clientLocator(s); err == nil {
		if near := l.Near(r.Command, r.Cwd); len(near) > 0 {
			hint = didYouMean(near)
		}
	}
	return &exit{exitNo, fmt.Errorf("no skill with a workflow is called %q, and no directory", r.Command), hint}
}

// shownBegin is what begin prints as JSON.
type shownBegin struct {
	Spec    string   `json:"spec"`
	Created []int64  `json:"created"`
	Deleted []string `json:"deleted"`
	Text    string   `json:"text"`
	shownWork
}

// begun prints what the workflow has put into the list.
func (l *listWork) begun(ctx context.Context, r hydrate.Request, result hydrate.Result) error {
	text := hydrate.Announcement(r, result)
	if text == "" {
		text = "The workflow of " + visible.Words(r.Command) + " has no steps, so the task list was not changed.\n"
	}
	out := shownBegin{Spec: result.Spec, Created: []int64{}, Deleted: []string{}, Text: text}
	for _, c := range result.Created {
		out.Created = append(out.Created, c.ID)
	}
	for _, d := range result.Deleted {
		out.Deleted = append(out.Deleted, strings.TrimSuffix(d.Name, ".json"))
	}
	if state, err := steps.Load(context.WithoutCancel(ctx), l.List.Dir); err == nil {
		out.shownWork = shownWork{l.shown(state), nil}
	}
	return l.print(out, strings.TrimSuffix(text, "\n"))
}
