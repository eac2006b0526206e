// Package projection says in what form a program keeps its task list.
//
// The state of a workflow is its record and its evidence; see package steps. A task list
// only shows it, in files that are the program's own: their names, their text, their locks
// and the number that the next task gets. A [Form] knows these of one program. Everything
// else that is done with a list is the same for all of them: see package tasks.
package projection

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Texts is what the files of the tasks look like, each of which is JSON.
type Texts interface {
	// Name returns the name of the file of the task with this id.
	Name(id string) string
	// ID returns the id of the task in a file with this name, as people know it.
	ID(name string) string
	// File returns the file of a task that a plan creates, with the mode that the program gives
	// it.
	File(c fsmspec.Creation) txn.File
	// Decode returns the task in the text of a file, or nil if it is not one.
	Decode(data []byte) *Task
}

// Form is the form in which a program keeps a task list: a directory with a file for each task.
// Files that are not tasks in this form are the program's own and are left alone.
type Form interface {
	Texts

	// Number returns the number that the program reads from the name of a file or an id. It is 0 if
	// the name has none, and math.MaxInt64 if it is larger than that.
	Number(name string) int64
	// IsTask reports whether the program treats a file with this name as a task.
	IsTask(name string) bool

	// Hides returns the key of a task's metadata by which the program hides the task from the
	// list.
	Hides() string

	// SetStatus returns the text of a task with another status. Every other byte is kept.
	SetStatus(data []byte, status string) ([]byte, error)
	// Edit returns the text of a task after a change of what Decode returns, but for the id and
	// the owner. What the change leaves as it is stays, and so does what Task has no field for.
	Edit(data []byte, change func(*Task) error) ([]byte, error)

	// Each calls use with the index and the text of each of the named files. The text is
	// valid until use returns. Files that cannot be tasks, or cannot be read, are skipped
	// without an error. An absent dir has none.
	Each(dir string, names []string, use func(i int, data []byte)) error
	// Read returns the state of a list. torn has the names of files that another program may
	// be writing: read them again under their locks. An absent dir is an empty list.
	Read(ctx context.Context, files vfs.FS, dir string) (snap fsmspec.Snapshot, torn []string, err error)
	// ReadNamed returns those of the named files that are tasks of a workflow.
	ReadNamed(ctx context.Context, files vfs.FS, dir string, names []string) ([]fsmspec.Existing, error)
	// RaiseMark makes the program give no later task of the list a number up to id. scratch
	// is a directory on the same file system for temporary files.
	RaiseMark(files vfs.FS, dir, scratch string, id int64) error

	// Locker returns the program's locks, for one transaction. Its errors are *BusyError and
	// ErrLockLost.
	Locker() txn.Locker
}

// Task is a task as a list shows it. As JSON it has the form of `fsmtx status --json`.
type Task struct {
	ID          string         `json:"id"` // "" if the file does not tell it
	Subject     string         `json:"subject"`
	Description string         `json:"description,omitzero"`
	ActiveForm  string         `json:"activeForm,omitzero"`
	Status      string         `json:"status"` // as the file spells it; may not be a valid fsmspec.Status
	Owner       string         `json:"owner,omitzero"`
	BlockedBy   []string       `json:"blockedBy"`
	Metadata    jsontext.Value `json:"-"` // nil if there is none
}
