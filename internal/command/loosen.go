package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// ruleOf returns the rule about the command.
func ruleOf(c *cobra.Command) hook.Loosening {
	return hook.RuleOf(strings.TrimPrefix(c.CommandPath(), "fsmtx "))
}

// addGrant adds that flag to a command.
func addGrant(c *cobra.Command, token *string) {
	c.Flags().StringVar(token, hook.GrantFlag, "", "the person's yes, which the hook adds")
	_ = c.Flags().MarkHidden(hook.GrantFlag)
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
	token := new(string)
	addGrant(c, token)
	next := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if rule.Takes(c.Flags()) {
			by, err := permit(c, s, rule, *token, args)
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
}

// decider is the key of who decided that a command may run.
type decider struct{}

// decidedBy returns who decided that the command of this context may run.
func decidedBy(ctx context.Context) state.By {
	by, _ := ctx.Value(decider{}).(state.By)
	return by
}

// permit returns who decided that the command may run: the person at the terminal, or the
// one who has agreed to this call of the agent.
func permit(c *cobra.Command, s terminal.Streams, rule hook.Loosening, token string, args []string) (state.By, error) {
	switch who := s.Who(); {
	case who.Kind == caller.Person && !(rule.Personal() && isYounger(c, s, who)):
		return state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &who.Terminal}, nil
	case who.Kind == caller.Script && !rule.Personal():
		return state.By{Who: state.TheCommand, How: state.ByShell}, nil
	case who.Kind == caller.Script:
		return state.By{}, &Exit{ExitNo, fmt.Errorf("only a person can %s, and nothing shows that one ran this: %s", rule.What, who.Why),
			"run it in a terminal outside the client"}
	case who.Kind == caller.Agent:
		line := commandLine(c.Context())
		g, err := useGrant(c.Context(), s, c.Flags(), token, line)
		if err == nil {
			return state.By{Who: state.ThePerson, How: state.ByQuestion, Session: g.Session, Agent: g.Agent}, nil
		}
		if !errors.Is(err, state.ErrNoGrant) {
			return state.By{}, err
		}
		session := s.Env("CLAUDE_CODE_SESSION_ID")
		line = hook.Outside(rule, c.Flags(), args, line, session, cmp.Or(s.Env(tasklist.Variable), session))
		return state.By{}, &Exit{ExitNo, fmt.Errorf("an agent cannot %s by itself (%s)", rule.What, who.Why),
			hook.OnlyAPerson(who, hook.Here(), line)}
	default:
		if who.Kind == caller.Person {
			who.Why = "this terminal was opened after the workflow was begun, so its agent may have opened it"
		}
		return state.By{}, &Exit{ExitNo, fmt.Errorf("it is not known who ran this, and an agent cannot %s by itself: %s", rule.What, who.Why),
			"a person has to run it, in a terminal that is older than the workflow and its agent, a console, or over ssh"}
	}
}

// isYounger reports whether what is above the command began after the workflow that it decides about: its agent may have started it.
func isYounger(c *cobra.Command, s terminal.Streams, who caller.Caller) bool {
	if who.Since.IsZero() {
		return false
	}
	session := c.Flags().Lookup("session")
	if session == nil {
		return false
	}
	found, err := FindList(c.Context(), s, session.Value.String()) // --list has the same variable
	if err != nil {
		return false // the command says so
	}
	now, err := state.LoadNow(c.Context(), found.Dir)
	return err == nil && !now.Began().IsZero() && !who.Since.Before(now.Began())
}

// wordsKey is the key of the program's arguments in the context of a command.
type wordsKey struct{}

// commandLine returns the command that is run, as a shell reads it.
func commandLine(ctx context.Context) string {
	words, _ := ctx.Value(wordsKey{}).([]string)
	return hook.Line(words)
}

// useGrant uses up the grant of the token in the list of the session that asked, which is
// that of the environment or of --session.
func useGrant(ctx context.Context, s terminal.Streams, flags *pflag.FlagSet, token, line string) (g state.Grant, err error) {
	if token == "" {
		return g, state.ErrNoGrant
	}
	named := ""
	if f := flags.Lookup("session"); f != nil {
		named = f.Value.String()
	}
	for _, session := range []string{s.Env("CLAUDE_CODE_SESSION_ID"), named} {
		if session == "" && s.Env("CLAUDE_CODE_TASK_LIST_ID") == "" {
			continue
		}
		dir, err := tasklist.OfSession(s.Getenv, cmp.Or(session, named))
		if err != nil {
			return g, err
		}
		if g, err = hook.NewFrame(s, tasklist.Found{Dir: dir}).UseGrant(ctx, token, line); !errors.Is(err, state.ErrNoGrant) {
			return g, err
		}
	}
	return g, state.ErrNoGrant
}
