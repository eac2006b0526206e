package fsmspec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Parse parses and validates a file. After a syntax error it does not check references,
// because the tasks that they name may follow.
//
// Errors: *InvalidError, which lists everything that is wrong.
func Parse(data []byte) (*Spec, error) { return parse("", data, wholeFile) }

// ParseOf is Parse for the workflow of the skill with that name, which must not demand the
// skill itself.
func ParseOf(skill string, data []byte) (*Spec, error) { return parse(skill, data, wholeFile) }

// Read is Parse for a file that was parsed before and has not changed since: it is not proved again, so there are no warnings about
// the order of its tasks and no bound.
func Read(data []byte) (*Spec, error) { return parse("", data, provenFile) }

// extent is how much of a file is proved.
type extent int

const (
	wholeFile  extent = iota
	partOfFile        // a part whose values were proven with the whole: it may name values of the rest
	provenFile        // nothing: all of it was proven before
)

// parse is ParseOf.
func parse(skill string, data []byte, prove extent) (*Spec, error) {
	if text := unreadable(data); text != "" {
		return nil, &InvalidError{Problems: []Problem{{Line: 1, Column: 1, Message: text}}}
	}
	// Editors do not show a byte order mark and do not count it as a column.
	rest := bytes.TrimPrefix(data, []byte("\uFEFF"))
	skipped := len(data) - len(rest)
	p := newParser(rest)
	p.of = skill
	if skipped > 0 {
		p.problem(0, "the file begins with a byte order mark (BOM): save it without one")
	}
	p.file()
	p.checkIDs(p.entries)
	p.warnEmpty()
	if len(p.problems.findings) == 0 {
		p.connect(p.entries, prove)
		if p.version == WithOutcomes && prove != provenFile {
			if p.promote(); len(p.problems.findings) == 0 {
				p.machine = p.proveAll(p.entries)
			}
			if len(p.problems.findings) == 0 && prove == wholeFile {
				p.proveValues()
			}
		}
	}
	if len(p.problems.findings) > 0 {
		return nil, &InvalidError{
			Problems: p.problems.list(rest, skipped, false),
			Warnings: p.warnings.list(rest, skipped, true),
		}
	}
	spec := &Spec{text: string(data), version: p.version, steps: p.level(p.entries), vars: p.declared,
		hasValues: p.hasValues || len(p.declared) > 0}
	if prove != provenFile {
		p.warnBound(spec)
	}
	spec.warnings = p.warnings.list(rest, skipped, true)
	return spec, nil
}

// unreadable returns why a file cannot be parsed at all, or "".
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

// parser reads a file token by token. It stops at a syntax error. After any other mistake,
// which it notes, it continues.
type parser struct {
	data      []byte
	decoder   *jsontext.Decoder
	positions *jsonx.Index
	end       int  // offset of the end of the last token
	broken    bool // there was a syntax error
	suspect   bool // the file may have strings that UTF-8 cannot represent

	of       string // the name of the skill whose workflow it is; "" if unknown
	version  int    // Plain or WithOutcomes
	root     string // pointer of the array of tasks
	commands string // the shell of those that name none
	entries  []*entry
	outer    *entry           // the task whose parts are being read, or nil
	current  *entry           // the task being read, or nil
	count    int              // of the tasks that were read, of all levels
	machine  *machine.Machine // of the outermost level; see proveAll
	partial  bool             // entries lacks some of the file's tasks

	declared  []Var     // in vars
	named     []mention // the values that texts, paths and commands name
	wildcards []mention // patterns with a wildcard for a directory
	hasValues bool      // a text or a path has placeholders, or a step sets a value or has a time limit

	problems, warnings report
}

// newParser returns a parser. Its decoder accepts duplicate keys and invalid UTF-8, at which
// it would otherwise stop: the parser reports all of them.
func newParser(data []byte) *parser {
	return &parser{
		data:      data,
		version:   Plain,
		decoder:   jsontext.NewDecoder(bytes.NewBuffer(data), jsonx.Tolerant),
		positions: jsonx.NewIndex(data),
		problems:  report{room: MaxBytes},
		warnings:  report{room: MaxBytes},
		suspect:   !utf8.Valid(data) || bytes.Contains(data, []byte(`\ud`)) || bytes.Contains(data, []byte(`\uD`)),
	}
}

// entry is a task while the file is being read.
type entry struct {
	task      Task
	members   string // of metadata; see taskFile
	approve   bool   // approval is true
	index     int    // in the array
	at        int    // offsets
	idAt      int
	subjects  []subjectForID
	statusAt  int
	blocks    []reference
	blockedBy []reference
	when      []reference
	places    map[string]int // offsets of values, by their path in the entry; see mark
	root      string         // pointer of the array

	outer *entry   // the task that this one is a part of, or nil
	parts []*entry // of do
	raw   []byte   // the object; only of a task with each
	do    []byte   // the array of do; only if there is one

	machine *machine.Machine // of the level that parts are on; see prove
}

// reference is an element of blocks or blockedBy, or a key of when.
type reference struct {
	id    int64
	at    int
	field string
	entry *entry // the task that has it
	index int    // -1 for a key
}

func (r reference) pointer() string {
	if r.index < 0 {
		return r.entry.pointer(r.field, strconv.FormatInt(r.id, 10))
	}
	return r.entry.pointer(r.field, strconv.Itoa(r.index))
}

// name returns the name of the task in messages: its id, or its place in the array if the id
// is missing or invalid; and the task that it is a part of.
func (e *entry) name() string {
	if e.outer != nil {
		return e.ownName() + " in the do of " + e.outer.ownName()
	}
	return e.ownName()
}

func (e *entry) ownName() string {
	switch {
	case e.task.ID > 0:
		return taskName(e.task.ID, e.task.Subject)
	case e.task.Subject != "":
		return fmt.Sprintf("entry %d (%s)", e.index+1, quoted(e.task.Subject))
	default:
		return fmt.Sprintf("entry %d", e.index+1)
	}
}

func (p *parser) file() {
	t := p.next()
	switch {
	case t.kind == '[':
		p.tasks()
	case t.kind == '{' && p.objectVersion(t):
		p.object(t)
	case t.kind == '{':
		p.skip(t)
	case !p.broken:
		p.problem(t.start, "the file must hold an array of tasks, not %s", p.describe(t))
	}
	if p.broken {
		return
	}
	if err := jsonx.CheckEnd(p.data, p.end); err != nil {
		p.stop(err)
	}
}

// tasks reads the elements of the array. Those beyond the limit only have to be valid JSON.
func (p *parser) tasks() {
	for i, t := range p.elements {
		p.count++
		switch {
		case p.count > MaxTasks+1:
		case p.count > MaxTasks:
			p.partial = true
			p.problem(t.start, "a file may hold at most %d tasks", MaxTasks)
		case t.kind != '{':
			p.problem(t.start, "entry %d must be an object, not %s", i+1, p.describe(t))
		default:
			p.current = &entry{index: i, at: t.start, root: p.root, outer: p.outer}
			p.entries = append(p.entries, p.current)
			p.task(p.current)
			p.current = p.outer
		}
	}
}

// misspelling is an unknown field that probably means another one.
type misspelling struct {
	name, meant string
	hint        string // what to write instead, where no single field is meant
	at          int
}

// task reads the fields of a task.
func (p *parser) task(e *entry) {
	var seen [len(fields)]bool
	var misspellings []misspelling
	for key, t := range p.members {
		name := p.text(key)
		i := fieldIndex(name)
		switch {
		case p.version == Plain && isReserved(i):
			p.reserved(e, key.start, name)
			continue
		case i < 0:
			if hint := flowMeant(name); hint != "" && p.version == WithOutcomes {
				misspellings = append(misspellings, misspelling{name: name, hint: hint, at: key.start})
			} else if meant := fieldMeant(name); meant != "" {
				misspellings = append(misspellings, misspelling{name: name, meant: meant, at: key.start})
			} else {
				p.warn(key.start, "unknown field %s is ignored", quoted(name))
			}
			continue
		case t.kind != 'n':
			if p.version == WithOutcomes {
				e.mark(t.start, name)
			}
			fields[i].typ.read(p, e, name, t)
		case fields[i].use == required:
			p.problem(t.start, "missing %q: it is null", name)
		}
		seen[i] = true
	}
	for i, f := range fields {
		if f.use == required && !seen[i] && !p.broken {
			misspellings = p.missing(e, f.name, misspellings)
		}
	}
	for _, m := range misspellings {
		p.noteMisspelling(e, m)
	}
	if e.task.Each != nil {
		e.raw = p.data[e.at:p.end]
	}
	if e.approve {
		e.task.Approval = defaultQuestion(&e.task) // now that the subject is known
	}
	for i := range e.task.Outcomes {
		if o := &e.task.Outcomes[i]; o.Approval == askAboutOutcome {
			o.Approval = fmt.Sprintf("May %s end as %s?", quoted(e.task.Subject), o.Name)
		}
	}
}

// missing notes a missing field. If one of the misspellings may be the cause, the message
// names it. missing returns the other misspellings.
func (p *parser) missing(e *entry, name string, misspellings []misspelling) []misspelling {
	hint := ""
	i := slices.IndexFunc(misspellings, func(m misspelling) bool { return m.meant == name })
	if i >= 0 {
		hint = fmt.Sprintf(" (misspelled as %s?)", quoted(misspellings[i].name))
		misspellings = slices.Delete(misspellings, i, i+1)
	}
	p.problem(e.at, "missing %q%s", name, hint)
	return misspellings
}

// noteMisspelling notes an unknown field that is refused, because it probably matters.
func (p *parser) noteMisspelling(e *entry, m misspelling) {
	p.problems.note(m.at, e, keepsMeaning, func() (pointer, text string) {
		pointer = e.pointer(m.name)
		if m.hint != "" {
			return pointer, fmt.Sprintf("unknown field %s: %s, or move it into metadata", quoted(m.name), m.hint)
		}
		if m.meant == checkMember {
			return pointer, fmt.Sprintf("unknown field %s: it belongs in the object of %q", quoted(m.name), "check")
		}
		return pointer, fmt.Sprintf("unknown field %s: write %q, or move it into metadata", quoted(m.name), m.meant)
	})
}

// subjectForID is a text where an id should be. Some formats name a task by its subject.
type subjectForID struct {
	subject string
	at      int // offset
}

// suggestIDs adds to the problem of each subject in the place of an id the id of the one task
// that has the subject.
func (p *parser) suggestIDs(entries []*entry) {
	for _, e := range entries {
		for _, s := range e.subjects {
			var ids []int64
			for _, other := range entries {
				if other.task.Subject == s.subject && other.task.ID > 0 {
					ids = append(ids, other.task.ID)
				}
			}
			if len(ids) == 1 {
				p.problems.add(s.at, fmt.Sprintf(" (its id is %d)", ids[0]))
			}
		}
	}
}

// checkIDs finds duplicate ids, and references to tasks that the file does not have.
func (p *parser) checkIDs(entries []*entry) {
	p.suggestIDs(entries)
	byID := make(map[int64]*entry, len(entries))
	for _, e := range entries {
		p.checkIDs(e.parts)
		first, duplicate := byID[e.task.ID]
		switch {
		case e.task.ID == 0:
		case duplicate:
			p.noteDuplicate(first, e)
		default:
			byID[e.task.ID] = e
		}
	}
	if p.partial || p.broken {
		return
	}
	ids := slices.Sorted(maps.Keys(byID))
	for _, e := range entries {
		for _, list := range [][]reference{e.blocks, e.blockedBy, e.when} {
			for _, r := range list {
				if byID[r.id] == nil {
					p.noteUnresolved(r, entries, ids)
				}
			}
		}
	}
}

// partWith returns the entry that has a part, at any depth, with the id; nil if none has.
func partWith(entries []*entry, id int64) *entry {
	for _, e := range entries {
		if slices.ContainsFunc(e.parts, func(part *entry) bool { return part.task.ID == id }) || partWith(e.parts, id) != nil {
			return e
		}
	}
	return nil
}

func (p *parser) noteUnresolved(r reference, entries []*entry, ids []int64) {
	p.problems.note(r.at, r.entry, keepsMeaning, func() (pointer, text string) {
		if around := partWith(entries, r.id); around != nil {
			text = fmt.Sprintf("%s refers to %d, which is a part of task %d: only tasks of the same array can be named", r.field, r.id,
				around.task.ID)
			if around != r.entry {
				text += fmt.Sprintf(", such as %d", around.task.ID)
			}
			return r.pointer(), text
		}
		return r.pointer(), fmt.Sprintf("%s refers to %d, but there is no task with id %d%s", r.field, r.id, r.id,
			suggestID(r.id, r.entry.task.ID, ids))
	})
}

func (p *parser) noteDuplicate(first, again *entry) {
	p.problems.note(again.idAt, again, keepsMeaning, func() (pointer, text string) {
		subject := ""
		if first.task.Subject != "" {
			subject = fmt.Sprintf(" (%s)", quoted(first.task.Subject))
		}
		return again.pointer("id"),
			fmt.Sprintf("duplicate id %d, used at %s%s and again at %s", again.task.ID, p.place(first.idAt), subject, p.place(again.idAt))
	})
}

// suggestID returns a hint for a reference to an id that no task has: the nearest id, if that
// is near enough for a typing error, but never the task's own; else the range of ids.
func suggestID(id, own int64, sorted []int64) string {
	const slip = 10
	others := slices.DeleteFunc(slices.Clone(sorted), func(n int64) bool { return n == own })
	if len(others) == 0 {
		return ""
	}
	apart := func(n int64) int64 { return max(n-id, id-n) }
	meant := slices.MinFunc(others, func(a, b int64) int { return cmp.Compare(apart(a), apart(b)) })
	if apart(meant) <= slip {
		return fmt.Sprintf(" (did you mean %d?)", meant)
	}
	return fmt.Sprintf(" (the ids of this file go from %d to %d)", sorted[0], sorted[len(sorted)-1])
}

// token is one token of the file: a string with its quotes, a number, a literal, or a single
// brace or bracket.
type token struct {
	kind       jsontext.Kind
	start, end int
	invalid    bool // a string that is not valid UTF-8
}

// next reads a token. At a syntax error, which it notes, and after one its kind is 0.
func (p *parser) next() token {
	if p.broken {
		return token{}
	}
	kind, size := p.decoder.PeekKind(), 1
	var err error
	switch kind {
	case '{', '}', '[', ']':
		_, err = p.decoder.ReadToken()
	default:
		var value jsontext.Value
		value, err = p.decoder.ReadValue()
		size = len(value)
	}
	if err != nil {
		p.stop(err)
		return token{}
	}
	p.end = int(p.decoder.InputOffset())
	t := token{kind: kind, start: p.end - size, end: p.end}
	if p.isLeadingZero(t) {
		return p.next()
	}
	p.check(&t)
	return t
}

// isLeadingZero reports whether t is the 0 of a number like 01. The decoder returns the 0 as
// a number, and then an error. The 0 must not be checked as if it were the value.
func (p *parser) isLeadingZero(t token) bool {
	return t.kind == '0' && p.decoder.StackDepth() > 0 && !endsNumber(p.data[t.end:])
}

func endsNumber(rest []byte) bool {
	return len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n,]}")
}

// check notes the mistakes that a token can have anywhere in the file.
func (p *parser) check(t *token) {
	switch t.kind {
	case '"':
		t.invalid = !p.checkUTF8(*t)
	case '{', '[':
		if p.decoder.StackDepth() == MaxDepth+1 {
			p.problem(t.start, "nested deeper than %d levels", MaxDepth)
		}
	}
}

// checkUTF8 reports whether UTF-8 can represent a string. If not, it notes the first byte
// that is not part of a character, or the first half of a surrogate pair.
func (p *parser) checkUTF8(t token) bool {
	if !p.suspect || jsontext.Value(p.data[t.start:t.end]).IsValid() {
		return true
	}
	if err, ok := errors.AsType[*jsonx.SyntaxError](jsonx.Check(p.data[t.start:t.end])); ok {
		p.problem(t.start+err.Offset, "%v", err.Err)
	}
	return false
}

// elements yields the elements of the array whose bracket was just read, with their indices.
// It skips the rest of an element that the loop does not read.
func (p *parser) elements(yield func(int, token) bool) {
	for i := 0; ; i++ {
		t := p.next()
		if p.broken || t.kind == ']' || !yield(i, t) {
			return
		}
		p.skip(t)
	}
}

// members yields the keys and values of the object whose brace was just read. It notes
// duplicate keys, and skips the rest of a value that the loop does not read.
func (p *parser) members(yield func(key, value token) bool) {
	seen := map[string]int{}
	for {
		key := p.next()
		if p.broken || key.kind == '}' {
			return
		}
		p.checkKey(seen, key)
		value := p.next()
		if p.broken || !yield(key, value) {
			return
		}
		p.skip(value)
	}
}

// skip reads to the end of the value that begins with t, unless it was read already.
func (p *parser) skip(t token) {
	if p.end != t.end {
		return
	}
	switch t.kind {
	case '{':
		for range p.members {
		}
	case '[':
		for range p.elements {
		}
	}
}

// checkKey notes a duplicate key. seen has the offsets of the earlier keys. Invalid keys are
// not compared: different ones may decode to the same text.
func (p *parser) checkKey(seen map[string]int, t token) {
	if t.invalid {
		return
	}
	name := p.text(t)
	first, duplicate := seen[name]
	if !duplicate {
		seen[name] = t.start
		return
	}
	p.problem(t.start, "duplicate key %s in one object, at %s and again at %s", quoted(name), p.place(first), p.place(t.start))
}

// stop notes a syntax error and stops the parser. Unlike other findings, a syntax error is
// always listed.
func (p *parser) stop(err error) {
	p.broken = true
	// The decoder reads from memory, so all its errors are syntax errors.
	syntax, _ := errors.AsType[*jsonx.SyntaxError](jsonx.Explain(p.data, err))
	cause, pointer := syntax.Err.Error(), ""
	if format := otherFormat(p.data, syntax.Offset); format != "" {
		cause = format
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer = string(e.JSONPointer)
	}
	p.problems.findings = append(p.problems.findings, finding{syntax.Offset, p.current, keepsMeaning, pointer, "malformed JSON: " + cause})
}

// problem notes a mistake at an offset, with the pointer of the last token that was read, or
// of the object or array that this token closed.
func (p *parser) problem(at int, format string, args ...any) {
	p.note(&p.problems, at, format, args)
}

func (p *parser) warn(at int, format string, args ...any) { p.note(&p.warnings, at, format, args) }

func (p *parser) note(r *report, at int, format string, args []any) {
	r.note(at, p.current, keepsMeaning, func() (pointer, text string) {
		return string(p.decoder.StackPointer()), fmt.Sprintf(format, args...)
	})
}

// place returns an offset as line:column, for a message.
func (p *parser) place(at int) lazy {
	return func() string { return p.positions.At(at).String() }
}

// raw returns t as the file spells it.
func (p *parser) raw(t token) string { return string(p.data[t.start:t.end]) }

// text returns the string t decoded. Invalid UTF-8 was noted when t was read.
func (p *parser) text(t token) string {
	raw := p.data[t.start:t.end]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return string(text)
}

// describe returns a description, for a message, of the value that begins with t.
func (p *parser) describe(t token) lazy {
	return func() string {
		switch t.kind {
		case '0':
			return "the number " + short(p.raw(t))
		case '"':
			return "the string " + message.Line(short(p.raw(t)))
		case 't', 'f':
			return p.raw(t)
		default:
			return jsonx.KindName(t.kind)
		}
	}
}
