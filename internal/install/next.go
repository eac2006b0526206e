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
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/internal/workflows"
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
			nextIn(s, agent.Named(name))
		}
	}
}

// maxNamed limits the workflows that are named.
const maxNamed = 6

func nextInClaude(s terminal.Streams, call string) {
	l, err := hydrate.ClientLocator(s.Getenv)
	cwd, cwdErr := os.Getwd()
	if err != nil || cwdErr != nil {
		return
	}
	var usable, invalid []workflows.Workflow
	all, _ := l.Workflows(cwd)
	for _, w := range all {
		switch read := workflows.Read(l.FS, w); {
		case !read.Valid:
			invalid = append(invalid, read)
		case !read.Unused:
			usable = append(usable, read)
		}
	}
	for _, w := range invalid {
		visible.Fprintf(s.Out, "the workflow of %s is not valid: fsmtx validate %s\n", w.Command, shell.Join(w.Path))
	}
	name, _, _ := strings.Cut(call, " ")
	switch {
	case call != "" && !slices.ContainsFunc(usable, func(w workflows.Workflow) bool { return w.Command == name }):
		visible.Fprintf(s.Out, "the client does not find the skill %s here: put its folder into .claude/skills\n", name)
	case len(usable) == 0:
		visible.Fprintf(s.Out, "no skill here has a workflow yet: type fsmtx init, which writes one for a skill that you have\n")
	default:
		visible.Fprintf(s.Out, "found %s here: %s\n", terminal.Count(len(usable), "workflow"), named(usable))
		visible.Fprintf(s.Out, "start claude here and type /%s; watch it in another terminal: fsmtx status --watch\n",
			cmp.Or(call, usable[0].Command))
	}
}

// named lists the first workflows with the number of their steps.
func named(all []workflows.Workflow) string {
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
	if len(skills) == 0 {
		visible.Fprintf(s.Out, "%s looks for skills in %s: none there has a workflow yet; fsmtx new %s writes one\n",
			a.Title, strings.Join(a.Skills.Project, ", "), shell.Join(filepath.Join(a.Skills.Project[0], "NAME")))
		return
	}
	visible.Fprintf(s.Out, "found %s for %s here: start it, and ask it to use the skill %s\n", terminal.Count(len(skills), "workflow"),
		a.Title, skills[0].Command)
}
