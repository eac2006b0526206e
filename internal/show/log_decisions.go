package show

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// printDecisions prints what was decided about a list and in its sessions.
func printDecisions(ctx context.Context, s terminal.Streams, session string, asJSON bool) error {
	found, err := command.FindAnyList(ctx, s, session)
	if err == nil {
		err = tasklist.Interrupted(ctx, s.Getenv, found.Dir)
	}
	if err != nil {
		return err
	}
	project := s.Env("CLAUDE_PROJECT_DIR")
	if project == "" {
		project, _ = os.Getwd() // without it the project's configuration is not found
	}
	all, unread, err := Decided(Extent{List: found.Dir, Session: cmp.Or(found.Session, session),
		Project: project, Env: s.Env})
	if err != nil {
		return err
	}
	reportUnread(s, unread)
	switch {
	case len(all) == 0 && len(unread) == 0:
		return command.Fail(command.ExitNo, fmt.Errorf("%s: no decision about this task list is on record, nor one of a guard in its session",
			found.Dir),
			"fsmtx status --all lists the sessions with workflows")
	case asJSON:
		err = printLines(s, all)
	default:
		err = printTable(s, found.Dir, all)
	}
	if err == nil && len(all) == 0 {
		return &command.Exit{Code: command.ExitNo}
	}
	return err
}

func printLines(s terminal.Streams, all []decisions.Record) error {
	for _, r := range all {
		line, err := r.JSON()
		if err != nil {
			return err
		}
		if _, err := s.Out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func printTable(s terminal.Streams, list string, all []decisions.Record) error {
	message.Fprintf(s.Out, "task list %s\n", list)
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, r := range all {
		message.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Time.Local().Format("2006-01-02 15:04:05"), sourceOf(r), subjectOf(r), decidedOf(r),
			whoOf(r), whyOf(r))
	}
	return w.Flush()
}

// maxWhy limits a reason in the table, in characters; --json has the whole.
const maxWhy = 200

// subjectOf returns what a decision is about.
func subjectOf(r decisions.Record) string {
	switch {
	case r.Guard != "":
		return r.Guard
	case state.Decision(r.Decision) == state.End:
		return cmp.Or(r.Ended, r.Workflow)
	case r.Step != 0 && r.Subject != "":
		return fmt.Sprintf("#%d %q", r.Step, message.Clip(r.Subject, 40))
	case r.Step != 0:
		return fmt.Sprintf("#%d", r.Step)
	}
	return r.Workflow
}

// sourceOf and decidedOf return what people read in place of the names that the record has for programs.
func sourceOf(r decisions.Record) string {
	if r.Source == decisions.Hydrate || state.Decision(r.Decision) == state.End && r.Ended == "" {
		return "skill"
	}
	return string(r.Source)
}

func decidedOf(r decisions.Record) string {
	switch {
	case r.Decision == "hydrated" && (r.Who == "fsmtx" || len(r.Created) == 0): // its lines, or what was taken out
		return "changed"
	case r.Decision == "hydrated":
		return "begun"
	case r.Source == decisions.Hydrate:
		return r.Decision
	case len(r.Reopens) > 0 && state.Decision(r.Decision) == state.Allow:
		return "sent back"
	}
	return state.Evidence{Verdict: state.Decision(r.Decision), To: r.To, Rule: r.Rule}.Word()
}

// whoOf returns who decided, and by which way.
func whoOf(r decisions.Record) string {
	who := r.Who
	if r.Who == "agent" && r.Agent != "" {
		who += " " + r.Agent
	}
	if r.Who == "person" && r.How != "" {
		who += ", " + strings.TrimSpace(decisions.Way(r.How)+" "+r.TTY)
	}
	return who
}

// whyOf returns what was asked for, and why it was decided so.
func whyOf(r decisions.Record) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if d := state.Decision(r.Decision); r.Rule == "" && (d == state.Deny || d == state.Ask || d == state.Declined) {
		add(map[string]string{workflow.InProgress: "to start it", workflow.Completed: "to complete it"}[r.To])
	}
	if r.Outcome != "" {
		add("outcome " + r.Outcome)
	}
	if r.Young {
		add("in a terminal that was opened after the session began")
	}
	add(r.Why)
	if len(r.Lost) > 0 {
		add("replaced " + strings.Join(r.Lost, ", "))
	}
	if r.Times > 1 {
		add(fmt.Sprintf("time %d in a row", r.Times))
	}
	if r.Check != "" {
		add(fmt.Sprintf("%s exited with %d", r.Check, *r.Exit))
	}
	if r.Tree != "" {
		add("in " + r.Tree)
	}
	if r.Source == decisions.Hydrate {
		add(changed("created", r.Created))
		add(changed("deleted", r.Deleted))
		add(changed("restored", r.Restored))
	}
	add(r.Note)
	return message.Clip(message.Words(strings.Join(parts, "; ")), maxWhy)
}

func changed(verb string, tasks []int64) string {
	switch len(tasks) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s #%d", verb, tasks[0])
	}
	return fmt.Sprintf("%s %d tasks from #%d", verb, len(tasks), slices.Min(tasks))
}
