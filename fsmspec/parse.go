package fsmspec

import (
	"bytes"
	"fmt"
)

// Parse reads a whole file. The error is an *InvalidError with everything that
// is wrong: a file with a syntax error is checked up to there, though not for
// references, because what they name may follow. data is not kept.
func Parse(data []byte) (*Spec, error) {
	if text := unreadable(data); text != "" {
		return nil, &InvalidError{Problems: []Problem{{Line: 1, Column: 1, Message: text}}}
	}
	p := &parser{reader: newReader(data, byteOrderMark(data), "an array of tasks")}
	p.file()
	p.check()
	if len(p.findings.list) == 0 {
		p.warnGraph()
		return &Spec{p.tasks(), p.warnings.problems(p.pos, true, p.name)}, nil
	}
	return nil, &InvalidError{
		Problems: p.findings.problems(p.pos, false, p.name),
		Warnings: p.warnings.problems(p.pos, true, p.name),
	}
}

// unreadable says why a file is not even looked into, or "".
func unreadable(data []byte) string {
	switch {
	case len(data) > MaxBytes:
		return fmt.Sprintf("the file is larger than %d bytes (%d MiB), which is the limit", MaxBytes, MaxBytes>>20)
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}) || bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return "the file is UTF-16: save it as UTF-8"
	default:
		return ""
	}
}

// byteOrderMark returns how many bytes of data are one.
func byteOrderMark(data []byte) int {
	return len(data) - len(bytes.TrimPrefix(data, []byte("\uFEFF")))
}

// parser reads the array of tasks.
type parser struct {
	*reader
	entries []*entry // one an element of the array, nil if it is no object
	partial bool     // entries lacks some of the file's tasks
}

// entry is a task as it is being read.
type entry struct {
	Task
	at                int
	idAt              int
	statusAt          int
	blocks, blockedBy []reference
	members           string // those of metadata that a plan keeps, without the braces
	meant             []misspelling
}

// misspelling is an unknown field that is near a known one.
type misspelling struct{ by, field string }

// reference is an element of blocks or blockedBy.
type reference struct {
	id    int64 // local
	at    int
	field string
	entry int // index of the entry that holds it
	index int
}

func (r reference) pointer() string { return fmt.Sprintf("/%d/%s/%d", r.entry, r.field, r.index) }

// file reads all of it; partial remains true if it could not.
func (p *parser) file() {
	if p.skipped > 0 {
		p.findings.add(finding{0, "", "the file begins with a byte order mark (BOM): save it without one", nowhere})
	}
	p.partial = true
	t, ok := p.next()
	if !ok {
		return
	}
	if t.kind != '[' {
		p.problem(t.start, "the file must hold an array of tasks, not %s", p.value(t))
		ok = p.skip(t)
	} else {
		ok = p.array()
	}
	p.entry = nowhere
	if ok {
		p.finish()
	}
}

func (p *parser) array() bool {
	for {
		p.entry = nowhere
		t, ok := p.next()
		if !ok {
			return false
		}
		if t.kind == ']' {
			p.partial = len(p.entries) > MaxTasks
			return true
		}
		if !p.element(t) {
			return false
		}
	}
}

// element reads one element of the array. Those past the limit are only
// checked as JSON.
func (p *parser) element(t token) bool {
	n := len(p.entries)
	switch {
	case n > MaxTasks:
		return p.skip(t)
	case n == MaxTasks:
		p.entries = append(p.entries, nil)
		return p.reject(t, "a file may hold %d tasks, and this is one more", MaxTasks)
	case t.kind != '{':
		p.entries = append(p.entries, nil)
		return p.reject(t, "entry %d must be an object, not %s", n+1, p.value(t))
	}
	e := &entry{at: t.start, Task: Task{Status: Pending}}
	p.entries = append(p.entries, e)
	p.entry = n
	return p.object(e)
}

// object reads the fields of an entry and notes the required ones it lacks.
func (p *parser) object(e *entry) bool {
	var seen fields
	for {
		name, ok := p.next()
		if !ok {
			return false
		}
		if name.kind == '}' {
			p.missing(e, seen)
			return true
		}
		if !p.member(e, name, &seen) {
			return false
		}
	}
}

// missing is called when the entry has just been closed, so that the problem
// points at it.
func (p *parser) missing(e *entry, seen fields) {
	for _, field := range []struct {
		name string
		seen bool
	}{{"id", seen.id}, {"subject", seen.subject}} {
		if field.seen {
			continue
		}
		hint := ""
		for _, m := range e.meant {
			if m.field == field.name {
				hint = fmt.Sprintf(" (is it meant by %s?)", quoted(m.by))
			}
		}
		p.problem(e.at, "missing %q%s", field.name, hint)
	}
}

// reject notes that the value that begins with t is wrong, and skips it.
func (p *parser) reject(t token, format string, args ...any) bool {
	p.problem(t.start, format, args...)
	return p.skip(t)
}

// value is the value that begins with t, in words.
func (p *parser) value(t token) string { return value(t.kind, p.raw(t)) }

// name is what messages call an entry: by its id, or by its place if that is
// what is wrong with it.
func (p *parser) name(index int) string {
	e := p.entries[index]
	switch {
	case e.ID > 0:
		return called(e.ID, e.Subject)
	case e.Subject != "":
		return fmt.Sprintf("entry %d (%s)", index+1, quoted(e.Subject))
	default:
		return fmt.Sprintf("entry %d", index+1)
	}
}

func (p *parser) tasks() []task {
	tasks := make([]task, len(p.entries))
	for i, e := range p.entries {
		e.Blocks, e.BlockedBy = ids(e.blocks), ids(e.blockedBy)
		tasks[i] = task{e.Task, e.members}
	}
	return tasks
}

func ids(refs []reference) []int64 {
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		ids[i] = ref.id
	}
	return ids
}
