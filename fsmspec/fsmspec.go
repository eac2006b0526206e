package fsmspec

import "errors"

const (
	// MaxBytes bounds a file.
	MaxBytes = 8 << 20
	// MaxTasks bounds the entries of a file.
	MaxTasks = 1000
	// MaxDepth bounds nesting: the array of tasks is level 1, a task level 2.
	MaxDepth = 100
	// MaxID is the largest id, local or actual: the client counts with
	// JavaScript numbers, which are exact up to here.
	MaxID = 1<<53 - 1
	// MaxProblems bounds the problems that are listed, so that the report of a
	// broken file cannot outgrow the file many times over; together they are no
	// longer than a file may be. A last problem says how many more there are.
	MaxProblems = 10_000
)

// Status values of a task.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
)

var (
	// ErrIDTooLarge means that a task would get an id above MaxID.
	ErrIDTooLarge = errors.New("no task id may be larger than 9007199254740991 (2^53-1)")
	// ErrNotJSON means that the bytes of a task file are no JSON text. The
	// client does not write its files atomically, so it may be half written.
	ErrNotJSON = errors.New("not valid JSON")
	// ErrUnknownScope means that a word names no Scope.
	ErrUnknownScope = errors.New("unknown scope")
	// ErrUnknownActive means that a word names no Active.
	ErrUnknownActive = errors.New("unknown policy for active tasks")
)

// Spec is a valid file. It does not keep the bytes it was parsed from.
type Spec struct {
	tasks    []task
	warnings []Problem
}

// Task is one entry of a file. IDs are local. Fields that were left out are
// empty; Status is then Pending.
type Task struct {
	ID          int64
	Subject     string
	Description string
	ActiveForm  string
	Owner       string
	Status      string  // Pending, InProgress or Completed
	Blocks      []int64 // as stated in this entry: not mirrored from BlockedBy of others
	BlockedBy   []int64
	Metadata    string // the JSON object as the file spells it; "" if left out
}

// Problem is one thing wrong with a file, or worth a warning.
type Problem struct {
	Line    int    // from 1; lines end with a line feed
	Column  int    // from 1; counts Unicode code points, not bytes
	Offset  int64  // from 0; counts bytes
	Pointer string // RFC 6901; "" is the whole file, "/0/id" the id of the first task
	Message string // one line that stands alone, without the position
	Warning bool   // the file is valid all the same
}

// InvalidError is everything that is wrong with a file, in the order of the
// file. Warnings are what else is worth saying about it; Error leaves them out.
type InvalidError struct {
	Problems []Problem
	Warnings []Problem
}

// Kind says whose a file of a task list is.
type Kind int

const (
	// Foreign is no JSON object: nobody's.
	Foreign Kind = iota
	// Manual is a JSON object without a tag: made by the client or by hand.
	Manual
	// Tagged is a JSON object whose metadata is an object with the key "fsm",
	// whatever its value: made by a plan.
	Tagged
)

// Existing is a task file of the list. All but Name are only filled in for a
// Tagged one, and are empty where the file holds no string.
type Existing struct {
	Name    string // "3.json"
	Tag     string // metadata.fsm: the name of the command that made it
	Subject string
	Status  string
}

// Snapshot is what a plan must know of a task list.
type Snapshot struct {
	MaxID     int64      // the largest number among the names of the list, 0 if there is none
	HighWater int64      // the client's high-water mark, 0 if there is none
	Tasks     []Existing // those that are Tagged
}

// Scope says which tagged tasks a plan deletes.
type Scope int

const (
	// ScopeAll deletes every tagged task, whichever command made it.
	ScopeAll Scope = iota
	// ScopeSkill deletes only what the same command made.
	ScopeSkill
)

// Active says what a plan does about tasks that somebody may be working on.
type Active int

const (
	// ActiveReset deletes them like any other.
	ActiveReset Active = iota
	// ActiveRefuse fails with an *ActiveError if one of the tasks about to be
	// deleted is in progress, or if they are not all of one status.
	ActiveRefuse
)

// Policy is what the caller of Plan may choose. Its zero value deletes every
// tagged task, whatever its status.
type Policy struct {
	Scope  Scope
	Active Active
}

// ActiveError means that ActiveRefuse refused. Tasks are all those that would
// have been deleted, in the order of Plan.Deletions.
type ActiveError struct {
	Tasks []Existing
}

// Plan is what a task list must lose and gain.
type Plan struct {
	deletions []Deletion
	creations []Creation
	tasks     []task // one a creation
	base      int64  // added to the ids of tasks
	from      int64  // the high-water mark as it was
	mark      int64  // and as it must be
}

// Deletion is a task file that must go.
type Deletion struct{ Name, Subject, Status string }

// Creation is a task file that must come.
type Creation struct {
	Name    string // "8.json"
	ID      int64  // actual
	Subject string
	Content string // the bytes of the file, without a line feed at the end, as the client writes it
}
