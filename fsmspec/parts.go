package fsmspec

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Each is the lines of a file or of a command. What its task consists of is done once for each
// of them, and the task is the join of that. A task without parts is itself done for each
// line; then all its gates, outcomes and texts are those of the copies.
type Each struct {
	// slash-separated path of a file, relative to the project's directory; empty if Run has a command
	Lines string `json:"lines,omitzero"`
	// the command that prints the lines, run without a limit on its output; nil if Lines names a file
	Run    *Check `json:"run,omitempty"`
	InTurn bool   `json:"inTurn,omitzero"` // a line's copy starts only when that of the line before is done

	// Workflow is what is done for one line, as an fsm.json; see [ForItem].
	Workflow string `json:"workflow"`
	// Itself is true if that is the task itself, and not the parts of it.
	Itself bool `json:"itself,omitzero"`
}

// level is the tasks of one array.
type level struct {
	steps   []step
	machine *machine.Machine // nil in version Plain
}

// step is a task with what is known about it.
type step struct {
	task    Task   // without its parts
	members string // of metadata; each followed by a comma, without the tag
	parts   level  // what the task consists of; of a task with Each, what is done for a line
}

// join returns what a task that is itself done for each line is in the list: the join of its copies, whose gates, outcomes and texts are
// theirs. The calls that belong to it are refused before there are copies, too.
func (t Task) join() Task {
	item := func(text string) string { return replaceItem(text, "each item") }
	return Task{ID: t.ID, Local: t.Local, Subject: item(t.Subject), Description: item(t.Description), ActiveForm: item(t.ActiveForm),
		Owner: t.Owner, Status: t.Status, Blocks: t.Blocks, BlockedBy: t.BlockedBy, Circular: t.Circular, Metadata: t.Metadata,
		When: t.When, Only: t.Only, Each: t.Each}
}

// eachLine returns the line that tells the agent for what a step is done, or "".
func (t Task) eachLine() string {
	switch {
	case t.Each == nil:
		return ""
	case t.Each.Run != nil:
		return "It is done for each line that this command prints: " + Literal(short(t.Each.Run.Run)) + ". " + startIt
	}
	return "It is done for each line of " + t.Each.Lines + ". " + startIt
}

// WithoutLines returns the description of a step in the list without the line that says for
// what it is done and when to start it: the lines have been read.
func WithoutLines(description string) string { return withoutLine(description, startIt) }

// withoutLine returns a text without the lines that have the end.
func withoutLine(text, end string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, end) }), "\n")
}

const startIt = "Start it (in_progress): the tasks for the lines come into the list then. Complete it when they are done."

// level returns the level of these entries.
func (p *parser) level(entries []*entry) level {
	var l level
	for _, e := range entries {
		s := step{task: e.task, members: e.members, parts: p.level(e.parts)}
		s.parts.machine = e.machine
		if e.task.Each != nil {
			each := *e.task.Each
			each.Workflow, each.Itself = e.workflow(), len(e.parts) == 0
			s.task.Each = &each
		}
		l.steps = append(l.steps, s)
	}
	if len(entries) > 0 && entries[0].outer == nil {
		l.machine = p.machine
	}
	return l
}

// relations are the members of a task that say how it belongs to the tasks beside it, and not
// what it is.
var relations = []string{"each", "blocks", "blockedBy", "when", "status"}

// workflow returns what is done for one line, as an fsm.json.
func (e *entry) workflow() string {
	steps := jsontext.Value(e.do)
	if len(e.parts) == 0 {
		inner := eachMember(e.raw, func(name string, value jsontext.Value) []byte {
			if slices.Contains(relations, name) {
				return nil
			}
			return value
		})
		steps = append(append(jsontext.Value("["), inner...), ']')
	}
	steps = slices.Clone(steps)
	_ = steps.Compact() // the file is valid
	return fmt.Sprintf(`{"fsm":%d,"steps":%s}`, WithOutcomes, steps)
}

func (l level) len() (n int) {
	for _, s := range l.steps {
		n += 1 + s.parts.len()
	}
	return n
}

// planned returns how many tasks a plan creates for the level: what is done for lines is not
// known yet.
func (l level) planned() (n int) {
	for _, s := range l.steps {
		if n++; s.task.Each == nil {
			n += s.parts.planned()
		}
	}
	return n
}

func (l level) tasks() []Task {
	if l.steps == nil {
		return nil
	}
	tasks := make([]Task, len(l.steps))
	for i, s := range l.steps {
		tasks[i] = s.task
		tasks[i].Parts = s.parts.tasks()
	}
	return tasks
}

// last returns the ids of the tasks that no other task of the level comes after.
func (l level) last() (ids []int64) {
	before := map[int64]bool{}
	for _, s := range l.steps {
		for _, id := range s.task.BlockedBy {
			before[id] = true
		}
	}
	for _, s := range l.steps {
		if !before[s.task.ID] {
			ids = append(ids, s.task.ID)
		}
	}
	return ids
}

// connect warns about the dependencies of a valid file and completes BlockedBy, level by
// level.
func (p *parser) connect(entries []*entry, prove extent) {
	plain := p.version != WithOutcomes
	if prove != provenFile {
		warnGraph(entries, &p.warnings, plain)
	}
	mirror(entries)
	if plain && (prove == provenFile || slices.ContainsFunc(p.warnings.findings, func(f finding) bool { return f.effect })) {
		loosen(entries)
	}
	for _, e := range entries {
		p.connect(e.parts, prove)
	}
}

// proveAll proves the levels, each for itself: for the level around it a task with parts is one
// step. It returns the machine of this level.
func (p *parser) proveAll(entries []*entry) *machine.Machine {
	steps := make([]machine.Step, len(entries))
	for i, e := range entries {
		steps[i] = e.declared()
	}
	m := p.prove(entries, steps)
	for _, e := range entries {
		switch {
		case len(e.parts) > 0:
			p.checkParts(e)
			e.machine = p.proveAll(e.parts)
		case e.task.Each != nil && p.leadsBackToItself(e):
			s := e.task.ForMachine()
			s.BlockedBy, s.When, s.Result = nil, nil, true
			e.machine = p.prove([]*entry{e}, []machine.Step{s})
		}
	}
	return m
}

// declared returns the task for the machine of its level. One that is itself done for each line
// is there only the join of its copies.
func (e *entry) declared() machine.Step {
	s := e.task.ForMachine()
	if e.task.Each != nil && len(e.parts) == 0 {
		return machine.Step{ID: s.ID, BlockedBy: s.BlockedBy, When: s.When, Done: s.Done, Join: true}
	}
	s.Result = e.isResult()
	return s
}

// isResult reports whether the task is done for each line of one that it is a part of: how it
// ends is then what is found out about the line.
func (e *entry) isResult() bool {
	for o := e.outer; o != nil; o = o.outer {
		if o.task.Each != nil {
			return true
		}
	}
	return false
}

// checkParts notes parts that are not completed although their task is.
func (p *parser) checkParts(e *entry) {
	if e.task.Status != Completed || e.task.Each != nil {
		return
	}
	for _, part := range e.parts {
		if part.task.Status != Completed {
			p.problems.note(e.statusAt, e, keepsMeaning, func() (pointer, text string) {
				return e.pointer("status"), fmt.Sprintf("it is completed, and its part %s is not", part.ownName())
			})
			return
		}
	}
}

// leadsBackToItself notes the outcomes of a task that is done for each line which lead back to
// another task: each copy ends by itself. It reports whether there are none.
func (p *parser) leadsBackToItself(e *entry) bool {
	found := false
	for _, o := range e.task.Outcomes {
		if o.Back == 0 || o.Back == e.task.ID {
			continue
		}
		found = true
		at, path := e.place([]string{"outcomes", o.Name, "back"}, machine.Step{})
		p.problems.note(at, e, keepsMeaning, func() (pointer, text string) {
			return e.pointer(path...), fmt.Sprintf("%s leads back to step %d, but each line ends by itself: it can lead back only to this "+
				"step; to repeat more for each line, put the steps into do", o.Name, o.Back)
		})
	}
	return !found
}

// doType is an array of tasks, or the name of a skill.
type doType struct{}

func (doType) read(p *parser, e *entry, name string, t token) {
	if t.kind == '"' {
		p.skill(e, name, t)
		return
	}
	if t.kind != '[' {
		hint := ""
		if t.kind == '{' {
			hint = " (put it in brackets)"
		}
		p.problem(t.start, "%s must be an array of steps or the name of a skill, not %s%s", name, p.describe(t), hint)
		return
	}
	root, entries, count := p.root, p.entries, p.count
	p.root, p.entries, p.outer = e.pointer(name), nil, e
	p.tasks()
	e.parts, e.do = p.entries, p.data[t.start:p.end]
	p.root, p.entries, p.outer, p.current = root, entries, e.outer, e
	if p.count == count && !p.broken {
		p.problem(t.start, "%s has no steps: leave it out, or name the steps that this one consists of", name)
	}
}

// eachType is an object with a file or a command.
type eachType struct{}

var eachFields = []string{"lines", "run", "shell", "timeout", "dir", "env", "inTurn"}

func (eachType) read(p *parser, e *entry, name string, t token) {
	const example = `{"lines": "packages.txt"} or {"run": "ls packages"}`
	if t.kind != '{' {
		p.problem(t.start, "%s must be an object such as %s, not %s", name, example, p.describe(t))
		return
	}
	p.hasValues = true // a line can look like the name of a value
	each, run := &Each{}, p.newCheck()
	var lines, command, ofCommand, misspelt bool
	for key, value := range p.members {
		member := p.text(key)
		full := name + "." + member
		switch {
		case !slices.Contains(eachFields, member):
			meant := eachFieldMeant(member)
			misspelt = misspelt || meant == "lines" || meant == "run"
			p.problem(key.start, "unknown field %s: %s has %s%s", quoted(full), name, strings.Join(eachFields, ", "), didYouMean(meant))
		case member == "lines":
			lines = true
			each.Lines = p.filePath(full, value)
		case member == "run":
			command, each.Run = true, run
			run.Run = p.command(full, value)
		case value.kind == 'n':
		case member == "inTurn":
			if each.InTurn = value.kind == 't'; !each.InTurn && value.kind != 'f' {
				p.problem(value.start, "%s must be true or false, not %s", full, p.describe(value))
			}
		case member == "shell":
			ofCommand, run.Shell = true, p.shell(full, value)
		case member == "timeout":
			ofCommand, run.Timeout = true, p.timeout(full, value)
		case member == "env":
			ofCommand, run.Env = true, p.variables(full, value)
		default:
			ofCommand, run.Dir = true, p.directory(full, value)
		}
	}
	switch {
	case p.broken || misspelt:
	case lines && command:
		p.problem(t.start, "%s has both a file in lines and a command in run: leave one out", name)
	case !lines && !command:
		p.problem(t.start, "%s names neither a file nor a command: write %s", name, example)
	case lines && ofCommand:
		p.problem(t.start, "%s: shell, timeout, dir and env are those of a command, and lines is a file", name)
	}
	e.task.Each = each
}

// eachFieldMeant returns the member of each that an unknown one probably means, or "".
func eachFieldMeant(name string) string {
	switch fold(cut(name)) {
	case "file", "from", "in", "items", "of", "over", "path", "source":
		return "lines"
	case "order", "ordered", "oneatatime", "sequence", "sequential", "serial", "turn":
		return "inTurn"
	}
	if meant := checkFieldMeant(name, checkFields); meant != "" {
		return meant
	}
	return near(name, eachFields)
}

// filePath returns the path t of one file of the project.
func (p *parser) filePath(name string, t token) string {
	if t.kind != '"' {
		p.problem(t.start, "%s must be the path of a file, not %s", name, p.describe(t))
		return ""
	}
	text := p.text(t)
	switch wrong := pattern.PathFault(text); {
	case wrong != "":
		p.problem(t.start, "%s: %s: %s", name, quoted(text), wrong)
	case strings.HasSuffix(text, "/"), path.Base(text) == ".":
		p.problem(t.start, "%s: %s: this is a directory, want a file", name, quoted(text))
	case pattern.IsPattern(text):
		p.problem(t.start, "%s: %s: want the path of one file, not a pattern", name, quoted(text))
	default:
		p.pathUses(name, text, t)
		return path.Clean(text)
	}
	return ""
}
