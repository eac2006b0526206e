package tasklist

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// errInUse is returned by Forget when the quarantine in the state directory has files.
var errInUse = errors.New("not removed")

// Forget removes the state directory of a list, after which deleted tasks cannot be
// restored. It first finishes an interrupted hydration. It does not remove files in the
// quarantine, because they belong to other programs. It waits for the locks as long as Wait.
//
// Errors: errInUse, those of tasks.List.Open, or the file system's.
func Forget(ctx context.Context, dir string) (err error) {
	list := tasks.List{Dir: dir, Wait: Wait}
	ctx, cancel := list.Waiting(ctx)
	defer cancel()
	s, err := txn.StateDir(dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(s); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	open, err := list.Open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if unreleased := open.Close(); unreleased != nil {
			err = errors.Join(err, fmt.Errorf("a lock could not be released: %w", unreleased))
		}
	}()
	aside, err := open.Files().ReadDir(s + "/conflicts")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(aside) > 0 {
		return fmt.Errorf("%s: %w: it holds files that were moved aside; inspect them and remove them first", s+"/conflicts", errInUse)
	}
	return open.Forget()
}
