package hooks

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Plan is the hooks that run for an event.
type Plan struct {
	Sequential bool // one after the other, otherwise all at once
	Hooks      []Hook
}

const duplicate = "a duplicate: the same command is configured before it, and one of them runs"

// planned is the result of [Registry.plan].
type planned struct {
	plan    *Plan     // nil if nothing runs
	skipped []Problem // the event's other hooks
	notes   []string  // matchers that gave up, and rules that cannot be tested
}

// plan selects the hooks of an event for a subject, such as a tool's name. Every matcher
// matches an empty subject. Of equal hooks the first one runs. call is nil if the input of the
// event is not known; then no "if" is tested.
func (r *Registry) plan(d dialect.Dialect, event, subject string, call *ruleCall) planned {
	var p planned
	seen := make(map[string]bool)
	for _, h := range r.hooks[event] {
		if subject != "" {
			matched, err := h.match(subject)
			if err != nil {
				p.notes = append(p.notes, fmt.Sprintf("matcher %q of hook %s on %q: %v; the hook runs", h.Matcher, h.label(), subject, err))
			}
			if !matched {
				p.skipped = append(p.skipped, h.problem(h.notMatched(subject, call)))
				continue
			}
		}
		if why := h.skillExcludes(d, call); why != "" {
			p.skipped = append(p.skipped, h.problem(why))
			continue
		}
		if call != nil && h.If != "" {
			why, note := call.mismatch(d, h)
			if why != "" {
				p.skipped = append(p.skipped, h.problem(why))
				continue
			}
			if note != "" {
				p.notes = append(p.notes, note)
			}
		}
		key := h.identity(d)
		if seen[key] {
			p.skipped = append(p.skipped, h.problem(duplicate))
			continue
		}
		seen[key] = true
		p.plan = p.plan.with(h)
	}
	return p
}

// notMatched says that the matcher does not match, and at an event names both.
func (h Hook) notMatched(subject string, call *ruleCall) string {
	if call == nil || h.Matcher == "" {
		return "its matcher does not match"
	}
	return fmt.Sprintf("its matcher %s does not match %s", h.Matcher, message.FirstLine(subject, 60))
}

// with adds a hook. If one hook of the plan asks for a sequence, all run in sequence.
func (p *Plan) with(h Hook) *Plan {
	if p == nil {
		p = &Plan{}
	}
	p.Hooks = append(p.Hooks, h)
	p.Sequential = p.Sequential || h.sequential
	return p
}

// Plan returns what would run for an event and a subject, nil if nothing would, and
// the event's other hooks with the reason.
func (r *Registry) Plan(d dialect.Dialect, event, subject string) (p *Plan, skipped []Problem) {
	if e, _ := d.Event(event); e.Subject == "" {
		subject = "" // matchers are ignored
	}
	planned := r.plan(d, event, subject, nil)
	return planned.plan, planned.skipped
}

// All returns a plan of every hook of an event that runs for some subject, nil if there is
// none, and the hooks that never run, with the reason.
func (r *Registry) All(d dialect.Dialect, event string) (p *Plan, skipped []Problem) {
	if e, _ := d.Event(event); e.Subject == "" {
		return r.Plan(d, event, "")
	}
	hooks := r.hooks[event]
	for i, h := range hooks {
		if why := h.skillExcludes(d, nil); why != "" {
			skipped = append(skipped, h.problem(why))
			continue
		}
		if slices.ContainsFunc(hooks[:i], func(earlier Hook) bool { return earlier.Same(d, h) && covers(earlier, h) }) {
			skipped = append(skipped, h.problem(duplicate))
			continue
		}
		p = p.with(h)
	}
	return p, skipped
}

// covers reports whether a hook runs whenever another one of the same event runs, by
// the text of their matchers.
func covers(h, other Hook) bool {
	pattern := jsonx.Trim(h.Matcher)
	return pattern == "" || pattern == "*" || pattern == jsonx.Trim(other.Matcher)
}

// MarshalJSON returns the plan as the machine interface shows it.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type shownHook struct {
		Type    string        `json:"type"`
		Name    string        `json:"name,omitzero"`
		Command string        `json:"command"`
		Args    []string      `json:"args,omitzero"`
		Timeout Elapsed       `json:"timeout_ms"`
		Matcher string        `json:"matcher,omitzero"`
		Scope   dialect.Scope `json:"source"`
		From    string        `json:"from,omitzero"`
	}
	shown := struct {
		Sequential bool        `json:"sequential"`
		Hooks      []shownHook `json:"hooks"`
	}{Sequential: p.Sequential}
	for _, h := range p.Hooks {
		shown.Hooks = append(shown.Hooks, shownHook{h.Type, h.Name, h.Command, h.Args, Elapsed(h.Timeout), h.Matcher, h.Scope, h.Source})
	}
	return json.Marshal(shown, jsonx.Tolerant)
}
