package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const allowLong = `Allow lets one call through that a step lists under "only", although no such step is in
progress. RULE is a rule of a step, as the refusal shows it, or a narrower one without *,
such as "Bash(git push origin main)". The next call that the rule covers uses it up,
whether or not the call succeeds.
` + recordedLong

type allowFlags struct{ rule, because, session string }

func newStepAllow(s terminal.Streams) *cobra.Command {
	var f allowFlags
	c := &cobra.Command{
		Use:   "allow RULE --because TEXT",
		Short: "Let one call through that belongs to a later step",
		Long:  allowLong,
		Example: Example(`fsmtx step allow 'Bash(git push *)' --because "the server needs the branch now"`,
			`fsmtx step allow 'Write(docs/plan.md)' --because "a typing error" --list 0b54`),
		Args: func(c *cobra.Command, args []string) error {
			return lacks(c, s, f.session, false, f.way(c.Context(), s), f.read(args))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			return f.run(ctx, s)
		},
	}
	c.Flags().StringVar(&f.because, "because", "", "the reason to record (required)")
	NameList(s, c, &f.session)
	return c
}

// read reads the rule from args and checks the reason.
func (f *allowFlags) read(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("got %d arguments, want one rule", len(args))
	}
	f.rule = strings.TrimSpace(args[0])
	if wrong := gates.RuleFault(f.rule); wrong != "" {
		return fmt.Errorf("%q: %s", f.rule, wrong)
	}
	return reason(&f.because)
}

// way is the Way of the command: a list in which it can do nothing has no line, but the reason.
func (f *allowFlags) way(ctx context.Context, s terminal.Streams) Way {
	return func(dir, line string) (paste, note string) {
		if err := frameIn(s, tasklist.Found{Dir: dir}).MayPermit(ctx, f.rule); err != nil {
			return "", ", but " + err.Error()
		}
		return line, ""
	}
}

func (f *allowFlags) run(ctx context.Context, s terminal.Streams) error {
	found, err := find(ctx, s, f.session, false, f.way(ctx, s))
	if err != nil {
		return err
	}
	frame := frameIn(s, found)
	owners, err := frame.Permit(ctx, f.rule, f.because, decidedBy(ctx))
	if err != nil {
		return err
	}
	_, err = message.Fprintf(s.Out, "allowed once: %s, which belongs to %s\n", f.rule, state.Names(owners))
	return err
}
