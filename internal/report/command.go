package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const long = `Report counts what was decided about the steps of workflows: from what is on record of the lists of
this project, with --all of every list of this machine, or from logs that were collected (FSMTX_LOG,
--log of the hook), which are read a line at a time.

A list keeps its last ten runs (fsmtx hydrate --history) and what has a task in it: for longer, set
FSMTX_LOG under "env" in the settings of the user or the organisation, where the commands of a person
find it, too. Set elsewhere, it has to be in the environment of their terminals: what they skip is in
no log otherwise. A line that comes twice counts once. Logs may be named in any order.

For each skill it shows the versions of its fsm.json side by side, the oldest first: runs that were
begun, ended, left open, replaced and undone, and their median time; another SKILL.md is no version,
and a run that was reloaded counts in its last one.
From ten runs on it says how many ended, and how often one was refused something. For each step in
how many runs it is done, not needed or gone at last, as status counts it (one that is done for each
line, as often as that; no log tells which step is gone), by which gate it was refused and what came then, how often it was sent back,
asked about, and gone past, and its median time from start to end. "Then passed" says how often a
gate passed after it had refused: after a change of files, unchanged, or not known, because the
content is on record only where there is a policy (docs/ci.md).

A check that cannot run, or does not end, has refused nothing. Then it says which gates never
refused, which refused wrongly (--wrong of fsmtx step, or passed on the next try on the same
content), which steps a person went past, and which are skipped most: in all versions, with the last
in which it was so, if that is not the newest. A person goes past a step with fsmtx step skip or done,
whether a gate had refused before or not; skipped is skip alone. With less than ten runs it says "too few to tell"
beside the number. What a gate would have refused while the hooks only observe (fsmtx install
--observe) is in a column of its own; gates behind that one were not judged: "not reached".

It prints no names of people, no prompts and no content. The reasons that persons gave, and only with
--reasons, are their words. Lines of a log that are damaged are left out and counted.

--json prints an object with since, skills, findings, damaged and forgotten: "fsmtx schema --report"
describes its members. The exit code is 1 if there is nothing to count, and 2 for a wrong command
line.`

// NewReport returns the command report.
func NewReport(s terminal.Streams) *cobra.Command {
	var since, skill string
	var project, all, asJSON, reasons bool
	c := &cobra.Command{
		Use:   "report [FILE…]",
		Short: "Count what was decided: which gates never refuse, which steps are skipped, whether a change helped",
		Long:  long,
		Example: command.Example(
			"fsmtx report --since 30d",
			"fsmtx report --all --skill release --reasons",
			"fsmtx report --json logs/*.log"),
		RunE: func(c *cobra.Command, files []string) error {
			from, err := sinceOf(since, time.Now())
			if err != nil {
				return err
			}
			if len(files) > 0 && (project || all) {
				return command.Fail(command.ExitUsage, errors.New("--project and --all are about lists, and logs were named"), "")
			}
			n := newCounter(from, skill)
			damaged, err := n.read(c.Context(), s, files, all)
			if err != nil {
				return err
			}
			x := n.shown(reasons)
			x.Damaged = append(x.Damaged, damaged...)
			if asJSON {
				if err := command.PrintJSON(s.Out, x); err != nil {
					return err
				}
			}
			for _, d := range damaged {
				s.Errorf("%s: left out %s that cannot be read; the first is line %d: %s", d.File, terminal.Count(d.Lines, "line"),
					d.First, d.Why)
			}
			switch {
			case len(x.Skills) > 0 && !asJSON:
				x.print(s, reasons)
			case len(x.Skills) == 0 && len(files) == 0 && !all:
				return command.Fail(command.ExitNo, errors.New("no run of a workflow is on record in this project"),
					"fsmtx report --all counts every list")
			case len(x.Skills) == 0:
				return command.Fail(command.ExitNo, errors.New("there is no run of a workflow to count"), "")
			}
			return nil
		},
	}
	c.Flags().StringVar(&since, "since", "", "count runs that began in this `TIME` only: 30d, 12h, or since a day, 2026-11-01")
	c.Flags().StringVar(&skill, "skill", "", "count this skill only")
	c.Flags().BoolVar(&project, "project", false, "count the lists of this project: the default")
	c.Flags().BoolVar(&all, "all", false, "count every list of this machine")
	c.Flags().BoolVar(&reasons, "reasons", false, "print the reasons that persons gave")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	c.MarkFlagsMutuallyExclusive("project", "all")
	return c
}

// sinceOf returns the time from which on runs are counted.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return day, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, command.Fail(command.ExitUsage,
		fmt.Errorf("--since: got %q, want a time such as 30d or 12h, or a day such as 2026-11-01", text),
		"")
}

// read counts logs, or the lists of the project or of the machine. It returns what of the logs is damaged.
func (c *counter) read(ctx context.Context, s terminal.Streams, files []string, all bool) (damaged []damage, err error) {
	if len(files) > 0 {
		return c.readLogs(ctx, files)
	}
	dirs, err := tasklist.WithHistory(s.Getenv)
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if known := map[string]bool{}; !all {
		c.belongs = func(dir string) bool {
			is, seen := known[dir]
			if !seen {
				is = tasklist.Belongs(s.Getenv, dir, here)
				known[dir] = is
			}
			return is
		}
	}
	groups, forgotten := c.together(dirs)
	for _, lists := range groups {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.readLists(ctx, s, lists, forgotten)
	}
	return nil, nil
}
