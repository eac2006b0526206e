// Package signals ends a command when the system or a person asks it to: gently where
// something has to be rolled back or put in order, and in any case.
package signals

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Received is the cause of a context that a signal has cancelled.
type Received struct{ Signal os.Signal }

func (r Received) Error() string { return fmt.Sprintf("%v signal received", r.Signal) }

// Context returns a context that is cancelled on SIGHUP, SIGINT or SIGTERM, with a
// Received as its cause, for commands that block or must roll back. A signal that was
// ignored when the program was started, as under nohup, stays ignored. stop restores what
// the signals do by themselves.
//
// A program that has not ended when patience is over, since the signal, ends with 128 and
// the number of the signal, which is what a shell says of a program that a signal has
// ended. Nothing else would end a call of the system on a disk that does not answer, or a
// write to a pipe that nobody reads. To a transaction that is a crash like any other:
// recovery completes it or rolls it back.
func Context(parent context.Context, patience time.Duration) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	received, stopped := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(received, deadly()...)
	end := func(s os.Signal) {
		cancel(Received{s})
		time.AfterFunc(patience, func() { os.Exit(Code(s)) })
	}
	go func() {
		select {
		case s := <-received:
			end(s)
		case <-stopped:
			select {
			case s := <-received: // just before it was stopped
				end(s)
			default:
			}
		}
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(received)
		close(stopped)
		cancel(context.Canceled)
	})
}

// Code returns the exit code of a program that a signal ends.
func Code(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}

// deadly returns the signals that ask a program to end and that it does not ignore.
func deadly() (signals []os.Signal) {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	return signals
}
