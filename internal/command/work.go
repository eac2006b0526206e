package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/startup"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// exitTrouble says that a command for the agent could not do its work: nothing was decided.
const exitTrouble = 2

const workLong = `
Any agent with a shell can work on a workflow with begin, next, start and complete. The same
gates hold as in the client's task list and in "fsmtx mcp": order, files, checks, approval.
In Claude Code the list is the session's. Elsewhere it is the project's, which is kept in
fsmtx/tasks below XDG_STATE_HOME or ~/.local/state; --list NAME takes another list.

The exit code is 1 if the command is refused, and 2 if it could not be decided.`

// workFlags are the flags of the commands with which an agent works on steps.
type workFlags struct {
	list    string
	json    bool
	outcome string
	note    string
	set     valuesFlag
	args    string // of begin
	plan    string // of begin
	form    string // of plan

	readPlan func(path, form string) (*hydrate.Plan, error) // see NewBegin
}

// command makes c one of these commands.
func (f *workFlags) command(s terminal.Streams, c *cobra.Command, run func(context.Context, *listWork, []string) error) *cobra.Command {
	c.Long += workLong
	c.Flags().Var((*listName)(&f.list), "list", "the list of this `NAME`, or of the session with this id")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	_ = c.RegisterFlagCompletionFunc("list", CompleteLists(s))
	if strings.Contains(c.Use, " N") {
		c.ValidArgsFunction = completeSteps(s, &f.list, false)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		l, err := f.find(c.Context(), s, false, wayOfWork(c.Context(), args))
		if err == nil {
			l.vouched(c.Context(), c.Name(), args, f.list)
		}
		if err == nil && l.Via.Who == state.TheAgent {
			l.yes, err = l.agreed(c.Context())
		}
		if err == nil {
			err = run(c.Context(), l, args)
		}
		return troubled(err)
	}
	return c
}

// agreed returns the yes of the person to this call of the agent, nil if they gave none.
func (l *listWork) agreed(ctx context.Context) (*state.Grant, error) {
	g, err := l.UseGrant(ctx, commandLine(ctx), l.streams.Who().Started)
	if errors.Is(err, state.ErrNoGrant) {
		return nil, nil // the gates decide, and refuse what needs a person
	}
	return &g, err
}

// troubled gives an error that has no exit code yet that of trouble.
func troubled(err error) error {
	if _, ok := errors.AsType[*Exit](err); ok || err == nil {
		return err
	}
	return &Exit{exitTrouble, err, ""}
}

// misusedWork returns the handler for flags of a command that cannot be parsed.
func misusedWork(name string) func(terminal.Streams, error) error {
	return func(_ terminal.Streams, err error) error {
		return &Exit{exitTrouble, err, "run fsmtx " + name + " --help"}
	}
}

// listWork is what a command needs to work on the steps of a list.
type listWork struct {
	*gates.Frame
	progress.Way
	streams terminal.Streams
	json    bool
	found   tasklist.Found
	yes     *state.Grant // the person's yes to what the command does, or nil
	cwd     string       // where the agent is, as its client says; empty if that is not known
	agent   string       // the id of the subagent that runs the command, as its client says
}

// vouched finds out whether a hook of the client has seen the command. Then it is an update like any other: the gates look where the
// agent is by the client's word, and not where the command is run. It has seen it in the list of its own session, whichever list the
// command names.
func (l *listWork) vouched(ctx context.Context, command string, args []string, list string) {
	if l.Via.Who != state.TheAgent {
		l.cwd, _ = os.Getwd()
		return
	}
	st := &l.Store
	if list != "" {
		own, err := tasklist.Find(ctx, tasklist.Query{Lookup: l.streams.Getenv, Who: l.streams.Who, Begins: true})
		if err != nil || own.Dir == l.List.Dir {
			list = ""
		} else {
			st = presence.At(own.Dir)
		}
	}
	v, ok, expected := presence.Vouched(ctx, st, hook.VoucherFor(command, args, list), l.streams.Who().Started)
	switch {
	case ok:
		l.cwd, l.Via.How, l.agent = v.Cwd, state.ByCommand, v.Agent
	case expected:
		l.Unseen = func() bool { return true }
	}
}

// wayOfWork is the Way of a command that works on the step in args; nil if there is none.
func wayOfWork(ctx context.Context, args []string) Way {
	step, err := stepNumber(strings.Join(args, ""))
	if err != nil {
		return nil
	}
	return wayTo(ctx, step, func(now *state.State) error { return gates.MayPass(now, gates.Past{Step: step}) })
}

// find returns the work on the list that the command is about.
func (f *workFlags) find(ctx context.Context, s terminal.Streams, begins bool, way Way) (*listWork, error) {
	found, err := findList(ctx, s, tasklist.Query{Named: f.list, Begins: begins}, way)
	if err != nil {
		return nil, err
	}
	here, _ := os.Getwd()
	named, isPerson := f.list, s.Who().Kind == caller.Person
	if isPerson { // the lines that it prints are pasted later, when another list may be open
		if named = tasklist.ShortName(s.Getenv, found.Dir); begins {
			named = tasklist.ShortNameOnceThere(s.Getenv, found.Dir)
		}
	}
	l := &listWork{hook.NewFrame(s, found), progress.Way{Program: programs.AsTyped(), Named: named, Person: isPerson,
		PowerShell: s.Env("MSYSTEM") == ""}.In(here), s, f.json, found, nil, "", ""}
	l.Frame.NoChecks = sync.OnceValue(hook.ChecksOff(s.Getenv, found))
	l.Way.NoChecks = l.Frame.NoChecks
	l.Observe = sync.OnceValue(hook.Observing(s.Getenv, found, s.Who().Kind != caller.Agent))
	l.Apply, l.Via, l.Began, l.Log = true, sender(s, found.Dir), startup.Began, hook.ToLog(s)
	if found.Project != "" && l.Via.Who == state.TheAgent { // Claude Code asks, and its list is a session's
		l.Unasked = l.ListFlag()
	}
	return l, nil
}

// directory returns the directory of the session whose agent runs the command; chosen reports that the agent chooses it, because no
// hook has told it. Persons, scripts and agents without a session take the one in which they are.
func (l *listWork) directory(ctx context.Context) (dir string, chosen bool) {
	if !l.ofAgent() || l.found.Project != "" {
		return "", false
	}
	dir = l.Directory(ctx)
	return dir, dir == ""
}

// ofAgent reports whether neither a person nor a script runs the command.
func (l *listWork) ofAgent() bool {
	who := l.streams.Who().Kind
	return who != caller.Person && who != caller.Script
}

// sender returns who works on the steps of a list by a command. Without a terminal of their own that is the agent, whatever its
// environment says. So it is in a terminal that the agent could have opened, until a person has typed the word there.
func sender(s terminal.Streams, list string) state.By {
	who, _, _ := presence.Beside(s.Who(), list)
	if who.Kind == caller.Person && (!who.Young || presence.IsConfirmed(presence.TerminalOf(who), list)) {
		return state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &who.Terminal, Young: who.Young}
	}
	return state.By{Who: state.TheAgent, How: state.ByShell}
}

func newNext(s terminal.Streams) *cobra.Command {
	f := &workFlags{}
	return f.command(s, &cobra.Command{
		Use:   "next",
		Short: "Show which step is ready, in full, and what the others wait for",
		Long: `Next prints the steps that are in progress or ready, in full, and what the others wait for.
It changes nothing.

--json prints an object with list, session, skill, message, steps (number, subject, state,
waits_for, parent), current (the steps to work on, in full: also description, needs,
produces, check, approval, outcomes, decides) and waiting (what the others wait for).
`,
		Example: Example("fsmtx next", "fsmtx next --json"),
		Args:    noArgumentsOf(exitTrouble),
	}, func(ctx context.Context, l *listWork, _ []string) error {
		now, err := l.Now(ctx)
		if err == nil {
			err = tasklist.Interrupted(ctx, l.streams.Getenv, l.List.Dir)
		}
		if err != nil {
			return err
		}
		text, out := l.Next(now), shownWork{shownProgress: l.shown(now), Waiting: progress.Waiting(now)}
		if left := l.leftOpen(ctx, now); left != "" {
			text, out.Message = text+"\n"+left, out.Message+" "+left
		}
		if len(now.Steps) > 0 && l.streams.Who().Kind != caller.Agent && l.Observe() {
			text = "observing: nothing is refused\n" + text
		}
		if err := l.print(out, text); err != nil {
			return err
		}
		if len(now.Steps) == 0 {
			return &Exit{Code: ExitNo}
		}
		return nil
	})
}

// leftOpen tells an agent whose session has no workflow of one that another session has left, as the hook does when a session begins: a
// client may go on under another id, and no hook may have seen that. It is empty if there is none.
func (l *listWork) leftOpen(ctx context.Context, now *state.State) string {
	if len(now.Steps) > 0 || now.Departed.Last() != "" || !l.found.IsOfSession() || l.Via.Who != state.TheAgent {
		return ""
	}
	here, _ := os.Getwd()
	q := continuation.Query{Lookup: l.streams.Getenv, Here: cmp.Or(l.Directory(ctx), here), List: l.List.Dir, Own: l.List.Dir}
	all, err := continuation.Find(ctx, q)
	all = slices.DeleteFunc(all, func(u continuation.Unfinished) bool { return u.IsHeld() })
	if err != nil || len(all) == 0 {
		return ""
	}
	more := ""
	if len(all) > 1 {
		more = fmt.Sprintf("; and %d more: fsmtx status --all", len(all)-1)
	}
	how := continuation.Line(l.streams.Getenv, all[0].Workflow.Command, all[0].List, "") + " goes on with it here"
	if title := agent.Unasked(l.streams.Who().Program); title != "" && q.Needs(all[0]) != "" {
		presence.Enter(ctx, l.List.Dir) // the line names it
		how = "only the person can decide it: in a terminal outside " + title + ", " +
			continuation.Line(l.streams.Getenv, all[0].Workflow.Command, all[0].List, l.List.Dir) + " goes on with it here"
	}
	return message.Sprintf("This project has an unfinished workflow of another session (%s); %s%s. "+
		"Ask the person whether to go on with it.", all[0], how, more)
}

// shownProgress is what the commands print as JSON of a list.
type shownProgress struct {
	List    string `json:"list"`
	Session string `json:"session"`
	progress.Status
}

func (l *listWork) shown(s *state.State) shownProgress {
	return shownProgress{l.List.Dir, l.Session, l.Of(s, "")}
}

type shownWork struct {
	shownProgress
	Waiting []string `json:"waiting"`
}

// print prints the result as JSON or as text.
func (l *listWork) print(result any, text string) error {
	if l.json {
		return PrintJSON(l.streams.Out, result)
	}
	_, err := io.WriteString(l.streams.Out, message.Text(text)+"\n")
	return err
}

func newStart(s terminal.Streams) *cobra.Command {
	f := &workFlags{}
	return f.command(s, &cobra.Command{
		Use:   "start N",
		Short: "Start a step of the workflow",
		Long: `Start starts step N of the workflow. It is refused if a step that comes before it is not
done, or a file that it needs is missing.

` + updatedJSON,
		Example: Example("fsmtx start 2"),
		Args:    oneStep,
	}, func(ctx context.Context, l *listWork, args []string) error {
		return l.update(ctx, args[0], gates.Update{Status: workflow.InProgress})
	})
}

const updatedJSON = `--json prints an object with list, session, step, verdict (allow, deny, ask or trouble), back (the
outcome leads back), text (as without --json) and the members that "fsmtx next --json"
prints of the state after it.
`

func newComplete(s terminal.Streams) *cobra.Command {
	f := &workFlags{}
	c := f.command(s, &cobra.Command{
		Use:     "complete N [--outcome NAME] [--set NAME=TEXT] [--note TEXT]",
		Aliases: []string{progress.Finish},
		Short:   "Complete a step of the workflow: its gates are tested now",
		Long: `Complete completes step N of the workflow, if the files that it produces exist and its check
exits with 0; that may take minutes, and ^C stops it. If a person has to approve the step,
Claude Code asks them when its agent makes the command a call of its own. Elsewhere the
command is refused, and says what the person can do. An outcome that leads back opens steps
again; the exit code is then 0 too.

Finish is another name for it: in a git work tree that Claude Code's agent has entered, the
client refuses every shell command that contains the word complete.

` + updatedJSON,
		Example: Example("fsmtx complete 2", "fsmtx complete 2 --set version=1.4.0",
			`fsmtx complete 43 --outcome changes --note "the tests are missing"`),
		Args: oneStep,
	}, func(ctx context.Context, l *listWork, args []string) error {
		if len(f.note) > gates.MaxNote {
			return &Exit{ExitNo, fmt.Errorf("--note has %d bytes; shorten it to %d", len(f.note), gates.MaxNote), ""}
		}
		return l.update(ctx, args[0], gates.Update{Status: workflow.Completed, Outcome: strings.TrimSpace(f.outcome), Note: f.note,
			Values: f.set.object()})
	})
	c.Flags().StringVar(&f.outcome, "outcome", "", "how the step ends: the `name` of one of its outcomes")
	f.set = addSet(c)
	c.Flags().StringVar(&f.note, "note", "", "what was done and how it was verified, in a sentence or two; kept as evidence")
	return c
}

// oneStep checks that there is one argument, the number of a step.
func oneStep(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return &Exit{exitTrouble, fmt.Errorf("got %d arguments, want the number of one step", len(args)),
			"for example: " + c.CommandPath() + " 2"}
	}
	_, err := stepNumber(args[0])
	return err
}

func stepNumber(arg string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(arg, "#"), 10, 64)
	if err != nil || n < 1 {
		return 0, &Exit{exitTrouble, fmt.Errorf("got %q, want the number of a step", arg), "fsmtx next shows the steps"}
	}
	return n, nil
}

// noArgumentsOf is NoArguments with another exit code.
func noArgumentsOf(code int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := NoArguments(c, args)
		if e, ok := errors.AsType[*Exit](err); ok {
			e.Code = code
		}
		return err
	}
}

// shownUpdate is what start and complete print as JSON.
type shownUpdate struct {
	Step    int64          `json:"step"`
	Verdict state.Decision `json:"verdict"`
	Back    bool           `json:"back"`
	Text    string         `json:"text"`
	shownWork
}

// update changes the status of a step, if its gates allow that.
func (l *listWork) update(ctx context.Context, number string, u gates.Update) error {
	step, err := stepNumber(number)
	if err != nil {
		return err
	}
	u.Cwd, u.Agent = l.cwd, l.agent
	on, err := l.On(ctx, l.Frame, step)
	var r progress.Result
	switch {
	case errors.Is(err, progress.ErrRefused):
		r.Text, r.Decision = err.Error(), state.Deny
	case err != nil:
		return err
	case l.yes != nil:
		u.Agent = l.yes.Agent
		r = on.Answered(ctx, u, true, state.ByQuestion)
	default:
		r = on.Update(ctx, u)
	}
	return l.printResult(ctx, step, r)
}

// printResult prints the result of an update. What is refused is an error, so without --json it
// goes to standard error.
func (l *listWork) printResult(ctx context.Context, step int64, r progress.Result) error {
	code := ExitOK
	switch {
	case r.Undecided():
		code = exitTrouble
	case !r.Allowed() && r.Check != nil:
		code = cmp.Or(r.Check.Ends, ExitNo)
	case !r.Allowed():
		code = ExitNo
	}
	if code != ExitOK && !l.json {
		hint := ""
		if l.Unseen != nil && l.Unseen() {
			hint = "a line with ! counts as the agent's: in a terminal outside the client, " +
				shell.Join("fsmtx", "status", "--list", tasklist.ShortName(l.streams.Getenv, l.List.Dir)) + " shows what waits for a person"
		}
		return &Exit{code, message.Lines(r.Text), hint}
	}
	out := shownUpdate{Step: step, Verdict: r.Decision, Back: r.Back, Text: message.Text(r.Text)}
	switch {
	case code == exitTrouble:
		out.Verdict = "trouble"
	case out.Verdict == "":
		out.Verdict = state.Allow
	}
	if now, err := l.Now(context.WithoutCancel(ctx)); err == nil {
		out.shownWork = shownWork{l.shown(now), progress.Waiting(now)}
	}
	if err := l.print(out, r.Text); err != nil || code == ExitOK {
		return err
	}
	return &Exit{Code: code}
}
