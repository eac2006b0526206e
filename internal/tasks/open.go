package tasks

import (
	"context"

	"github.com/fsmtx/fsmtx/txn"
)

// Open creates and locks the list's state directory, and finishes an interrupted change
// of the list. The client's locks are taken later, by Lock of the result. Only ctx limits
// the wait; l.Wait is ignored. Its errors are those of txn.Open and *BusyError.
func (l List) Open(ctx context.Context) (*txn.Dir, error) {
	return txn.Open(ctx, l.Dir, l.options()...)
}
