package hydrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/locator"
)

// Beginning asks for the workflow of a skill that was not called: a command or a tool names it.
type Beginning struct {
	Skill   string // the name of a skill, or a directory with an fsm.json; must not be empty
	Program string // the agent that looks for the skill, as package caller has it; empty: every one
	Args    string // the arguments of its call
	Here    string // absolute; the skill, or a relative directory, is found from it
	Plan    *Plan  // the workflow, in place of a skill; usually nil
	List    tasklist.Found
	Client  string   // the client's name and version, by its own word; may be empty
	By      state.By // who asks for it, or has agreed
	// Project is the directory outside of which the agent begins nothing by itself; empty if a person or a script begins it.
	Project string
	// Dir is the directory of the session's project, as recorded. It is empty unless the agent chose Here and the environment.
	Dir    string
	Unseen bool // no hook has seen the agent's command, although its client has hooks
	Chosen bool // the agent chose Here and the environment, and no directory is recorded
	Way    progress.Way

	// Absolute refuses a relative directory: the agent does not know where the server was started.
	Absolute bool
}

// Plan is a plan that is a workflow.
type Plan struct {
	File                      // its path, and its steps as an fsm.json
	Form  string              // see workflow.Workflow
	Lines []workflow.PlanLine // see workflow.Workflow
	// Unticked is the digest of its text with every box empty, in hexadecimal digits.
	Unticked string
	Left     string // what of it is not a step, for a person; empty if nothing
}

// PlanName returns the name of the workflow of a plan: that of its file, or of its folder if the file is a tasks.md.
func PlanName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)); name != "tasks" {
		return name
	}
	return filepath.Base(filepath.Dir(path))
}

// Begun says what a workflow has put into the list.
type Begun struct {
	Created []int64  `json:"created" jsonschema:"numbers of the tasks that were created"`
	Deleted []string `json:"deleted" jsonschema:"numbers of the tasks that were replaced"`
	Text    string   `json:"text" jsonschema:"the steps, and those that are ready in full"`
}

// NotBegun is returned if a workflow was not put into the list.
type NotBegun struct {
	Message string
	Hint    string // what to do; may be empty
	Refused bool   // asking again is of no use before something changes; else it could not be decided
}

func (e *NotBegun) Error() string { return e.Message }

// ErrElsewhere is returned if an agent begins a workflow by itself in a directory, or from a folder or a plan, that is not in the session's
// project.
var ErrElsewhere = errors.New("an agent cannot begin a workflow outside of the directory of its session by itself")

// Begin does what a call of the skill does.
//
// Errors: NotBegun; ErrElsewhere and ErrReplaces, with Result.Lost.
func Begin(ctx context.Context, b Beginning, env Env, o Options) (Begun, Result, error) {
	away := b.Dir != "" && !gates.IsIn(b.Dir, b.Here)
	if away {
		b.Dir = tasklist.Project(env, b.Here)
	}
	if b.Dir != "" {
		env = env.with("CLAUDE_PROJECT_DIR", b.Dir)
	}
	r, err := b.request(env)
	if err != nil {
		return Begun{}, Result{}, err
	}
	outside := b.outside(r, env)
	if (away || outside != "") && !o.isOfClient() {
		frame := gates.Frame{Store: state.Store{List: tasks.List{Dir: b.List.Dir}, Session: b.List.Session}}
		lost := frame.WouldReplace(ctx, state.Calling{Command: r.Command, Spec: r.spec(env), Session: b.List.Session})
		return Begun{}, Result{Lost: lost, Outside: outside}, fmt.Errorf("%w, %s", ErrElsewhere, b.Project)
	}
	start := time.Now()
	result, err := Run(ctx, r, env, o)
	if o.Log != nil {
		o.Log(Call{Request: r, Result: result, Err: err}.Decision(start, time.Now()))
	}
	switch {
	case errors.Is(err, ErrReplaces):
		return Begun{}, result, err
	case err != nil:
		return Begun{}, result, notBegun(err, result, env)
	case result.Spec == "":
		return Begun{}, result, r.noSpec(env, b.Program)
	}
	result.Lacking = Lacking(r.Way, result, env)
	return begun(r, result), result, nil
}

// SpecOf returns the path of the file whose workflow Claude Code's agent would put into the list in the directory here, of a project: that
// of a skill, or of a plan if that is not empty; and the folder in which it is, if that is outside of the project. Each is empty if there
// is none.
func SpecOf(skill, plan, here, project string, env Env) (spec, outside string) {
	if at := project; at != "" {
		if !gates.IsIn(project, here) { // then it is begun there
			at = tasklist.Project(env, here)
		}
		env = env.with("CLAUDE_PROJECT_DIR", at)
	}
	b := Beginning{Skill: skill, Program: caller.Claude, Here: here, Project: project}
	if plan != "" {
		b.Plan = &Plan{File: File{Path: safefile.Absolute(plan, here)}}
	}
	r, err := b.request(env)
	if err != nil {
		return "", ""
	}
	return r.spec(env), b.outside(r, env)
}

// spec returns the path of the file that has the workflow; empty if there is none.
func (r Request) spec(env Env) string {
	if r.File != nil {
		return r.File.Path
	}
	var found Result
	_, _ = findSpec(r, env, Options{}, &found)
	return found.Spec
}

// outside returns the folder that is begun, or the plan's, if it is not in the project; empty if it is, or if the agent finds it as a
// skill.
func (b Beginning) outside(r Request, env Env) (folder string) {
	if folder = r.Folder; b.Plan != nil {
		folder = filepath.Dir(b.Plan.Path)
	}
	if b.Project == "" || b.Plan == nil && !IsPath(b.Skill) || gates.IsIn(b.Project, folder) {
		return ""
	}
	if f, err := FinderOf(env, b.Program); err == nil && b.Plan == nil {
		if found, err := f.Locate(r.Command, b.Here); err == nil && found.Found() && safefile.Same(filepath.Dir(found.Path), folder) {
			return ""
		}
	}
	return folder
}

// request returns the request that a call of the skill would make.
func (b Beginning) request(env Env) (r Request, err error) {
	project, rooted := env.get("CLAUDE_PROJECT_DIR"), false
	if project == "" || b.List.Project != "" {
		project, rooted = tasklist.Project(env, b.Here), true
	}
	r = Request{
		Begun: true, Event: client.PostToolUse, Session: b.List.Session, List: b.List.Dir, Command: b.Skill, Args: arguments(b.Args),
		Cwd: b.Here, Project: project, Root: rooted, Chosen: b.Chosen, Unseen: b.Unseen, Typed: b.By.How == state.AtTerminal, Way: b.Way,
	}
	if b.By.Who == state.ThePerson {
		r.By = b.By.Words()
	}
	r.BegunBy, r.Client = string(cmp.Or(b.By.Who, state.TheAgent))+" "+string(cmp.Or(b.By.How, b.Way.How())), b.Client
	if b.Plan != nil {
		r.Command, r.File, r.Plan = PlanName(b.Plan.Path), &b.Plan.File, b.Plan.Lines
		r.PlanForm = b.Plan.Form
		r.Unticked = b.Plan.Unticked
		return r, nil
	}
	if folder := agent.Folder(b.Program, b.Skill, b.Here, env); folder != "" {
		return r.in(folder, b.Skill)
	}
	if b.Program == "" && !IsPath(b.Skill) {
		if folder, err := FolderElsewhere(env, b.Skill, b.Here); err != nil || folder != "" {
			if err != nil {
				return r, &NotBegun{err.Error(), message.Hint(err), true}
			}
			return r.in(folder, b.Skill)
		}
	}
	dir := b.Skill
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.Here, dir)
	}
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	isDir, isPath := err == nil && info.IsDir(), IsPath(b.Skill)
	switch {
	case !isPath && IsSkill(env, b.Skill, b.Here):
		return r, switchedOff(env, b.Skill, b.Here)
	case b.Absolute && !filepath.IsAbs(b.Skill) && (isPath || isDir):
		return r, &NotBegun{message.Sprintf("%s is a relative path", b.Skill),
			"give the name of the skill, or the absolute path of its folder", true}
	case isPath && !isDir:
		return r, &NotBegun{message.Sprintf("%s is not a directory", b.Skill), "name a skill, or a directory with an fsm.json", true}
	case !isDir && agent.Other(b.Program) != nil:
		return r, r.noSpec(env, b.Program) // what is wrong with Claude Code's plugins is of no interest there
	case !isDir:
		return r, switchedOff(env, b.Skill, b.Here)
	}
	return r.in(dir, b.Skill)
}

// switchedOff returns an error if the settings switch the skill off.
func switchedOff(env Env, name, here string) error {
	l, err := ClientLocator(env)
	if err != nil {
		return nil // the search reports it
	}
	if found, _ := l.Locate(name, here); found.Off() != "" {
		return isOff(name, found.Off())
	}
	return nil
}

func isOff(name, off string) error {
	return &NotBegun{message.Sprintf("the skill %s is %s", name, off), "remove that entry to use the skill", true}
}

// CommandOf returns the name of the skill that a name or the path of a folder stands for.
func CommandOf(asked string) string {
	if IsPath(asked) {
		return filepath.Base(asked)
	}
	return asked
}

// in returns the request for the workflow of a folder. asked is what was asked for: the skill's
// name, or a path.
func (r Request) in(dir, asked string) (Request, error) {
	r.Folder, r.Command = dir, CommandOf(asked)
	if IsPath(asked) {
		r.Command = filepath.Base(dir) // of . it is another
	}
	if _, err := os.Lstat(filepath.Join(dir, specName)); err == nil {
		return r, nil
	}
	return r, &NotBegun{message.Sprintf("%s has no fsm.json", asked), "name a skill, or a directory with an fsm.json", true}
}

// IsPath reports whether a text can only be the path of a directory, and not a skill's name. The name of a nested skill,
// such as apps/web:deploy, begins with a path.
func IsPath(text string) bool {
	isScoped := strings.Contains(text, ":") && locator.CheckName(text) == nil
	return strings.ContainsRune(text, filepath.Separator) && !isScoped || text == "." || text == ".."
}

// Finder finds the skills of one agent. See [locator.Locator], which is Claude Code's, for what its methods return.
type Finder interface {
	Locate(command, cwd string) (locator.Result, error)
	Workflows(cwd string) (all []locator.Workflow, complete bool)
	Skills(cwd string) (all []locator.Skill, complete bool)
	Near(command, cwd string) []string
}

// FinderOf returns what finds skills where an agent looks for them. program is the agent's name, as
// package caller has it; an empty one, and one that is not known, is Claude Code's. For another
// agent Locate also finds a skill that only Claude Code has, as Begin does: its commands are all
// that a workflow needs. Errors are those of client.ConfigDir.
func FinderOf(env Env, program string) (Finder, error) {
	l, err := ClientLocator(env)
	if a := agent.Other(program); a != nil {
		return elsewhere{a.Search(env), l}, nil
	}
	return l, err
}

// elsewhere finds the skills of an agent other than Claude Code.
type elsewhere struct {
	agent.Search
	client *locator.Locator // nil if its configuration directory is not known
}

func (e elsewhere) Locate(command, cwd string) (locator.Result, error) {
	r, err := e.Search.Locate(command, cwd)
	if err != nil || r.Found() || e.client == nil {
		return r, err
	}
	if last, err := e.client.Locate(command, cwd); err == nil && last.Found() {
		last.Steps = append(r.Steps, last.Steps...)
		return last, nil
	}
	return r, nil
}

// ClientLocator returns a locator that searches for skills where the client does. Its errors
// are those of client.ConfigDir.
func ClientLocator(env Env) (*locator.Locator, error) {
	config, err := client.ConfigDir(env)
	if err != nil {
		return nil, err
	}
	return &locator.Locator{FS: locator.OS{}, ConfigDir: config, ManagedDir: client.ManagedDir(),
		ProjectDir: env.get("CLAUDE_PROJECT_DIR"), Home: env.get("HOME")}, nil
}

// IsSkill reports whether a skill with a workflow has the name in the directory here.
func IsSkill(env Env, name, here string) bool {
	l, err := ClientLocator(env)
	if err != nil {
		return false
	}
	found, err := l.Locate(name, here)
	return err == nil && found.Found()
}

// notBegun returns the error of a workflow that could not be put into the list: refused if
// its file is not valid or the list is in use.
func notBegun(err error, result Result, env Env) error {
	message, hint := Explain(err, result, env)
	message, hint = strings.ReplaceAll(message, again, "begin it again"), strings.ReplaceAll(hint, again, "begin it again")
	_, active := errors.AsType[*fsmspec.ActiveError](err)
	_, invalid := errors.AsType[*fsmspec.InvalidError](err)
	return &NotBegun{message, hint, active || invalid || errors.Is(err, state.ErrOpenAbove)}
}

// noSpec returns the error of a skill without a workflow.
func (r Request) noSpec(env Env, program string) error {
	hint := "fsmtx locate lists the workflows that are visible from here"
	if f, err := FinderEverywhere(env, program); err == nil {
		if found, err := f.Locate(r.Command, r.Cwd); err == nil && found.Runs() != "" {
			for _, m := range MisnamedIn(filepath.Dir(found.Runs())) {
				return &NotBegun{m.Path + " " + m.Why(), cmp.Or(m.Command(), "write it as JSON into "+specName), true}
			}
		}
		near, all := f.Near(r.Command, r.Cwd), usable(f, r.Cwd)
		switch {
		case len(near) > 0:
			hint = "did you mean " + strings.Join(near[:min(len(near), maxHinted)], ", ") + "?"
		case len(all) > maxHinted:
			hint = fmt.Sprintf("%s and %d more have one: %s", strings.Join(all[:maxHinted], ", "), len(all)-maxHinted, hint)
		case len(all) > 0:
			hint = "these skills have one: " + strings.Join(all, ", ")
		}
	}
	return &NotBegun{fmt.Sprintf("there is no skill with a workflow and no directory called %q", r.Command), hint, true}
}

// maxHinted limits the names of skills in a hint.
const maxHinted = 5

// usable returns the names of the skills with a workflow that can be begun, in order.
func usable(f Finder, cwd string) (names []string) {
	all, _ := f.Workflows(cwd)
	for _, w := range all {
		if !w.Unused && w.Off == "" {
			names = append(names, w.Command)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxShownArgs limits the arguments in an answer, in characters.
const maxShownArgs = 100

func begun(r Request, result Result) Begun {
	b := Begun{Created: []int64{}, Deleted: []string{}, Text: Announcement(r, result)}
	if b.Text == "" {
		b.Text = "The workflow of " + message.Words(r.Command) + " has no steps, so the task list was not changed.\n"
	}
	if text := changed(r, result); len(text) > 0 {
		lead := "Tell the person"
		if r.Typed {
			lead = "Note"
		}
		b.Text += "\n" + lead + ": " + strings.Join(text, "; ") + ".\n"
	}
	if result.Args != "" {
		b.Text += "\nThe arguments " + message.Clip(message.Words(result.Args), maxShownArgs) +
			" were not used: the workflow of " + message.Words(r.Command) + " does not name {args}.\n"
	}
	for _, c := range result.Created {
		b.Created = append(b.Created, c.ID)
	}
	for _, d := range result.Deleted {
		b.Deleted = append(b.Deleted, d.ID)
	}
	return b
}
