package fsmspec

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// fields are the required ones that an entry has, right or wrong.
type fields struct{ id, subject bool }

func fieldNames() []string {
	return []string{"id", "subject", "description", "activeForm", "status", "blocks", "blockedBy", "metadata", "owner"}
}

// member reads one field of an entry, the name of which has just been read.
func (p *parser) member(e *entry, name token, seen *fields) bool {
	field := p.text(name)
	if !slices.Contains(fieldNames(), field) {
		p.unknown(e, name, field)
	}
	t, ok := p.next()
	if !ok {
		return false
	}
	switch field {
	case "id":
		seen.id = true
		return p.id(e, t)
	case "subject":
		seen.subject = true
		return p.subject(e, t)
	case "description":
		return p.string(field, t, &e.Description)
	case "activeForm":
		return p.string(field, t, &e.ActiveForm)
	case "owner":
		return p.string(field, t, &e.Owner)
	case "status":
		return p.status(e, t)
	case "blocks":
		return p.references(field, t, &e.blocks)
	case "blockedBy":
		return p.references(field, t, &e.blockedBy)
	case "metadata":
		return p.metadata(e, t)
	default:
		return p.skip(t)
	}
}

func (p *parser) unknown(e *entry, name token, field string) {
	hint := ""
	if known := near(field, fieldNames()); known != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", known)
		e.meant = append(e.meant, misspelling{field, known})
	}
	p.warn(name.start, "unknown field %s is ignored%s", quoted(field), hint)
}

func (p *parser) id(e *entry, t token) bool {
	e.ID, e.idAt = 0, t.start
	switch t.kind {
	case 'n':
		return p.reject(t, `missing "id": it is null`)
	case '0':
		n, flaw := integer(p.raw(t))
		if flaw == sound {
			e.ID = n
			return true
		}
		return p.reject(t, "id must be a positive integer, %s", p.flaw(t, flaw))
	default:
		return p.reject(t, "id must be a positive integer, not %s%s", p.value(t), unquote(p.raw(t)))
	}
}

// flaw says what is wrong with the number t as an id.
func (p *parser) flaw(t token, flaw flaw) string {
	raw := short(p.raw(t))
	if flaw == tooLarge {
		return fmt.Sprintf("at most %d (2^53-1), not %s", MaxID, raw)
	}
	return "not " + raw
}

// unquote is a hint for a string that would do as an id if it were none.
func unquote(raw string) string {
	bare := strings.Trim(raw, `"`)
	if bare == raw || strings.Trim(bare, "0123456789") != "" {
		return ""
	}
	if _, flaw := integer(bare); flaw != sound {
		return ""
	}
	return fmt.Sprintf(" (write %s without the quotes)", bare)
}

func (p *parser) subject(e *entry, t token) bool {
	if t.kind == 'n' {
		return p.reject(t, `missing "subject": it is null`)
	}
	ok := p.string("subject", t, &e.Subject)
	if t.kind == '"' && isBlank(e.Subject) {
		p.problem(t.start, "subject is blank")
	}
	return ok
}

// isBlank reports whether nothing of the text would be seen.
func isBlank(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf)
	}) < 0
}

// string reads an optional text; null leaves what is there.
func (p *parser) string(field string, t token, into *string) bool {
	switch t.kind {
	case '"':
		*into = p.text(t)
		return true
	case 'n':
		return true
	default:
		return p.reject(t, "%s must be a string, not %s", field, p.value(t))
	}
}

func (p *parser) status(e *entry, t token) bool {
	e.statusAt = t.start
	status := Pending
	ok := p.string("status", t, &status)
	known := []string{Pending, InProgress, Completed}
	if slices.Contains(known, status) {
		e.Status = status
		return ok
	}
	hint := ""
	if meant := near(status, known); meant != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", meant)
	}
	p.problem(t.start, "status must be pending, in_progress or completed, not %s%s", quoted(status), hint)
	return ok
}

// references reads the ids of a blocks or blockedBy; those that are none are
// noted and left out.
func (p *parser) references(field string, t token, into *[]reference) bool {
	switch t.kind {
	case 'n':
		return true
	case '[':
	default:
		return p.reject(t, "%s must be an array of ids, not %s", field, p.value(t))
	}
	*into = nil
	for index := 0; ; index++ {
		t, ok := p.next()
		if !ok {
			return false
		}
		if t.kind == ']' {
			return true
		}
		id, ok := p.reference(field, t)
		if !ok {
			return false
		}
		if id > 0 {
			*into = append(*into, reference{id, t.start, field, p.entry, index})
		}
	}
}

// reference returns 0 for what is no id, and false at a syntax error.
func (p *parser) reference(field string, t token) (int64, bool) {
	const text = "%s must hold ids, which are positive integers, %s"
	if t.kind != '0' {
		return 0, p.reject(t, text, field, "not "+p.value(t)+unquote(p.raw(t)))
	}
	id, flaw := integer(p.raw(t))
	if flaw != sound {
		return 0, p.reject(t, text, field, p.flaw(t, flaw))
	}
	return id, true
}
