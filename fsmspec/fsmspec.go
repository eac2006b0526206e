package fsmspec

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Limits of the format.
const (
	// MaxBytes is the largest size of a file.
	MaxBytes = 8 << 20
	// MaxTasks is the largest number of tasks in a file.
	MaxTasks = 1000
	// MaxDepth is the deepest nesting of arrays and objects: the array of tasks is
	// level 1, a task level 2.
	MaxDepth = 100
	// MaxLocalID is the largest id in a file. One invocation may raise the ids of a list
	// by that much, and the list must stay below MaxID for many invocations.
	MaxLocalID = 1_000_000
	// MaxID is the largest id in a task list, 2^53-1. Programs that count with JavaScript's
	// numbers are exact up to here. Beyond it several tasks would get the same number.
	MaxID = 9007199254740991
	// MaxProblems is the largest number of problems, and of warnings, that are listed.
	// All pointers of a list together are limited to about MaxBytes. Without these
	// limits the report about a broken file could be many times the size of the file.
	// If some were left out, one more entry at the end gives their number.
	MaxProblems = 10_000
)

// ErrIDTooLarge is returned by [Spec.Plan] when a task would get an id above MaxID.
var ErrIDTooLarge = errors.New("no task id may be larger than 9007199254740991 (2^53-1)")

// Spec is a valid file.
type Spec struct {
	text     string
	version  int
	steps    level
	warnings []Problem

	vars      []Var
	hasValues bool
}

// Task is one entry of a file. Optional fields that were left out are empty, but BlockedBy is completed from Blocks of the other
// entries and from When.
//
// In a file IDs are local. In a [Level] of a plan they are the numbers of the list, also those of other tasks that it names, and
// Description is what the list shows.
type Task struct {
	ID          int64
	Local       int64 // ID in the file
	Subject     string
	Description string
	ActiveForm  string
	Owner       string
	Status      Status
	Blocks      []int64 // as in this entry; not completed from BlockedBy of the others
	// without repetition: those in this entry, then, in the order of the file, the entries whose
	// Blocks name this one, then the steps of Flow.When
	BlockedBy []int64
	// those of BlockedBy that wait for this entry themselves: they do not hold it up; in version Plain only. In a Level they are not in
	// BlockedBy.
	Circular []int64
	Metadata string // the JSON object as the file spells it; "" if left out

	// What follows is not in the task of the list, because the agent can edit that. The gates:
	Produces []string // patterns; for each of them a file must exist when the task is completed
	Ready    []string // patterns; for each of them a file must exist when the task is started
	Check    *Check   // nil if left out
	Approval string   // the question to which a person must say yes; "" if left out
	Skill    string   // has to be called while the task is in progress, before it is completed; "" if none

	// How the task belongs to a workflow with outcomes; empty in a file of version Plain.
	Outcomes []Outcome     // in the order of the file; without an implied "done"
	Decides  Decider       // who says which outcome
	Chooser  *Check        // the command that says it, if Decides is ByCommand: the last line of its output
	When     []Condition   // the step is needed only if all of them hold; their steps come before it
	Only     []string      // permission rules: calls that are refused unless a step that lists them is in progress
	Set      []Value       // the values that completing the step gives, in the order of the file
	Within   time.Duration // its time limit, measured from its start in each round; 0 if there is none
	Parts    []Task        // what the task consists of, in the order of the file; ids are those of this level
	Each     *Each         // lines, for each of which the parts, or without parts the task itself, are done; nil if left out
}

// Status is the progress of a task.
type Status int

// The statuses of a task.
const (
	Pending Status = iota // the default
	InProgress
	Completed
)

// Problem is an error or a warning about one place in a file.
type Problem struct {
	Line    int    // from 1; lines end with a line feed
	Column  int    // from 1; in characters (Unicode code points), not bytes
	Offset  int64  // from 0; in bytes
	Pointer string // RFC 6901; "" is the whole file, "/0/id" the id of the first task
	Message string // one line, without the position
	Warning bool   // the file is valid nevertheless

	// ChangesMeaning is set for a warning about a cycle or a task that blocks itself:
	// the workflow cannot be carried out as it is written, because tasks block each
	// other or themselves. The file is valid nevertheless, because task
	// lists accept such dependencies. A caller that creates the tasks should tell the
	// person and the agent.
	ChangesMeaning bool
}

// InvalidError is returned by [Parse] for an invalid file. It lists everything that is
// wrong, in the order of the file. Its text does not include the warnings.
type InvalidError struct {
	Problems []Problem
	Warnings []Problem
}

// Existing is a task in the list that has the [Tag]: a plan created it.
type Existing struct {
	ID      string // of the task in its list, such as "3"; it may be any text
	Number  int64  // the one in the id; 0 if it has none, math.MaxInt64 if it is larger than that
	Tag     string // the value of the tag: the name of the command that created it
	Subject string
	Status  string // as the list spells it; may not be a valid Status
}

// Snapshot is what a plan needs to know about a task list.
type Snapshot struct {
	MaxID     int64      // the largest number of a task, 0 if there is none
	MaxName   string     // what a person has to move out of the list so that it has not that number, for messages; may be empty
	HighWater int64      // the largest number that a task is remembered to have had, 0 if there is none
	MarkName  string     // what a person has to delete so that it is forgotten, for messages; may be empty
	Tasks     []Existing // those with the tag
}

// Scope selects the tagged tasks that a plan deletes.
type Scope int

const (
	// ScopeAll deletes every tagged task.
	ScopeAll Scope = iota
	// ScopeSkill deletes the tasks that the same command created.
	ScopeSkill
)

// Active tells what a plan does with tasks that are under way.
type Active int

const (
	// ActiveReset deletes them like all others.
	ActiveReset Active = iota
	// ActiveRefuse fails with an *ActiveError if one of the tasks to be deleted is in
	// progress, or if they do not all have the same status.
	ActiveRefuse
)

// Policy has the options of [Spec.Plan]. The zero value deletes every tagged task,
// regardless of its status.
type Policy struct {
	Scope  Scope
	Active Active
	Args   string // the arguments of the call of the skill, for {args}
}

// ActiveError is returned by [Spec.Plan] when ActiveRefuse applies. Tasks has all
// tasks that would have been deleted, in the order of [Plan.Deletions].
type ActiveError struct {
	Tasks []Existing
}

// Plan lists the tasks to delete from a task list and the tasks to create in it.
type Plan struct {
	base         int64 // of the outermost level
	deletions    []Deletion
	creations    []Creation
	levels       []Level           // of the creations
	values       map[string]string // in their texts; nil if there are none
	oldHighWater int64
	highWater    int64
}

// Deletion is a task to delete.
type Deletion = Existing

// Creation is a task to create, with values in its texts.
type Creation struct {
	ID          int64 // actual
	Subject     string
	Description string // see [Task.Shown]
	ActiveForm  string
	Owner       string
	Status      Status
	Blocks      []int64 // actual ids
	BlockedBy   []int64 // actual ids, those of tasks of other levels that come before among them
	Metadata    string  // a JSON object, spelled as in the file, with the [Tag] as its last member
}

// Len returns the number of tasks, with the parts of tasks.
func (s *Spec) Len() int { return s.steps.len() }

// Planned returns the number of tasks that a plan creates: all but those that are done for each
// line of something, which is not known yet.
func (s *Spec) Planned() int { return s.steps.planned() }

// Tasks returns the tasks in the order of the file. Those that others consist of are in their
// Parts.
func (s *Spec) Tasks() []Task { return s.steps.tasks() }

// Text returns the file.
func (s *Spec) Text() string { return s.text }

// Version returns Plain or WithOutcomes.
func (s *Spec) Version() int { return s.version }

// Bound returns how many steps are completed at most until the workflow ends: the number of
// its tasks in version Plain.
func (s *Spec) Bound() Bound { return s.steps.bound(nil) }

// Warnings returns the warnings about the file, in the order of the file. They are about
//
//   - unknown fields, and the key "fsm" of metadata
//   - dependencies that are cyclic or listed twice, and tasks that block themselves
//   - tasks in progress that another task blocks
//   - patterns that are listed twice
//   - subjects that are long or have invisible characters
//
// At most 100 cycles are listed, each at a reference that closes it.
func (s *Spec) Warnings() []Problem { return slices.Clone(s.warnings) }

// Deletions returns the tasks to delete, by number, then by id. Those without a number come last.
func (p *Plan) Deletions() []Deletion { return slices.Clone(p.deletions) }

// Levels returns the tasks to create, the outermost level first. Together they are
// in the order of Creations.
func (p *Plan) Levels() []Level { return slices.Clone(p.levels) }

// Creations returns the tasks to create, in the order of fsm.json: a level whole, then the
// parts of its tasks.
func (p *Plan) Creations() []Creation { return slices.Clone(p.creations) }

// HighWater returns the high-water mark that the list must have before the tasks are
// deleted. raise reports whether it is higher than the present one.
func (p *Plan) HighWater() (mark int64, raise bool) { return p.highWater, p.highWater > p.oldHighWater }

// Empty reports whether there is nothing to delete and nothing to create.
func (p *Plan) Empty() bool { return len(p.deletions) == 0 && len(p.creations) == 0 }

// statuses are the words of the values of Status.
var statuses = []string{"pending", "in_progress", "completed"}

const statusWords = "pending, in_progress or completed"

// String returns "pending", "in_progress" or "completed".
func (s Status) String() string {
	if text, err := s.MarshalText(); err == nil {
		return string(text)
	}
	return fmt.Sprintf("status(%d)", int(s))
}

// MarshalText fails for a value that is not one of the constants.
func (s Status) MarshalText() ([]byte, error) {
	if s < 0 || int(s) >= len(statuses) {
		return nil, fmt.Errorf("%d is not a status", int(s))
	}
	return []byte(statuses[s]), nil
}

// UnmarshalText fails for a text that String does not return for a constant.
func (s *Status) UnmarshalText(text []byte) error {
	i := slices.Index(statuses, string(text))
	if i < 0 {
		return fmt.Errorf("unknown status %q: want %s", text, statusWords)
	}
	*s = Status(i)
	return nil
}

// String returns "all" or "skill".
func (s Scope) String() string { return map[Scope]string{ScopeAll: "all", ScopeSkill: "skill"}[s] }

// Fields returns the names of the fields of a task: first those that a list shows, then the
// gates.
func Fields() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// NeedsObject reports whether a field of a task is one that only the object form has.
func NeedsObject(name string) bool { return isReserved(fieldIndex(name)) }

// HasPatterns reports whether a field of a task is an array of patterns for files.
func HasPatterns(field string) bool {
	i := fieldIndex(field)
	if i < 0 {
		return false
	}
	_, is := fields[i].typ.(patternsType)
	return is
}

// FieldMeant returns the field of a task that an unknown field name probably means, because
// it is a misspelling or what other formats call that field. It returns "" if there is none.
func FieldMeant(name string) string {
	if meant := fieldMeant(name); meant != checkMember {
		return meant
	}
	return ""
}
