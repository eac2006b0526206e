package fsmspec

import (
	"fmt"
	"slices"
)

// check finds what is wrong between the tasks of the file.
func (p *parser) check() {
	byID := make(map[int64]*entry, len(p.entries))
	for i, e := range p.entries {
		if e == nil || e.ID == 0 {
			continue
		}
		if first, twice := byID[e.ID]; twice {
			p.duplicate(first, e, i)
			continue
		}
		byID[e.ID] = e
	}
	if !p.partial {
		p.resolve(byID)
	}
}

func (p *parser) duplicate(first, again *entry, index int) {
	if p.findings.turnsAway() {
		return
	}
	text := fmt.Sprintf("duplicate id %d, used at %s", again.ID, p.pos.At(first.idAt))
	if first.Subject != "" {
		text += fmt.Sprintf(" (%s)", quoted(first.Subject))
	}
	text += " and again at " + p.pos.At(again.idAt).String()
	p.findings.add(finding{again.idAt, fmt.Sprintf("/%d/id", index), text, index})
}

// resolve finds references to tasks that the file does not have.
func (p *parser) resolve(byID map[int64]*entry) {
	sorted := make([]int64, 0, len(byID))
	for id := range byID {
		sorted = append(sorted, id)
	}
	slices.Sort(sorted)
	for _, e := range p.entries {
		if e == nil {
			continue
		}
		for _, ref := range slices.Concat(e.blocks, e.blockedBy) {
			if byID[ref.id] == nil && !p.findings.turnsAway() {
				text := fmt.Sprintf("%s refers to %d, and no task of this file has that id%s", ref.field, ref.id, instead(ref.id, e.ID, sorted))
				p.findings.add(finding{ref.at, ref.pointer(), text, ref.entry})
			}
		}
	}
}

// instead proposes an id for one that no task has: the nearest if it may be a
// slip, which is never the task's own.
func instead(id, own int64, sorted []int64) string {
	const slip = 10
	meant, ok := nearest(id, own, sorted)
	switch {
	case !ok:
		return ""
	case max(id-meant, meant-id) <= slip:
		return fmt.Sprintf(" (did you mean %d?)", meant)
	default:
		return fmt.Sprintf(" (the ids of this file go from %d to %d)", sorted[0], sorted[len(sorted)-1])
	}
}
