package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// NewBegin returns the command begin. readPlan reads the file of --plan; nil if this program cannot, and the other one is started.
func NewBegin(s terminal.Streams, readPlan func(path, form string) (*hydrate.Plan, error)) *cobra.Command {
	f := &workFlags{readPlan: readPlan}
	c := &cobra.Command{
		Use:   "begin {SKILL|DIR | --plan FILE} [--args TEXT]",
		Short: "Put the workflow of a skill into the task list, as at the skill's call",
		Long: `Begin does what the hook does when a skill is called: it puts the tasks of the skill's
fsm.json into the task list, all of them or none. SKILL is found as by "fsmtx locate", or where
the agent that runs the command looks for skills; DIR is a directory with an fsm.json. It prints
the steps, those that are ready in full, and how to work on them.

A list that is named with --list is one that is there; an agent or a script can also begin a new one, with a name of at least four
characters. One of another project is refused, and a person is asked first.

--plan takes the boxes of a Markdown file, such as the tasks.md of OpenSpec or spec-kit: each box is a step with its text, in the order
of the file, but parts (2.1, or what is indented) before what they are parts of. Code and comments have no boxes. [x] is done; [ ], [],
[-], [~], [/] and [>] are open. A line that may be a box and cannot be read is named, and nothing is begun. --form takes some of the
boxes. The boxes are ticked as the steps are done: each is found by its text and its headings, also where it was moved to. If a step is
opened again, or undone, what was in its box before comes back; a box that somebody else has ticked stays as it is. What else differs
in the file is told by complete, next and status, and begin --plan takes it up again.

--json prints an object with list, session, skill, spec (path of the fsm.json), created,
deleted (arrays of numbers), text (as without --json), and what "fsmtx next --json" prints.
` + workLong,
		Example: Example("fsmtx begin release", `fsmtx begin release --args "1.4.0"`, "fsmtx begin .agents/skills/release",
			"fsmtx begin --plan specs/001-import/tasks.md"),
		ValidArgsFunction: CompleteSkills(s),
		Args: func(c *cobra.Command, args []string) error {
			if f.plan != "" && len(args) == 0 {
				return nil
			}
			if len(args) != 1 || args[0] == "" || f.plan != "" {
				return &Exit{exitTrouble, fmt.Errorf("got %s, want a skill or a directory", InWords(args)),
					"for example: " + c.CommandPath() + " release"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return troubled(f.begin(c, s, args)) },
	}
	c.Flags().StringVar(&f.args, "args", "", "the arguments of the skill's call, as one `text`")
	c.Flags().StringVar(&f.plan, hook.PlanFlag, "", "take the boxes of this Markdown `FILE` as the steps")
	c.Flags().StringVar(&f.form, "form", "", "with --plan: only the boxes below the heading in a line, or those beside a box: tasks:LINE")
	c.Flags().Var((*listName)(&f.list), "list", "the list of this `NAME`, or of the session with this id")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	_ = c.RegisterFlagCompletionFunc("list", CompleteLists(s))
	return c
}

// beginWait limits the wait for the locks of the list.
const beginWait = 5 * time.Second

func (f *workFlags) begin(c *cobra.Command, s terminal.Streams, args []string) error {
	ctx, what := c.Context(), strings.Join(args, "")
	var plan *hydrate.Plan
	if f.form != "" && f.plan == "" {
		return AsUsage(errors.New("--form needs --plan"))
	}
	if f.plan != "" {
		var err error
		if plan, err = f.readPlan(f.plan, f.form); err != nil {
			return err
		}
		what = hydrate.PlanName(f.plan)
	}
	l, err := f.find(ctx, s, true, nil)
	if err != nil {
		return err
	}
	l.vouched(ctx, c.Name(), args, f.list)
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := f.mayBegin(ctx, s, l, here); err != nil {
		return err
	}
	s.SurviveBrokenPipe()
	ctx, _ = signals.Interruptible(ctx)
	b := l.beginning(ctx, here)
	b.Skill, b.Plan, b.Args = what, plan, f.args
	begin := func(by state.By, agreed bool) (hydrate.Begun, hydrate.Result, error) {
		b.By = by
		return hydrate.Begin(ctx, b, s.Getenv, hydrate.Options{LockTimeout: beginWait, Program: b.Program, Log: decisions.Adder(l.Log),
			FromClient: func() bool { return agreed },
			Answerers:  func() []string { return hook.AllAnswerers(s.Getenv, cmp.Or(b.Dir, here)) }})
	}
	begun, result, err := begin(l.Via, false)
	if errors.Is(err, hydrate.ErrReplaces) || errors.Is(err, hydrate.ErrElsewhere) { // then a person has to agree
		rule := ruleOf(c)
		rule.What = hook.Beginning(what, result.Lost, here, result.Outside, b.Project)
		by, refused := permit(c, s, rule, args, []string{l.List.Dir})
		if refused != nil {
			return refused
		}
		begun, result, err = begin(by, true)
		if err == nil && by.Young {
			recordDeed(c, s, rule, args, by, []string{l.List.Dir})
		}
	}
	if err != nil {
		return refusedToBegin(withPlugin(s, here, what, err))
	}
	presence.Join(ctx, &l.Store, s, "", here, false)
	if plan != nil && plan.Left != "" {
		s.Errorf("%s", plan.Left)
	}
	for _, note := range hydrate.Notes(result) {
		s.Errorf("%s", note)
	}
	out := shownBegin{Spec: result.Spec, Begun: begun}
	if now, err := l.Now(context.WithoutCancel(ctx)); err == nil {
		out.shownWork = shownWork{l.shown(now), progress.Waiting(now)}
	}
	return l.print(out, strings.TrimSuffix(begun.Text, "\n"))
}

// beginning returns what is known before of a workflow that is begun in a directory.
func (l *listWork) beginning(ctx context.Context, here string) hydrate.Beginning {
	b := hydrate.Beginning{Program: l.streams.Who().Program, Here: here, List: l.found, Way: l.Way, Unseen: l.Unseen != nil}
	if b.Dir, b.Chosen = l.directory(ctx); l.ofAgent() {
		b.Project = cmp.Or(b.Dir, l.found.Project, tasklist.Project(l.streams.Getenv, here))
	}
	return b
}

// mayBegin returns an error if the list is named and another project's, unless the person at the terminal says that it is meant.
func (f *workFlags) mayBegin(ctx context.Context, s terminal.Streams, l *listWork, here string) error {
	if f.list == "" {
		return nil
	}
	project := tasklist.Elsewhere(s.Getenv, l.List.Dir, here)
	own, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Who: s.Who, Begins: true})
	if project == "" || err == nil && own.Dir == l.List.Dir {
		return nil
	}
	what := message.Sprintf("the list %s is of %s, and this is %s", tasklist.ShortName(s.Getenv, l.List.Dir), project, here)
	if s.Who().Kind == caller.Person {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		if s.Confirm(ctx, "fsmtx: "+what+".") == nil {
			return nil
		}
	}
	return &Exit{ExitNo, message.Lines(what + ": nothing was begun"), "for that list: cd " + shell.Join(project) +
		"; for this project leave out --list"}
}

// withPlugin returns the error of a skill that was not found with the folder in which the plugin here has it: begin takes
// that, too.
func withPlugin(s terminal.Streams, here, what string, err error) error {
	e, ok := errors.AsType[*hydrate.NotBegun](err)
	l, noFinder := Finder(s)
	if !ok || noFinder != nil {
		return err
	}
	if found, _ := l.Locate(what, here); found.Found() {
		return err
	}
	if path := InPluginHere(s, here, what); path != "" {
		e.Hint = "the plugin in this directory has it, and is not installed: fsmtx begin " +
			shell.Join("./"+Relative(here, filepath.Dir(path)))
	}
	return err
}

// refusedToBegin returns the error of a workflow that was not begun, with its exit code.
func refusedToBegin(err error) error {
	e, ok := errors.AsType[*hydrate.NotBegun](err)
	if !ok {
		return err
	}
	code := exitTrouble
	if e.Refused {
		code = ExitNo
	}
	return &Exit{code, message.Lines(e.Message), e.Hint}
}

// shownBegin is what begin prints as JSON.
type shownBegin struct {
	Spec string `json:"spec"`
	hydrate.Begun
	shownWork
}
