package hydrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fsmtx/fsmtx/internal/startup"
)

var (
	// ErrDeadline is the cause with which InTime cancels the context.
	ErrDeadline = errors.New("the client would soon end this hook")
	// ErrAbandoned is returned by InTime for work that did not end in time.
	ErrAbandoned = errors.New("a file system does not answer")
	// ErrInternal is returned by InTime for work that panicked.
	ErrInternal = errors.New("internal error")
)

// InTime runs work with a context that is cancelled after soft. It returns when work has
// ended, but at the latest after hard, with ErrAbandoned. A system call on a file system
// that does not answer cannot be interrupted, and the agent is not informed when the
// client kills a hook (fact 46, client 2.1.329). Abandoned work continues until the
// process ends. For a transaction that is a crash at an arbitrary point: recovery
// completes it or rolls it back.
//
// If work panics, InTime returns ErrInternal. Otherwise the program would end with exit
// code 2, with which the client stops a prompt or a tool call.
func InTime[T any](ctx context.Context, soft, hard time.Duration, work func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, soft, fmt.Errorf("gave up after %v: %w", soft, ErrDeadline))
	defer cancel()
	type ended struct {
		result T
		err    error
	}
	done := make(chan ended, 1)
	startup.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				done <- ended{err: fmt.Errorf("%w: %v; it is not known whether the task list was changed", ErrInternal, p)}
			}
		}()
		result, err := work(ctx)
		done <- ended{result, err}
	})
	timer := time.NewTimer(hard)
	defer timer.Stop()
	select {
	case e := <-done:
		return e.result, e.err
	case <-timer.C:
		var none T
		return none, fmt.Errorf("gave up after %v: %w; it is not known whether the task list was changed", hard, ErrAbandoned)
	}
}
