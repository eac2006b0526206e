package install

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// Next prints which workflows the agents of the request find in the current directory, and what to
// type in order to begin with one: call, a skill's name with its arguments, or the first that is
// found if call is empty.
func Next(s terminal.Streams, r Request, call string) {
	names := []string{caller.Claude}
	if len(r.Agents) > 0 {
		names = chosen(s, r.Agents)
	}
	for _, name := range names {
		if name == caller.Claude {
			nextInClaude(s, call)
		} else {
			nextIn(s, agent.Other(name))
		}
	}
}

// Typed returns what a person types for this program: its name, or its path if PATH has no program of that
// name or another one. go run's program, which is gone when a person types, has only the name.
func Typed(s terminal.Streams) string {
	self, err := programs.Path()
	if err != nil || settings.IsTemporary(self) || settings.CheckName() == nil || launcherIsOnPath(s.Getenv) {
		return settings.Program
	}
	if filepath.Ext(self) == ".exe" && s.Env("MSYSTEM") == "" { // which the Bash of Git sets
		return shell.JoinInPowerShell(filepath.ToSlash(self))
	}
	return shell.Join(filepath.ToSlash(self))
}

// maxNamed limits the workflows that are named.
const maxNamed = 6

func nextInClaude(s terminal.Streams, call string) {
	l, err := hydrate.ClientLocator(s.Getenv)
	cwd, cwdErr := os.Getwd()
	if err != nil || cwdErr != nil {
		return
	}
	var usable []Workflow
	name, _, _ := strings.Cut(call, " ")
	named, useless := false, 0
	all, _ := l.Workflows(cwd)
	for _, w := range all { // a name may have spaces
		if strings.HasPrefix(call+" ", w.Command+" ") && len(w.Command) > len(name) {
			name = w.Command
		}
	}
	for _, w := range all {
		switch read := ReadWorkflow(l.FS, w); {
		case !read.Valid:
			message.Fprintf(s.Out, "the workflow of %s is not valid: fsmtx validate %s\n", w.Command, shell.Join(w.Path))
			useless++
			named = named || w.Command == name
		case read.Reason() == "" && read.Only != byNobody:
			usable = append(usable, read)
		default:
			message.Fprintf(s.Out, "the workflow of %s has no effect here: %s\n", w.Command, cmp.Or(read.Reason(), read.Only.Note()))
			useless++
			named = named || w.Command == name
		}
	}
	switch first := toCall(usable, name); {
	case first != nil:
		message.Fprintf(s.Out, "found %s here: %s\n", terminal.Count(len(usable), "workflow"), list(usable, *first))
		message.Fprintf(s.Out, "start claude here and %s; watch it in another terminal: %s status --watch\n",
			begin(*first, call), Typed(s))
	case call != "" && !named:
		message.Fprintf(s.Out, "the client does not find the skill %s here: put its folder into .claude/skills\n", name)
	case call == "" && useless == 0:
		message.Fprintf(s.Out, "no skill here has a workflow yet: type %s init, which writes one for a skill that you have\n",
			Typed(s))
	}
}

// toCall returns the workflow with this name, or if name is empty the first, preferably one that
// a person can type. It returns nil if there is none.
func toCall(usable []Workflow, name string) *Workflow {
	i := slices.IndexFunc(usable, func(w Workflow) bool {
		return w.Command == name || name == "" && w.Only != byAgent
	})
	switch {
	case i >= 0:
		return &usable[i]
	case name == "" && len(usable) > 0:
		return &usable[0]
	}
	return nil
}

// begin says how a person begins with a workflow: by its command with arguments, call, unless the
// client keeps the skill from the commands that can be typed.
func begin(w Workflow, call string) string {
	if w.Only == byAgent {
		return "ask it to use the skill " + w.Command + ", which you cannot type: its user-invocable is false"
	}
	return "type /" + cmp.Or(call, w.Command)
}

// list names the first workflows with the number of their steps; one of them is named in any case.
func list(all []Workflow, one Workflow) string {
	if i := slices.IndexFunc(all, func(w Workflow) bool { return w.Command == one.Command }); i >= maxNamed {
		all = slices.Insert(slices.Delete(slices.Clone(all), i, i+1), maxNamed-1, one)
	}
	var parts []string
	for _, w := range all[:min(len(all), maxNamed)] {
		parts = append(parts, w.Command+" ("+terminal.Count(w.Steps, "step")+")")
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, terminal.Count(more, "more workflow"))
	}
	return strings.Join(parts, ", ")
}

// nextIn is for an agent whose skills are in places of its own.
func nextIn(s terminal.Streams, a *agent.Agent) {
	cwd, err := os.Getwd()
	if err != nil {
		return
	}
	skills, _ := a.Search(s.Getenv).Workflows(cwd)
	useless := 0
	skills = slices.DeleteFunc(skills, func(w locator.Workflow) bool {
		if w.Off != "" {
			message.Fprintf(s.Out, "the workflow of %s has no effect for %s: %s: %s\n", w.Command, a.Title, filepath.Dir(w.Path), w.Off)
			useless++
		}
		return w.Off != ""
	})
	if len(skills) == 0 && useless > 0 {
		return
	}
	if len(skills) == 0 {
		noneIn(s, a, cwd)
		return
	}
	message.Fprintf(s.Out, "found %s for %s here: start it, and ask it to use the skill %s\n", terminal.Count(len(skills), "workflow"),
		a.Title, skills[0].Command)
}

// noneIn says how an agent that finds no workflow gets one: links make skills that only Claude Code finds skills of it, too.
func noneIn(s terminal.Streams, a *agent.Agent, cwd string) {
	places := a.Title + " looks for skills in " + strings.Join(a.Skills.Project, ", ") + ": none there has a workflow"
	only := claudesAlone(s, a, cwd)
	if len(only.folders) == 0 {
		message.Fprintf(s.Out, "%s yet; fsmtx new %s writes one\n", places, shell.Join(filepath.Join(a.Skills.Project[0], "NAME")))
		return
	}
	message.Fprintf(s.Out, "%s; %s %s in %s, where %s does not look. For both, type: %s\n", places, strings.Join(only.names, ", "),
		message.IsOrAre(len(only.names)), only.dir, a.Title, only.linking(cwd))
}

// linking returns the line that makes the links. On Windows it is one of PowerShell, and makes junctions, which need no rights.
func (only alone) linking(cwd string) string {
	if runtime.GOOS != "windows" {
		return fmt.Sprintf("mkdir -p %s && ln -s %s %s/", shell.Join(only.to), shell.Join(only.folders...), shell.Join(only.to))
	}
	to := only.to
	if !filepath.IsAbs(to) {
		to = filepath.Join(cwd, to)
	}
	lines := []string{shell.JoinInPowerShell("mkdir", "-Force", to)}
	for _, link := range only.folders {
		lines = append(lines, shell.JoinInPowerShell("New-Item", "-ItemType", "Junction", "-Path", filepath.Join(to, filepath.Base(link)),
			"-Target", filepath.Join(to, link)))
	}
	return strings.Join(lines, shell.Then())
}

// alone are workflows in a directory of skills that Claude Code reads and another agent does not.
type alone struct {
	dir     string
	names   []string
	to      string   // the agent's directory beside it
	folders []string // of the skills, as links in that directory name them
}

// claudesAlone returns those in the nearest such directory. Paths are relative to cwd if they are below it.
func claudesAlone(s terminal.Streams, a *agent.Agent, cwd string) (only alone) {
	l, err := hydrate.ClientLocator(s.Getenv)
	if err != nil {
		return only
	}
	all, _ := l.Workflows(cwd)
	for _, w := range all {
		own := map[locator.Rule][]string{locator.RuleProject: a.Skills.Project, locator.RuleParent: a.Skills.Project,
			locator.RuleUser: a.Skills.User}[w.Rule]
		folder := filepath.Dir(w.Path)
		dir := filepath.Dir(folder)
		root, isClaudes := strings.CutSuffix(filepath.ToSlash(dir), "/.claude/skills")
		if len(own) == 0 || !isClaudes || only.dir != "" && only.dir != shortened(cwd, dir) || !ReadWorkflow(l.FS, w).Valid {
			continue
		}
		to := filepath.Join(root, own[max(slices.Index(own, ".agents/skills"), 0)]) // which most agents read
		link, err := filepath.Rel(to, folder)
		if err != nil {
			continue
		}
		only = alone{shortened(cwd, dir), append(only.names, w.Command), shortened(cwd, to), append(only.folders, link)}
	}
	return only
}

// shortened returns a path relative to dir if it is below it.
func shortened(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
