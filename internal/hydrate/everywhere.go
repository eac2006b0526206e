package hydrate

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/locator"
)

// Everywhere finds the skills of every agent that is here: a terminal belongs to none. Claude Code's come first.
type Everywhere struct {
	*locator.Locator
	env Env
}

type otherSearch struct {
	title string
	agent.Search
}

// FinderEverywhere returns what finds the skills of the agent with the name, as [FinderOf] does, or of every agent that is here
// if the name is empty.
func FinderEverywhere(env Env, program string) (Finder, error) {
	l, err := FinderOf(env, program)
	claude, ok := l.(*locator.Locator)
	if err != nil || !ok || program != "" {
		return l, err
	}
	return Everywhere{claude, env}, nil
}

// others returns what searches as the other agents do.
func (e Everywhere) others(cwd string) (all []otherSearch) {
	for _, a := range agent.Others() {
		if a.IsHere(e.env, cwd) {
			all = append(all, otherSearch{a.Title, a.Search(e.env)})
		}
	}
	return all
}

// ClaudeOf returns the part of a finder that searches as Claude Code does; nil if another agent's comes first.
func ClaudeOf(f Finder) *locator.Locator {
	switch f := f.(type) {
	case *locator.Locator:
		return f
	case Everywhere:
		return f.Locator
	}
	return nil
}

// ambiguousError is returned for a name under which agents find workflows that differ.
type ambiguousError struct {
	Name  string
	Paths []string
}

func (e *ambiguousError) Error() string {
	return message.Sprintf("%s is the name of workflows that differ: %s", e.Name, strings.Join(e.Paths, ", "))
}

// Hint says what to do.
func (e *ambiguousError) Hint() string {
	return "give the folder of the one that you mean instead of the name"
}

// Locate finds the skill that Claude Code calls command or, if it has no workflow, that another agent does. The error is also
// that of an ambiguous name.
func (e Everywhere) Locate(command, cwd string) (locator.Result, error) {
	first, err := e.Locator.Locate(command, cwd)
	if first.Off() != "" {
		return first, err
	}
	var paths []string
	add := func(r locator.Result) {
		same := func(path string) bool { return sameFile(path, r.Path) }
		if r.Found() && !slices.ContainsFunc(paths, same) {
			paths = append(paths, r.Path)
		}
	}
	add(first)
	for _, o := range e.others(cwd) {
		r, otherErr := o.Search.Locate(command, cwd)
		if add(r); r.Found() && !first.Found() {
			r.Steps, first, err = append(first.Steps, r.Steps...), r, otherErr
			first.Steps = r.Steps
		}
	}
	if len(paths) > 1 {
		return first, &ambiguousError{command, paths}
	}
	return first, err
}

// sameFile reports whether two paths lead to one file, or to files with the same content.
func sameFile(a, b string) bool {
	if safefile.Resolve(a) == safefile.Resolve(b) {
		return true
	}
	one, err := locator.ReadSpec(locator.OS{}, a, fsmspec.MaxBytes)
	other, otherErr := locator.ReadSpec(locator.OS{}, b, fsmspec.MaxBytes)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

// Workflows returns those of Claude Code and then those that only other agents find.
func (e Everywhere) Workflows(cwd string) (all []locator.Workflow, complete bool) {
	all, complete = e.Locator.Workflows(cwd)
	for _, w := range e.elsewhere(cwd, all) {
		all = append(all, w.Workflow)
	}
	return all, complete
}

// Others returns for each workflow that Claude Code does not find the titles of the agents that do, by the path of its file.
func (e Everywhere) Others(cwd string) map[string][]string {
	titles := map[string][]string{}
	ofClaude, _ := e.Locator.Workflows(cwd)
	for _, w := range e.elsewhere(cwd, ofClaude) {
		titles[w.Path] = w.titles
	}
	return titles
}

// foundBy is a workflow and the agents that find it.
type foundBy struct {
	locator.Workflow
	titles []string
}

// elsewhere returns the workflows that other agents find, without those that Claude Code does.
func (e Everywhere) elsewhere(cwd string, ofClaude []locator.Workflow) (all []foundBy) {
	at := map[string]int{} // of a file, in all; -1 if it is Claude Code's
	for _, w := range ofClaude {
		at[safefile.Resolve(w.Path)] = -1
	}
	for _, o := range e.others(cwd) {
		found, _ := o.Search.Workflows(cwd)
		for _, w := range found {
			real := safefile.Resolve(w.Path)
			i, known := at[real]
			switch {
			case known && i < 0:
				continue
			case !known:
				i, at[real], all = len(all), len(all), append(all, foundBy{Workflow: w})
			case all[i].Unused:
				all[i].Workflow = w
			}
			if !w.Unused {
				all[i].titles = append(all[i].titles, o.title)
			}
		}
	}
	return all
}

// Near returns, sorted, similar names of skills, none if a skill has the name.
func (e Everywhere) Near(command, cwd string) (near []string) {
	near = e.Locator.Near(command, cwd)
	for _, o := range e.others(cwd) {
		if skills, _ := o.Skills(cwd); slices.ContainsFunc(skills, func(k locator.Skill) bool { return k.Command == command }) {
			return nil
		}
		near = append(near, o.Near(command, cwd)...)
	}
	slices.Sort(near)
	return slices.Compact(near)
}

// FolderElsewhere returns the folder of a skill with a workflow that an agent other than Claude Code finds, "" if there is none
// or Claude Code has one. The error is that of an ambiguous name.
func FolderElsewhere(env Env, name, here string) (string, error) {
	f, err := FinderEverywhere(env, "")
	all, ok := f.(Everywhere)
	if err != nil || !ok {
		return "", nil // the search of Claude Code reports it
	}
	found, err := all.Locate(name, here)
	if ambiguous, ok := errors.AsType[*ambiguousError](err); ok {
		return "", ambiguous
	}
	if ofClaude, _ := all.Locator.Locate(name, here); ofClaude.Found() || !found.Found() {
		return "", nil
	}
	return filepath.Dir(found.Path), nil
}
