package install

import (
	"cmp"
	"os"
	"path/filepath"
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
		message.Fprintf(s.Out, "%s looks for skills in %s: none there has a workflow yet; fsmtx new %s writes one\n",
			a.Title, strings.Join(a.Skills.Project, ", "), shell.Join(filepath.Join(a.Skills.Project[0], "NAME")))
		return
	}
	message.Fprintf(s.Out, "found %s for %s here: start it, and ask it to use the skill %s\n", terminal.Count(len(skills), "workflow"),
		a.Title, skills[0].Command)
}
