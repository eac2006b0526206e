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
	Dir  string        // its directory; see Dir
	Wait time.Duration // limit on the wait for all locks together; 0 is no limit but the context's
	Keep int           // how many changes Replace keeps to be undone; 0 is txn.DefaultHistory
	FS   vfs.FS        // nil is the operating system's

	// Record returns what the transaction of a Replace records beside its label, such
	// as what the tasks of the plan are to be held to. nil records nothing.
	Record func(*fsmspec.Plan) (string, error)
}

// ErrTimeout is returned when a lock was not free within List.Wait.
var ErrTimeout = errors.New("gave up waiting")

// Recover finishes an interrupted change of the list under the client's locks. Its
// errors are those of txn.Recover, *BusyError and ErrTimeout.
func (l List) Recover(ctx context.Context) (txn.Report, error) {
	ctx, cancel := l.Waiting(ctx)
	defer cancel()
	return txn.Recover(ctx, l.Dir, l.options()...)
}

// Waiting returns a context that is cancelled after l.Wait, with ErrTimeout as
// its cause.
func (l List) Waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.Wait == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, l.Wait, fmt.Errorf("%w after %v", ErrTimeout, l.Wait))
}

// options are those of a transaction that does not shorten the history: only Replace
// knows how long it is to be.
func (l List) options() []txn.Option {
	return []txn.Option{txn.WithFS(l.files()), txn.WithLocker(new(Locks)), txn.WithKeep(l.isInUse), txn.WithHistory(math.MaxInt)}
}

// isInUse reports whether the list has a task of a transaction that recorded something:
// without its record nobody could tell what the task is to be held to. If that cannot be
// determined the answer is yes.
func (l List) isInUse(e txn.Entry) bool {
	return e.Record != "" && slices.ContainsFunc(e.Created, func(f txn.EntryFile) bool {
		_, err := l.files().Lstat(filepath.Join(l.Dir, f.Name))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

func (l List) files() vfs.FS {
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
