package tools

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksList(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	c := &cobra.Command{
		Use:   "list [EVENT [TOOL]]",
		Short: "Show the configured hooks in the order in which they would run, and why others are dropped",
		Long: "Shows all configured hooks in the order in which they would run, or only those for an event and a\n" +
			"tool. Mistakes in the configuration are reported on standard error.",
		Example: command.Example("fsmtx hooks list", "fsmtx hooks list --dialect claude PreToolUse Bash"),
		Args:    cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			setup, err := flags.findHere(s)
			if err != nil {
				return err
			}
			return listHooks(s, setup, flags.json, args)
		},
	}
	flags.add(c)
	return c
}

// listed is what the command prints with --json.
type listed struct {
	Enabled  bool            `json:"enabled"`
	Events   []listedEvent   `json:"events"`
	Problems []hooks.Problem `json:"problems"`
}

type listedEvent struct {
	Event   string          `json:"event"`
	Plan    *hooks.Plan     `json:"plan"`
	Skipped []hooks.Problem `json:"skipped,omitzero"` // valid hooks that this agent would not run
}

func listHooks(s terminal.Streams, setup hookSetup, asJSON bool, args []string) error {
	registry := hooks.NewRegistry(setup.dialect, setup.found.Sources)
	all := listed{Enabled: setup.found.Enabled, Events: []listedEvent{}, Problems: registry.Problems()}
	events, subject := registry.Events(), ""
	if len(args) > 0 {
		if !knows(setup.dialect, args[0]) {
			return unknownEvent(setup.dialect, args[0], command.ExitUsage)
		}
		events = args[:1]
	}
	if len(args) > 1 {
		subject = args[1]
	}
	for _, event := range events {
		plan, skipped := registry.All(setup.dialect, event)
		if subject != "" {
			plan, skipped = registry.Plan(setup.dialect, event, subject)
		}
		if plan != nil || skipped != nil {
			all.Events = append(all.Events, listedEvent{event, plan, skipped})
		}
	}
	if asJSON {
		all.Problems = slices.Concat([]hooks.Problem{}, all.Problems)
		return command.PrintJSON(s.Out, all)
	}
	all.print(s)
	switch {
	case setup.isOff():
		s.Errorf("hooks are off: %s runs them only with %s in the settings", setup.dialect.Title, setup.dialect.Settings.ToEnable)
	case len(all.Events) == 0 && len(setup.found.Files) == 0 && len(setup.found.Unusable) == 0:
		setup.hintForNoSettings(s)
	}
	return nil
}

// print prints the problems on standard error and the hooks on standard output.
func (l listed) print(s terminal.Streams) {
	for _, p := range l.Problems {
		what := "warning"
		if p.Dropped {
			what = "dropped"
		}
		s.Errorf("%s: %s", what, p)
	}
	for _, e := range l.Events {
		for _, p := range e.Skipped {
			s.Errorf("skipped: %s", p)
		}
	}
	none := true
	for _, e := range l.Events {
		if e.Plan != nil {
			e.print(s.Out)
			none = false
		}
	}
	if none {
		fmt.Fprint(s.Out, "no hooks\n")
	}
}

func (e listedEvent) print(out io.Writer) {
	how := ""
	if e.Plan.Sequential {
		how = ", one after the other"
	}
	message.Fprintf(out, "%s%s\n", e.Event, how)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, h := range e.Plan.Hooks {
		message.Fprintf(table, "  %d\t%s\t%s\t%s\t%s\n", i+1, cmp.Or(h.Matcher, "*"), commandWords(h),
			h.Timeout.Round(time.Millisecond), origin(h))
	}
	table.Flush()
}

func commandWords(h hooks.Hook) string {
	switch {
	case h.Command == "" && h.Target != "":
		return oneLine(h.Type + " " + h.Target)
	case h.Command == "":
		return "(" + h.Type + ")"
	case h.Args != nil:
		return oneLine(fmt.Sprintf("%s %q", h.Command, h.Args))
	}
	return oneLine(h.Command)
}

func origin(h hooks.Hook) string {
	if h.Source == "" {
		return h.Scope.String()
	}
	return h.Scope.String() + " " + h.Source
}

func knows(d dialect.Dialect, event string) bool {
	_, ok := d.Event(event)
	return ok
}
