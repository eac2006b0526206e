package fsmspec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// Plan returns the files to delete and to create, so that the list has the workflow, tagged
// with command. The base of the new ids is the largest id that the list has ever had,
// including those of tasks to be deleted. Invalid UTF-8 in command becomes U+FFFD.
//
// Errors: *ActiveError, ErrIDTooLarge.
func (s *Spec) Plan(command string, list Snapshot, policy Policy) (*Plan, error) {
	command = strings.ToValidUTF8(command, "\uFFFD")
	replaced := policy.replaced(command, list.Tasks)
	if policy.Active == ActiveRefuse && underWay(replaced) {
		return nil, &ActiveError{replaced}
	}
	base := max(list.MaxID, list.HighWater)
	if top := s.largestID(); top > 0 && top > MaxID-base {
		return nil, fmt.Errorf("%w, and new ids follow the largest one in the task list: %s", ErrIDTooLarge, list.lower(MaxID-top))
	}
	plan := &Plan{oldHighWater: list.HighWater, highWater: list.HighWater}
	plan.values = shown(s.Initial(policy.Args))
	plan.create(s.steps, command, Level{Base: base}, plan.values)
	for _, e := range replaced {
		plan.deletions = append(plan.deletions, Deletion{e.Name, e.Subject, e.Status})
	}
	plan.raiseHighWater(list.MaxID)
	return plan, nil
}

// largestID returns by how much the numbers of the tasks, with their parts, exceed the base.
func (s *Spec) largestID() int64 { return s.steps.numbers() }

// numbers returns how many numbers a level takes: those up to its largest local id, and then
// those of the parts of its tasks.
func (l level) numbers() int64 {
	n := l.largestID()
	for _, s := range l.steps {
		if s.task.Each == nil {
			n += s.parts.numbers()
		}
	}
	return n
}

// largestID returns the largest local id of the level, 0 if it has no tasks.
func (l level) largestID() (largest int64) {
	for _, s := range l.steps {
		largest = max(largest, s.task.ID)
	}
	return largest
}

// Level is the tasks of a plan that are of one array of the file.
type Level struct {
	Parent int64  // actual id of the task that consists of them; 0 for the outermost level
	Base   int64  // actual id = Base + local id
	Tasks  []Task // in the order of the file

	After  []int64 // actual ids of tasks of other levels that come before the tasks without BlockedBy
	InTurn []int64 // those of After that are the last of the copy before this one
}

// Flat returns the tasks of the files to create as if they were of one level: their ids and
// those that they name are actual ones less the base of the outermost level, and BlockedBy has
// the tasks of other levels that come before, too. The texts are those that the list shows, so
// what they say is left out elsewhere: of Flow there is Only.
func (p *Plan) Flat() (all []Task) {
	for _, l := range p.levels {
		for _, t := range l.Tasks {
			base := p.levels[0].Base
			t.BlockedBy = append(numbersOf(l.Base-base, t.BlockedBy), numbersOf(-base, p.creations[len(all)].after)...)
			t.Blocks = numbersOf(l.Base-base, t.Blocks)
			t.Description = t.Shown(l.Base)
			if p.values != nil {
				t.Subject, t.Description, t.ActiveForm = FillLine(t.Subject, p.values), Fill(t.Description, p.values), FillLine(t.ActiveForm, p.values)
			}
			t.Flow, t.Skill, t.Each, t.Parts = Flow{Only: t.Flow.Only}, "", nil, nil
			t.ID += l.Base - base
			all = append(all, t)
		}
	}
	return all
}

// PartOf returns, for each of the files to create, the actual id of the task that it is a part
// of, or 0.
func (p *Plan) PartOf() (ids []int64) {
	for _, l := range p.levels {
		for range l.Tasks {
			ids = append(ids, l.Parent)
		}
	}
	return ids
}

// create adds the tasks of a level, with these values in their texts unless they are nil, then those of the levels below, each with the numbers that
// follow. What is done for the lines of a task is not created: the lines are not known yet.
//
// The parts of a task come after what it comes after, and it comes after the last of them.
func (p *Plan) create(l level, command string, at Level, values map[string]string) {
	at.Tasks = l.tasks()
	for i := range at.Tasks {
		at.Tasks[i].becomeJoin()
	}
	p.levels = append(p.levels, at)
	next := at.Base + l.largestID()
	bases := make([]int64, len(l.steps)) // of the parts
	for i, s := range l.steps {
		var after []int64
		if len(s.task.BlockedBy) == 0 {
			after = slices.Clone(at.After)
		}
		if bases[i] = next; s.task.Each == nil {
			for _, id := range s.parts.last() {
				after = append(after, next+id)
			}
			next += s.parts.numbers()
		}
		p.creations = append(p.creations, taskFile{&at.Tasks[i], s.members, at.Base, command, after, values}.creation())
	}
	for i, s := range l.steps {
		if len(s.parts.steps) == 0 || s.task.Each != nil {
			continue
		}
		below := Level{Parent: at.Base + s.task.ID, Base: bases[i]}
		for _, id := range s.task.BlockedBy {
			below.After = append(below.After, at.Base+id)
		}
		if len(s.task.BlockedBy) == 0 {
			below.After = at.After
		}
		p.create(s.parts, command, below, values)
	}
}

// lower returns what a person must do so that the base of new ids is at most limit.
func (s Snapshot) lower(limit int64) string {
	var steps []string
	if s.MaxID > limit {
		steps = append(steps, "move "+cmp.Or(visible.Line(s.MaxName), "the file with the largest number")+" out of the list")
	}
	if s.HighWater > limit {
		steps = append(steps, "delete .highwatermark, whose number is too large")
	}
	return strings.Join(steps, " and ")
}

// raiseHighWater raises the mark if the plan deletes the file with the largest number and
// creates no files: otherwise the client would use that number again. Numbers above MaxID
// are not ids. If the list has a file with such a number, the largest id is not known, so
// the mark is raised to every deleted id.
func (p *Plan) raiseHighWater(largest int64) {
	if len(p.creations) > 0 {
		return
	}
	for _, d := range p.deletions {
		n, _ := number(d.Name)
		if n <= MaxID && (n >= largest || largest > MaxID) {
			p.highWater = max(p.highWater, n)
		}
	}
}

// replaced returns the tasks that a plan deletes, by number, then by name. Names
// without a number come last.
func (p Policy) replaced(command string, tagged []Existing) []Existing {
	var replaced []Existing
	for _, e := range tagged {
		if p.Scope == ScopeAll || e.Tag == command {
			replaced = append(replaced, e)
		}
	}
	order := func(name string) int64 {
		if n, ok := number(name); ok {
			return n
		}
		return math.MaxInt64
	}
	slices.SortFunc(replaced, func(a, b Existing) int {
		return cmp.Or(cmp.Compare(order(a.Name), order(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return replaced
}

// number returns the number that the client reads from a file name: its leading digits. ok is
// false, and n is 0, if it has none.
func number(name string) (n int64, ok bool) {
	digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	if digits == "" {
		return 0, false
	}
	n, _ = strconv.ParseInt(digits, 10, 64) // math.MaxInt64 if it is larger
	return n, true
}

// underWay reports whether work on the tasks has begun and not ended: a task is in progress,
// or not all have the same status.
func underWay(tasks []Existing) bool {
	return slices.ContainsFunc(tasks, func(e Existing) bool {
		return e.Status == InProgress.String() || e.Status != tasks[0].Status
	})
}

// maxNamed is how many tasks an ActiveError names. The number of all is in its text.
const maxNamed = 20

// Error lists the tasks as #ID "subject" (status), and says how many there are if they are more
// than maxNamed.
func (e *ActiveError) Error() string {
	named := e.Tasks[:min(len(e.Tasks), maxNamed)]
	names := make([]string, len(named))
	for i, t := range named {
		names[i] = fmt.Sprintf("#%s %s (%s)", visible.Line(strings.TrimSuffix(t.Name, ".json")), quoted(t.Subject), cmp.Or(visible.Line(t.Status), "no status"))
	}
	if more := len(e.Tasks) - len(named); more > 0 {
		return fmt.Sprintf("%d tasks about to be deleted are under way: %s and %d more", len(e.Tasks), strings.Join(names, ", "), more)
	}
	return "tasks about to be deleted are under way: " + strings.Join(names, ", ")
}

func (f taskFile) creation() Creation {
	id := f.base + f.task.ID
	return Creation{
		Name:    strconv.FormatInt(id, 10) + ".json",
		ID:      id,
		Subject: f.subject(),
		Content: f.content(),
		after:   f.after,
	}
}

func (f taskFile) subject() string {
	if f.values == nil {
		return f.task.Subject
	}
	return FillLine(f.task.Subject, f.values)
}

// content returns the file as the client itself would write it: every field of a task,
// indented by two spaces, strings in their shortest form, numbers as fsm.json spells them.
func (f taskFile) content() string {
	b := make([]byte, 0, 512)
	for i, field := range fields {
		written, ok := field.typ.(writtenType)
		if !ok {
			continue
		}
		b = append(b, "{,"[min(i, 1)])
		b = append(appendQuoted(b, field.name), ':')
		b = written.write(b, f)
	}
	b = append(b, '}')
	// b is valid JSON, so there is no error.
	b, _ = jsontext.AppendFormat(nil, b, jsonx.Tolerant, jsontext.WithIndent("  "))
	return string(b)
}

// String returns the plan as a diff with one line for each file: "-" is a file to delete, "+"
// one to create and "!" a high-water mark to raise. For example, without the quotes:
//
//	"- 3.json   Set up (in_progress)"
//	"+ 10.json  Set up"
//	"+ 11.json  Deploy (blocked by #10)"
//	"! .highwatermark 3 -> 9"
//
// Each line ends with a line feed. An empty plan has no lines.
func (p *Plan) String() string {
	width := p.width()
	var diff strings.Builder
	for _, d := range p.deletions {
		writeLine(&diff, '-', width, d.Name, d.Subject, remark(d.Status))
	}
	i := 0
	for _, l := range p.levels {
		for _, t := range l.Tasks {
			writeLine(&diff, '+', width, p.creations[i].Name, p.creations[i].Subject, t.remarks(l, p.creations[i].after))
			i++
		}
	}
	if mark, raise := p.HighWater(); raise {
		fmt.Fprintf(&diff, "! .highwatermark %d -> %d\n", p.oldHighWater, mark)
	}
	return diff.String()
}

// width returns the length of the longest file name in characters.
func (p *Plan) width() int {
	width := 0
	for _, d := range p.deletions {
		width = max(width, utf8.RuneCountInString(visible.Line(d.Name)))
	}
	for _, c := range p.creations {
		width = max(width, len(c.Name))
	}
	return width
}

func writeLine(diff *strings.Builder, sign rune, width int, name, subject, remarks string) {
	text := visible.Line(subject)
	if remarks != "" {
		text = strings.TrimLeft(text+" ("+remarks+")", " ")
	}
	line := fmt.Sprintf("%c %-*s  %s", sign, width, visible.Line(name), text)
	diff.WriteString(strings.TrimRight(line, " ") + "\n")
}

// remark returns a status, or "" for pending.
func remark(status string) string {
	if status == Pending.String() {
		return ""
	}
	return visible.Line(status)
}

// remarks returns the text in parentheses after the subject of a created task.
func (t *Task) remarks(l Level, after []int64) string {
	base := l.Base
	var remarks []string
	if status := remark(t.Status.String()); status != "" {
		remarks = append(remarks, status)
	}
	if blockers := append(numbersOf(base, t.BlockedBy), after...); len(blockers) > 0 {
		remarks = append(remarks, "blocked by "+idList(blockers))
	}
	if len(t.Blocks) > 0 {
		remarks = append(remarks, "blocks "+idList(numbersOf(base, t.Blocks)))
	}
	return strings.Join(remarks, ", ")
}

// numbersOf returns the actual ids of local ones.
func numbersOf(base int64, local []int64) (ids []int64) {
	for _, id := range local {
		ids = append(ids, base+id)
	}
	return ids
}

func idList(ids []int64) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = fmt.Sprintf("#%d", id)
	}
	return strings.Join(names, ", ")
}
