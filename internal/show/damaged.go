package show

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn"
)

// damaged says which hydration cannot be read, from which file and why, what that means, and
// what to do.
func damaged(e txn.Entry) error {
	name := "a call"
	if e.Number != 0 {
		name = fmt.Sprintf("call %d", e.Number)
	}
	if errors.Is(e.Err, txn.ErrJournalVersion) {
		return fmt.Errorf("%s was recorded by another version of fsmtx: %w. That version shows and undoes it", name, e.Err)
	}
	return fmt.Errorf("the record of %s cannot be read: %w. It cannot be shown or undone, and of its steps only the order is enforced. "+
		"Its tasks were not changed. Call the skill again, which replaces them, or restore the file from a backup", name, e.Err)
}

// unreadable says why the history of the list in dir cannot be read, and what to do.
func unreadable(dir string, err error) error {
	state, stateErr := txn.StateDir(dir)
	if stateErr != nil {
		return err
	}
	switch {
	case errors.Is(err, safefile.ErrOfOther): // it says what mends it
	case errors.Is(err, txn.ErrUntrustedDir):
		err = fmt.Errorf("%w. Make %s yours alone (chmod 700), or remove it if another user made it", err, state)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w. Make %s readable by you (chmod 700)", err, state)
	}
	return fmt.Errorf("the history of the task list %s cannot be read: %w", dir, err)
}
