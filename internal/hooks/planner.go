package hooks

import "fmt"

// Plan is which hooks run for an event, and how.
type Plan struct {
	Sequential bool
	Hooks      []Hook
}

// plan picks the hooks of an event for a subject, the name of a tool for
// example; an empty subject matches every matcher. A handler that comes twice
// runs once, where it came first. The plan is nil if nothing is to run; notes
// say what could not be decided.
func (r *Registry) plan(d Dialect, event, subject string) (p *Plan, notes []string) {
	seen := make(map[string]bool)
	for _, h := range r.hooks[event] {
		if subject != "" {
			matched, err := h.match(subject)
			if err != nil {
				notes = append(notes, fmt.Sprintf("matcher %q of hook %s on %q: %v; the hook runs", h.Matcher, h.label(), subject, err))
			}
			if !matched {
				continue
			}
		}
		if key := d.identity(h); !seen[key] {
			seen[key] = true
			p = p.with(h)
		}
	}
	return p, notes
}

// with adds a hook; one that asks for sequence orders all.
func (p *Plan) with(h Hook) *Plan {
	if p == nil {
		p = &Plan{}
	}
	p.Hooks = append(p.Hooks, h)
	p.Sequential = p.Sequential || h.sequential
	return p
}

// All returns every hook of an event as a plan, nil if there is none.
func (r *Registry) All(event string) *Plan {
	var p *Plan
	for _, h := range r.hooks[event] {
		p = p.with(h)
	}
	return p
}

// Plan returns what would run for an event and a subject, nil if nothing would.
func (r *Registry) Plan(d Dialect, event, subject string) *Plan {
	p, _ := r.plan(d, event, subject)
	return p
}
