package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// ruleOf returns the rule about the command.
func ruleOf(c *cobra.Command) hook.Loosening {
	return hook.RuleOf(strings.TrimPrefix(c.CommandPath(), "fsmtx "))
}

// holdBack makes c and the commands below it apply their rule before anything else is done.
func holdBack(s terminal.Streams, c *cobra.Command) {
	for _, sub := range c.Commands() {
		holdBack(s, sub)
	}
	rule := ruleOf(c)
	if rule.When == nil {
		return
	}
	next := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if rule.Takes(c.Flags()) {
			by, err := permit(c, s, rule, args, nil)
			if err != nil {
				return err
			}
			c.SetContext(context.WithValue(c.Context(), decider{}, by))
		}
		if next == nil {
			return nil
		}
		return next(c, args)
	}
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if by := decidedBy(c.Context()); err == nil && by.Young {
			recordDeed(c, s, rule, args, by, concerned(c, s, rule, args))
		}
		return err
	}
}

// decider is the key of who decided that a command may run.
type decider struct{}

// Sent returns who decided that the command of this context may run, which a rule asks for, or else who runs it on the list.
func Sent(ctx context.Context, s terminal.Streams, list string) state.By {
	if by := decidedBy(ctx); by.Who != "" {
		return by
	}
	return sender(s, list)
}

// decidedBy returns who decided that the command of this context may run.
func decidedBy(ctx context.Context) state.By {
	by, _ := ctx.Value(decider{}).(state.By)
	return by
}

// permit returns who decided that the command may run: the person at the terminal, or the
// one who has agreed to this call of the agent. lists are those that it is about; nil: as the rule says.
func permit(c *cobra.Command, s terminal.Streams, rule hook.Loosening, args []string, lists []string) (state.By, error) {
	who := s.Who()
	var client state.Client
	if who.Kind != caller.Agent && !who.Since.IsZero() {
		if lists == nil {
			lists = concerned(c, s, rule, args)
		}
		var err error
		if who, client, err = presence.Beside(who, lists...); err != nil && !errors.Is(err, state.ErrMemory) {
			return state.By{}, &Exit{ExitNo, err, ""} // the command could change nothing there either
		}
	}
	switch {
	case who.Kind == caller.Person && who.Young:
		if err := confirm(c.Context(), s, who, client, lists); err != nil {
			return state.By{}, err
		}
		fallthrough
	case who.Kind == caller.Person:
		return state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &who.Terminal, Young: who.Young}, nil
	case who.Kind == caller.Script && !rule.Personal():
		return state.By{Who: state.TheCommand, How: state.ByShell}, nil
	case who.Kind == caller.Script:
		return state.By{}, &Exit{ExitNo, fmt.Errorf("only a person can %s, and nothing shows that one ran this: %s", rule.What, who.Why),
			"run it in a terminal outside the client"}
	case who.Kind == caller.Agent:
		line := commandLine(c.Context())
		g, err := useGrant(c.Context(), s, c.Flags(), line)
		if err == nil {
			return state.By{Who: state.ThePerson, How: state.ByQuestion, Session: g.Session, Agent: g.Agent}, nil
		}
		if !errors.Is(err, state.ErrNoGrant) {
			return state.By{}, err
		}
		return state.By{}, &Exit{ExitNo, fmt.Errorf("an agent cannot %s by itself, and a line with ! counts as the agent's (%s)", rule.What,
			who.Why),
			outside(c, s, rule, args, line)}
	default:
		return state.By{}, &Exit{ExitNo, fmt.Errorf("it is not known who ran this, and an agent cannot %s by itself: %s", rule.What,
			who.Why), "run it in a terminal outside the client"}
	}
}

// outside says how a person runs the command of an agent in a terminal of their own. An undo has its number there: when it is pasted,
// another call may be the last one.
func outside(c *cobra.Command, s terminal.Streams, rule hook.Loosening, args []string, line string) string {
	own, err := tasklist.Find(c.Context(), tasklist.Query{Lookup: s.Getenv, Who: s.Who, Over: true})
	if err == nil {
		line = hook.Outside(rule, c.Flags(), args, line, tasklist.ShortName(s.Getenv, own.Dir))
	}
	dirs := concerned(c, s, rule, args)
	switch {
	case len(dirs) != 1:
	case rule.Command == "undo":
		number, why := hook.TryUndo(c.Context(), dirs[0], c.Flags().Changed("force"), args)
		if why != nil {
			return wouldFail(why)
		}
		if len(args) == 0 && number != "" {
			line += " " + number
		}
	case rule.Personal():
		now, err := state.LoadNow(c.Context(), dirs[0])
		if err != nil {
			break
		}
		if why := (hook.Invocation{Rule: rule, Flags: c.Flags(), Args: args}).Decides(now); why != nil {
			return wouldFail(why)
		}
	}
	return hook.OnlyAPerson(s.Who(), hook.Here(), line)
}

// wouldFail says why a command that only a person may run would fail.
func wouldFail(why error) string {
	text := "only the person can decide this, and it would fail: " + why.Error()
	if hint := message.Hint(why); hint != "" {
		text += "; in a terminal outside the client, " + hint
	}
	return text
}

// concerned returns the lists that the command is about: the one that it names or finds, or every one of the project at which a
// client works.
func concerned(c *cobra.Command, s terminal.Streams, rule hook.Loosening, args []string) (dirs []string) {
	if rule.Wide {
		return presence.Lists(s.Getenv, hook.Here())
	}
	named := ""
	if session := c.Flags().Lookup("list"); session != nil {
		named = session.Value.String()
	}
	found, err := tasklist.Find(c.Context(), tasklist.Query{Lookup: s.Getenv, Who: s.Who, Named: named,
		Over: rule.Command == "undo" || rule.Command == "step reopen"})
	if several, is := errors.AsType[*tasklist.SeveralError](err); is && rule.Command == "undo" { // it may mean one of them: see ChooseWay
		for _, l := range several.Lists {
			dirs = append(dirs, l.Dir)
		}
		return dirs
	}
	if err != nil {
		return nil // the command says so
	}
	return []string{found.Dir}
}

// patience is how long a person has to type the word.
const patience = time.Minute

// confirm lets the person at a terminal show that they are one, once for the terminal and the lists: a client that works on
// one of them is older than the terminal, and its agent could have opened it.
func confirm(ctx context.Context, s terminal.Streams, who caller.Caller, client state.Client, lists []string) error {
	t := presence.TerminalOf(who)
	if presence.IsConfirmed(t, lists...) {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	other := fmt.Sprintf("%s (process %d)", client.Program, client.PID)
	if client.PID == 0 { // see state.ErrMemory
		other = "an agent that is not known"
	}
	why := message.Sprintf("fsmtx: %s works on this task list and began before this terminal, so its agent could have opened it.", other)
	if err := s.Confirm(ctx, why); err != nil {
		return &Exit{ExitNo, fmt.Errorf("nothing shows that a person ran this: %w at %s, which was opened after %s began",
			err, who.Terminal, other), "run it again and type the word, or run it in a terminal that is older"}
	}
	presence.Confirm(ctx, t, lists...)
	return nil
}

// recordDeed records what the person at the client has to know: the command was run in a young terminal.
func recordDeed(c *cobra.Command, s terminal.Streams, rule hook.Loosening, args []string, by state.By, lists []string) {
	d := state.Deed{Line: commandLine(c.Context()), Terminal: *by.TTY, Time: time.Now().UTC()}
	if n, err := stepNumber(strings.Join(args, "")); err == nil && (rule.Command == "step done" || rule.Command == "step skip") {
		d.Back = fmt.Sprintf("fsmtx step reopen %d --because \"...\"", n)
		if len(lists) == 1 {
			d.Back += " --list " + shell.Join(tasklist.ShortName(s.Getenv, lists[0]))
		}
	}
	presence.Did(c.Context(), d, lists...)
}

// wordsKey is the key of the program's arguments in the context of a command.
type wordsKey struct{}

// commandLine returns the command that is run, as a shell reads it.
func commandLine(ctx context.Context) string {
	words, _ := ctx.Value(wordsKey{}).([]string)
	return hook.Line(words)
}

// useGrant uses up the grant of the command in the list of the session that asked, which is
// that of the environment or of --list.
func useGrant(ctx context.Context, s terminal.Streams, flags *pflag.FlagSet, line string) (g state.Grant, err error) {
	named := ""
	if f := flags.Lookup("list"); f != nil {
		named = f.Value.String()
	}
	for _, own := range []bool{true, false} {
		var dir string
		switch session := s.Env("CLAUDE_CODE_SESSION_ID"); {
		case own && session+s.Env(tasklist.Variable) != "":
			dir, err = tasklist.OfSession(s.Getenv, session)
		case !own && named != "":
			var found tasklist.Found
			found, err = openList(ctx, s, named)
			dir = found.Dir
		default:
			continue
		}
		if err != nil {
			return g, err
		}
		if g, err = hook.NewFrame(s, tasklist.Found{Dir: dir}).UseGrant(ctx, line, s.Who().Started); !errors.Is(err, state.ErrNoGrant) {
			return g, err
		}
	}
	return g, state.ErrNoGrant
}
