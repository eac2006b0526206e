package tasks

import (
	"context"

	"github.com/fsmtx/fsmtx/txn"
)

// Open locks the list's state directory, which it creates, and finishes an interrupted
// change of the list. Files of the list itself are locked by the Lock of what it returns.
// l.Wait is not used: ctx limits the wait. Its errors are those of txn.Open and *BusyError.
func (l List) Open(ctx context.Context) (*txn.Dir, error) {
	return txn.Open(ctx, l.Dir, l.options()...)
}
