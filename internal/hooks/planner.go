package hooks

import (
	"fmt"
	"slices"
)

// Plan is which hooks run for an event, and how.
type Plan struct {
	Sequential bool
	Hooks      []Hook
}

// plan picks the hooks of an event for a subject, the name of a tool for
// example; an empty subject matches every matcher. A handler that comes twice
// runs once, where it came first. The plan is nil if nothing is to run; notes
// say what could not be decided. Whatever is not picked goes to skip.
func (r *Registry) plan(d Dialect, event, subject string, skip func(h Hook, why string)) (p *Plan, notes []string) {
	seen := make(map[string]bool)
	for _, h := range r.hooks[event] {
		if subject != "" {
			matched, err := h.match(subject)
			if err != nil {
				notes = append(notes, fmt.Sprintf("matcher %q of hook %s on %q: %v; the hook runs", h.Matcher, h.label(), subject, err))
			}
			if !matched {
				skip(h, "its matcher is not for this")
				continue
			}
		}
		key := d.identity(h)
		if seen[key] {
			skip(h, twice)
			continue
		}
		seen[key] = true
		p = p.with(h)
	}
	return p, notes
}

const twice = "the same command is there already and runs once"

// with adds a hook; one that asks for sequence orders all.
func (p *Plan) with(h Hook) *Plan {
	if p == nil {
		p = &Plan{}
	}
	p.Hooks = append(p.Hooks, h)
	p.Sequential = p.Sequential || h.sequential
	return p
}

// Plan returns what would run for an event and a subject, nil if nothing would,
// and the event's other hooks, with the reason.
func (r *Registry) Plan(d Dialect, event, subject string) (p *Plan, skipped []Problem) {
	if d.Subject(event) == "" {
		subject = "" // matchers are ignored
	}
	p, _ = r.plan(d, event, subject, func(h Hook, why string) { skipped = append(skipped, h.problem(why)) })
	return p, skipped
}

// All returns every hook of an event that runs for some subject as a plan, nil if
// there is none, and those that never run because the same one comes first.
func (r *Registry) All(d Dialect, event string) (p *Plan, skipped []Problem) {
	if d.Subject(event) == "" {
		return r.Plan(d, event, "")
	}
	hooks := r.hooks[event]
	for i, h := range hooks {
		if slices.ContainsFunc(hooks[:i], func(earlier Hook) bool { return d.Same(earlier, h) && covers(earlier, h) }) {
			skipped = append(skipped, h.problem(twice))
			continue
		}
		p = p.with(h)
	}
	return p, skipped
}

// covers reports whether a hook runs whenever another one of the same event does,
// as far as their matchers show.
func covers(h, other Hook) bool {
	pattern := trim(h.Matcher)
	return pattern == "" || pattern == "*" || pattern == trim(other.Matcher)
}

// problem says that a hook will not run.
func (h Hook) problem(why string) Problem {
	return Problem{Source: h.Source, Pointer: h.Pointer, Message: why, Dropped: true}
}
