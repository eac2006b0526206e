package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// List is one task list. It need not exist.
type List struct {
	Dir  string        // its directory
	Wait time.Duration // limit on waiting for all locks together; 0 means only the context limits it
	Keep int           // how many runs Replace keeps in the history because they were changed last; 0 means txn.DefaultHistory
	FS   vfs.FS        // nil means the operating system's
	By   string        // who undoes a change, and how: Label.By of an undo

	// Changed are the tasks, by the names of their files, that only their workflow has changed since this time, at which somebody worked on
	// them last.
	Changed map[string]time.Time

	// Record, if not nil, returns what Replace stores in the history beside the label.
	Record func(*fsmspec.Plan) (Record, error)
}

// Record is what is on record of a change.
type Record struct {
	Text  string // such as the gates of the plan's steps
	Under int64  // number of the step under which the tasks come; 0 if they come under none
	Tells bool   // whether the text says what the person is to be told
}

// errTimeout is returned when a lock was not free within List.Wait.
var errTimeout = errors.New("gave up waiting")

// Read returns the state of the list, without a lock; see Form.
func (l List) Read(ctx context.Context) (snap fsmspec.Snapshot, torn []string, err error) {
	return Form.Read(ctx, l.Files(), l.Dir)
}

// Recover finishes an interrupted change of the list under the locks of its form. Its
// errors are those of txn.Recover, *BusyError and errTimeout.
func (l List) Recover(ctx context.Context) (txn.Report, error) {
	ctx, cancel := l.Waiting(ctx)
	defer cancel()
	return txn.Recover(ctx, l.Dir, l.options()...)
}

// Waiting returns a context that is cancelled after l.Wait, with errTimeout as
// its cause.
func (l List) Waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.Wait == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, l.Wait, fmt.Errorf("%w after %v", errTimeout, l.Wait))
}

// options returns the options of a transaction that does not shorten the history: only
// Replace does that, see [List.Keep].
func (l List) options() []txn.Option {
	return []txn.Option{txn.WithFS(l.Files()), txn.WithLocker(new(clientLocks)), txn.WithKeep(l.keep), txn.WithHistory(math.MaxInt)}
}

// Form is the form of every list.
var Form ClientForm

// IDs returns the ids of the tasks in the named files.
func (l List) IDs(names []string) []string {
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = Form.ID(name)
	}
	return ids
}

// Files returns the file operations with which the list is read and changed.
func (l List) Files() vfs.FS {
	if l.FS == nil {
		return vfs.OS{}
	}
	return l.FS
}

// WithStateDir returns the directories of the task lists below root that have a
// state directory, sorted: those that a transaction ever touched. If the list's
// directory is a symbolic link, the state directory is beside the link's target.
// An absent root has no lists.
func WithStateDir(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		if id, ok := txn.ParseStateDir(e.Name()); ok {
			dirs = append(dirs, filepath.Join(root, id))
		} else if e.Type()&fs.ModeSymlink != 0 && hasStateDir(path) {
			dirs = append(dirs, path)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

func hasStateDir(dir string) bool {
	s, err := txn.StateDir(dir)
	if err != nil {
		return false
	}
	_, err = os.Lstat(s)
	return err == nil
}
