package install

import (
	"context"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// Notes returns what a person who works in dir with Claude Code should know: that checks are off, whether agent teams are on, and, unless
// something is wrong, whether a session works on steps by commands or by a list, and whether dir has no workflow.
func Notes(s terminal.Streams, dir string, wrong bool) (notes []string) {
	d := &doctor{Streams: s, cwd: dir}
	h, _, err := d.look()
	if err != nil || !h.isInstalled() {
		return nil
	}
	if off := hook.ChecksAreOff(hook.Registered(d.Getenv, dir)); off != "" {
		notes = append(notes, off)
	}
	if text := d.teams(); text != "" {
		notes = append(notes, text)
	}
	if wrong {
		return notes
	}
	l, err := hydrate.FinderOf(s.Getenv, s.Who().Program)
	if err != nil {
		return notes
	}
	if all, _ := l.Workflows(dir); len(all) == 0 {
		notes = append(notes, "no skill here has an fsm.json beside its SKILL.md, so nothing is enforced: fsmtx init writes one")
	}
	works := Works(s.Getenv, dir)
	for _, scope := range []Scope{Local, Project, User} {
		j := job{Request: Request{Scope: scope}}
		if _, had, err := j.readServer(s, ""); works == ByCommands() && err == nil && had {
			works = ByTools()
		}
	}
	return append(notes, "a session works "+works)
}

// answers reports a hook of PermissionRequest that may say yes for the person when the client asks about a step.
func (d *doctor) answers(context.Context) (found []Fault, err error) {
	h, _, err := d.look()
	if err != nil || !h.isInstalled() {
		return nil, err
	}
	var roots []string
	if registry, set, err := d.registry(); err == nil {
		for _, in := range registry.Enabled(set, d.cwd) {
			roots = append(roots, registry.Root(in).Dir)
		}
	}
	here := settings.Here(d.Getenv, d.cwd)
	for _, tool := range []string{"TaskUpdate", "Bash", client.QuestionTool, settings.Elicitation} {
		for _, by := range append(here.Answerers(tool), settings.AnswerersOfPlugins(locator.OS{}, roots, tool)...) {
			file, line := by.Place, 0
			if i := strings.LastIndexByte(by.Place, ':'); i > 0 {
				file = by.Place[:i]
				line, _ = strconv.Atoi(by.Place[i+1:])
			}
			what := "this hook of " + by.Event + " may say yes for you when the client " +
				"asks about a step: let it leave TaskUpdate and commands of fsmtx to you"
			switch {
			case by.Event == "PreToolUse" && by.Ours:
				continue
			case by.Event != "PermissionRequest":
				what = "this hook of " + by.Event + " may answer for you when you are asked about a step: " +
					"let it leave such questions to you"
			}
			return []Fault{{Kind: "steps", File: file, Line: line, What: what}}, nil
		}
	}
	return nil, nil
}
