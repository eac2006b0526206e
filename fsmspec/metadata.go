package fsmspec

import "strings"

// tag is the key of metadata that a plan writes.
const tag = "fsm"

// metadata reads the object of an entry. Its members keep the file's own
// spelling, but a tag of its own is dropped, because a plan writes one.
func (p *parser) metadata(e *entry, t token) bool {
	switch t.kind {
	case 'n':
		return true
	case '{':
	default:
		return p.reject(t, "metadata must be an object, not %s", p.value(t))
	}
	var kept []string
	for {
		name, ok := p.next()
		if !ok {
			return false
		}
		if name.kind == '}' {
			e.Metadata = string(p.data[t.start:name.end])
			e.members = strings.Join(kept, ",")
			return true
		}
		own := p.text(name) == tag
		if own {
			p.warn(name.start, "metadata.fsm is overwritten with the name of the command")
		}
		value, ok := p.next()
		if !ok || !p.skip(value) {
			return false
		}
		if !own {
			kept = append(kept, string(p.data[name.start:p.end]))
		}
	}
}
