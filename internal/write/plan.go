package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const planLong = `Plan prints what a call of a skill would do to a task list now: the tasks that it would
delete, the tasks that it would create with their numbers, order and gates, including the
commands that the gates run, and how many tasks it would keep. It takes no lock and
changes nothing. A call right after it does exactly that, unless the list changes first: what is
replaced follows the flags of the hook that is registered here.

The skill is SKILL, or that of PATH: an fsm.json or the directory of a skill; "-" is standard
input. A word that can be both is the name of a skill.

The list is that of --list, or else the one that "fsmtx status" finds. If there is none of these, or several, plan assumes an empty
list. --explain also prints how the fsm.json was found and why each task is deleted, created or kept.

--json prints an object with list (a path; "" for an empty list that is assumed), spec (path
of the fsm.json), deleted (array of name, subject, status), created (array of name, id,
subject, after, produces, ready, check, approval, outcomes, decides, when, only, set, within,
each, partOf, and content, the bytes of the file), kept (a number), high_water (the mark
after it), warnings (array of line, column, message) and decisions (array of strings).

The exit code is 1 if the skill has no workflow, or a call would fail.`

type planFlags struct {
	hydrate.Flags // of the hook that is registered here
	session       string
	json, explain bool
}

func NewPlan(s terminal.Streams) *cobra.Command {
	f := planFlags{Flags: hydrate.DefaultFlags()}
	c := &cobra.Command{
		Use:   "plan SKILL | plan PATH",
		Short: "Show what a call of a skill would do to the task list",
		Long:  planLong,
		Example: command.Example("fsmtx plan my-skill", "fsmtx plan my-plugin:my-skill --explain",
			"fsmtx plan .claude/skills/release", "fsmtx plan - --json < fsm.json"),
		ValidArgsFunction: command.CompleteSkills(s),
		Args:              command.Takes(1, "one skill or path", "for example: fsmtx plan my-skill"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, args[0])
		},
	}
	command.NameList(s, c, &f.session)
	f.AddOnly(c.Flags(), []string{"plugin-dir", "add-dir"})
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	c.Flags().BoolVar(&f.explain, "explain", false, "also print every decision")
	return c
}

func (f planFlags) run(ctx context.Context, s terminal.Streams, skill string) error {
	request, err := f.request(ctx, s, skill)
	ctx, stop := signals.Interruptible(ctx) // now: while it reads standard input, a signal ends it at once
	defer stop()
	several, newSession := errors.AsType[*tasklist.SeveralError](err)
	newSession = newSession || errors.Is(err, tasklist.ErrNoList)
	if err != nil && !newSession {
		return err
	}
	f.asRegistered(s, request.Cwd)
	o := hydrate.Options{Policy: f.Policy(), PluginDirs: f.PluginDirs, AddDirs: f.AddDirs, Flat: f.Nest == "off"}
	h, result, err := f.find(s, &request, o)
	if f.explain && !f.json && request.File == nil {
		if err := f.explainSearch(s, request); err != nil {
			return err
		}
	}
	if e, ok := errors.AsType[*command.Exit](err); ok {
		return e
	}
	if err != nil {
		return command.Fail(command.ExitNo, message.Lines(err.Error()), "a call would fail with this error and change nothing")
	}
	if h == nil {
		return noWorkflow(s, request.Command, request.Cwd)
	}
	p, err := h.Preview(ctx)
	if err != nil {
		text, hint := hydrate.Explain(err, result, s.Getenv)
		return command.Fail(command.ExitNo, message.Lines(text), hint)
	}
	all, err := tasks.Tasks(ctx, p.List, nil)
	if err != nil {
		return err
	}
	kept := len(all) - len(p.Plan.Deletions())
	if newSession {
		p.List = ""
	}
	if f.json {
		return command.PrintJSON(s.Out, shownPlanOf(p, kept, p.Decisions(o.Policy)))
	}
	var decisions []string
	if f.explain {
		decisions = p.Decisions(o.Policy)
	}
	none := "no session of this project has a list with a workflow yet"
	if several != nil {
		none = several.Error() + ", and --list names one"
	}
	_, err = io.WriteString(s.Out, planText(p, none, kept, decisions))
	return err
}

// asRegistered takes the flags of the hook that is registered for the directory.
func (f *planFlags) asRegistered(s terminal.Streams, dir string) {
	for _, h := range settings.Here(s.Getenv, dir).Calls() {
		if of, err := hydrate.ParseFlags(h.Args[1:]); err == nil && h.Hydrates() {
			of.PluginDirs, of.AddDirs = append(f.PluginDirs, of.PluginDirs...), append(f.AddDirs, of.AddDirs...)
			f.Flags = of
			return
		}
	}
}

// find returns what a call of the skill would do, nil if the skill has no workflow. A word that is not the name of a skill with one
// may be a path; the request is then about the workflow there.
func (f planFlags) find(s terminal.Streams, r *hydrate.Request, o hydrate.Options) (*hydrate.Hydration, hydrate.Result, error) {
	h, result, err := hydrate.Find(*r, s.Getenv, o)
	if h != nil || result.Spec != "" {
		return h, result, err
	}
	if not := notInstalled(s, r.Cwd, "plan", r.Command, err); not != nil && len(f.PluginDirs) == 0 {
		return nil, result, not
	}
	if path, noPath := specAt(r.Command); noPath == nil {
		if err := inFile(s, r, path); err != nil {
			return nil, result, err
		}
		return hydrate.Find(*r, s.Getenv, o)
	}
	return nil, result, err
}

// inFile makes the request one about the workflow in a file, whose skill has the name that graph prints.
func inFile(s terminal.Streams, r *hydrate.Request, path string) error {
	data, err := readSpec(s, path)
	if err != nil {
		return err
	}
	r.Command, r.Folder = cmp.Or(titleOf(path), "stdin"), ""
	if abs, err := filepath.Abs(path); err == nil && path != "-" {
		path = abs
	}
	r.File = &hydrate.File{Path: path, Data: data}
	return nil
}

// request returns the request that the hook would derive from a call of the skill. With tasklist.ErrNoList it is that
// of a new session, whose list is empty.
func (f planFlags) request(ctx context.Context, s terminal.Streams, skill string) (r hydrate.Request, err error) {
	r = hydrate.Request{Event: client.PostToolUse, Command: skill, Args: "{" + fsmspec.Args + "}"} // those of the call are not known
	if r.Cwd, err = os.Getwd(); err != nil {
		return r, err
	}
	switch {
	case isSpecPath(skill):
		path, err := specAt(skill)
		if err == nil {
			err = inFile(s, &r, path)
		}
		if err != nil {
			return r, err
		}
	case s.Who().Program == "":
		if r.Folder, err = hydrate.FolderElsewhere(s.Getenv, skill, r.Cwd); err != nil {
			return r, err
		}
	case agent.Other(s.Who().Program) != nil:
		if r.Folder, err = folderOf(s, skill, r.Cwd); err != nil {
			path, noPath := specAt(skill)
			if noPath == nil {
				err = inFile(s, &r, path)
			}
			if err != nil {
				return r, err
			}
		}
	}
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Named: f.session, Dir: r.Cwd, Who: s.Who,
		Begins: f.session != ""})
	if _, several := errors.AsType[*tasklist.SeveralError](err); several || errors.Is(err, tasklist.ErrNoList) {
		r.Session = "a-new-session"
		return r, err
	}
	r.Session, r.List = found.Session, found.Dir
	return r, err
}

// folderOf returns the folder of a skill with a workflow, where the agent looks for it.
func folderOf(s terminal.Streams, skill, cwd string) (string, error) {
	l, err := command.Finder(s)
	if err != nil {
		return "", err
	}
	found, err := l.Locate(skill, cwd)
	if err == nil && !found.Found() {
		err = noWorkflow(s, skill, cwd)
	}
	return filepath.Dir(found.Path), err
}

func noWorkflow(s terminal.Streams, skill, cwd string) error {
	hint := "fsmtx locate " + shell.Join(skill) + " shows where an fsm.json is searched for"
	if l, err := command.Finder(s); err == nil {
		found, _ := l.Locate(skill, cwd)
		hint = cmp.Or(writesWorkflow(cwd, found), hint)
	}
	return command.Fail(command.ExitNo, fmt.Errorf("the skill %q has no workflow: a call of it changes no task", skill), hint)
}

// explainSearch prints how the fsm.json was found.
func (f planFlags) explainSearch(s terminal.Streams, r hydrate.Request) error {
	l, cwd, err := locateFlags{pluginDirs: f.PluginDirs, addDirs: f.AddDirs}.finder(s)
	if err != nil {
		return err
	}
	result, _ := l.Locate(r.Command, cwd) // Find has reported its error
	return printLocated(s, false, result)
}

// planText says what a call would do. none says why it is to an empty list, if it is.
func planText(p hydrate.Preview, none string, kept int, decisions []string) string {
	var b strings.Builder
	list := p.List
	if list == "" {
		list = "of a new session, which is empty: " + none
	}
	message.Fprintf(&b, "task list %s\nworkflow %s\n", list, p.Spec)
	for _, line := range decisions {
		message.Fprintf(&b, "  %s\n", line)
	}
	for _, d := range p.Plan.Deletions() {
		message.Fprintf(&b, "delete #%s %s (%s)\n", d.ID, d.Subject, d.Status)
	}
	for i, c := range p.Plan.Creations() {
		message.Fprintf(&b, "create #%d %s\n", c.ID, c.Subject)
		if p.PartOf[i] != 0 {
			message.Fprintf(&b, "         part of #%d\n", p.PartOf[i])
		}
		for _, gate := range append(p.Steps[i].Demands(), p.Steps[i].Ends(p.PartOf[i])...) {
			message.Fprintf(&b, "         %s\n", gate)
		}
		perLine(&b, "         ", p.Steps[i].Each)
	}
	if p.Plan.Empty() {
		b.WriteString("nothing to delete, nothing to create\n")
	}
	message.Fprintf(&b, "keep   %s\n", terminal.Count(kept, "other task"))
	for _, w := range p.Warnings {
		message.Fprintf(&b, "warning: %s:%d:%d: %s\n", p.Spec, w.Line, w.Column, w.Message)
	}
	return b.String()
}

// perLine prints what is done for each line of a step: what it runs and demands. Its tasks, and so their numbers and their
// order, come when the step is started.
func perLine(b *strings.Builder, indent string, e *fsmspec.Each) {
	if e == nil {
		return
	}
	for _, step := range e.ForEachLine() {
		step.BlockedBy, step.When = nil, nil
		step.Outcomes = slices.DeleteFunc(step.Outcomes, func(o fsmspec.Outcome) bool { return len(o.Gates()) == 0 })
		message.Fprintf(b, "%seach %s\n", indent, step.Subject)
		for _, gate := range append(step.Demands(), step.Ends(0)...) {
			message.Fprintf(b, "%s     %s\n", indent, gate)
		}
		perLine(b, indent+"     ", step.Each)
	}
}

type shownPlan struct {
	List      string         `json:"list"`
	Spec      string         `json:"spec"`
	Deleted   []shownDeleted `json:"deleted"`
	Created   []shownCreated `json:"created"`
	Kept      int            `json:"kept"`
	HighWater int64          `json:"high_water"`
	Warnings  []shownWarning `json:"warnings"`
	Decisions []string       `json:"decisions"`
}

type shownDeleted struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Status  string `json:"status"`
}

type shownCreated struct {
	Name     string         `json:"name"`
	ID       int64          `json:"id"`
	Subject  string         `json:"subject"`
	After    []int64        `json:"after"`
	Produces []string       `json:"produces"`
	Ready    []string       `json:"ready"`
	Check    *fsmspec.Check `json:"check"`
	Approval string         `json:"approval"`
	Content  string         `json:"content"`

	Gates []fsmspec.ShownGate `json:"gates"` // of every kind

	Outcomes []fsmspec.Outcome   `json:"outcomes"`
	Decides  fsmspec.Choice      `json:"decides"`
	Each     *fsmspec.Each       `json:"each,omitzero"`
	PartOf   int64               `json:"partOf,omitzero"` // number of the step that it is a part of
	When     []fsmspec.Condition `json:"when"`
	Only     []string            `json:"only"`
	Set      []fsmspec.Value     `json:"set"`
	Within   float64             `json:"within"`
}

type shownWarning struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

func shownPlanOf(p hydrate.Preview, kept int, decisions []string) shownPlan {
	out := shownPlan{List: p.List, Spec: p.Spec, Deleted: []shownDeleted{}, Created: []shownCreated{}, Kept: kept,
		HighWater: p.Snapshot.HighWater, Warnings: []shownWarning{}, Decisions: decisions}
	if mark, raise := p.Plan.HighWater(); raise {
		out.HighWater = mark
	}
	for _, d := range p.Plan.Deletions() {
		out.Deleted = append(out.Deleted, shownDeleted{tasks.Form.Name(d.ID), d.Subject, d.Status})
	}
	for i, c := range p.Plan.Creations() {
		step, file := p.Steps[i], tasks.Form.File(c)
		out.Created = append(out.Created, shownCreated{file.Name, c.ID, c.Subject, step.BlockedBy, step.Produces, step.Ready, step.Check,
			step.Approval, string(file.Data), fsmspec.ShownGates(step.Gates()), step.Outcomes, step.Choice(), step.Each,
			p.PartOf[i], step.When,
			append([]string{}, step.Only...), append([]fsmspec.Value{}, step.Set...), step.Within.Seconds()})
	}
	for _, w := range p.Warnings {
		out.Warnings = append(out.Warnings, shownWarning{w.Line, w.Column, w.Message})
	}
	return out
}
