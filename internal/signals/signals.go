// Package signals ends a command on SIGHUP, SIGINT or SIGTERM: by cancelling its context, so
// that it can roll back, and after a grace period by exiting.
package signals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Grace is how long a command may take after a signal to roll back, report it and
// end. The client kills an interrupted hook about a second after SIGTERM (fact 24, client
// 2.1.197); a person waits a little longer.
const Grace = 2 * time.Second

// signalError is the cancellation cause of a context that a signal has cancelled.
type signalError struct{ signal os.Signal }

func (e signalError) Error() string { return fmt.Sprintf("%v signal received", e.signal) }

// Context returns a context that is cancelled on SIGHUP, SIGINT or SIGTERM, with a
// signalError as its cause, for commands that block or must roll back. SIGHUP or SIGINT that was
// ignored when the program was started, as under nohup, stays ignored; the Go runtime does not keep
// an ignored SIGTERM. stop restores the default behaviour of the signals.
//
// If the program is still running when grace has passed since the signal, it exits with
// 128 plus the number of the signal, as a shell reports a program that was killed by that
// signal. Nothing else would interrupt a system call on a disk that does not respond, or a
// write to a pipe that nobody reads. For a transaction this is a crash: recovery completes
// it or rolls it back.
func Context(parent context.Context, grace time.Duration) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	received, stopped := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(received, endingSignals()...)
	end := func(s os.Signal) {
		cancel(signalError{s})
		time.AfterFunc(grace, func() { os.Exit(code(s)) })
	}
	go func() {
		select {
		case s := <-received:
			end(s)
		case <-stopped:
			select {
			case s := <-received: // arrived just before stop
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

// Interruptible is Context with Grace.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return Context(ctx, Grace)
}

// holdGrace is long enough for a few files. A person who presses ^C does not wait as long for a lock or a
// disk as the change does.
const holdGrace = 2 * time.Second

// Hold keeps SIGHUP, SIGINT and SIGTERM from ending the program until release is called, so that a
// change of a few files is whole and leaves no temporary files. Then a signal that has arrived has its
// effect. After two seconds without release it ends the program, as Context says.
func Hold() (release func()) {
	received, released, ended := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(received, endingSignals()...)
	go func() {
		defer close(ended)
		var held os.Signal
		select {
		case held = <-received:
			select {
			case <-released:
			case <-time.After(holdGrace):
				os.Exit(code(held))
			}
		case <-released:
			select {
			case held = <-received: // arrived just before release
			default:
				return
			}
		}
		again(held.(syscall.Signal))
	}()
	return func() {
		signal.Stop(received)
		close(released)
		<-ended
	}
}

// ExitCode returns the exit code of a program that ends with err: 128 plus the number of the signal that has cancelled its context; 0 if
// none has.
func ExitCode(err error) int {
	if e, ok := errors.AsType[signalError](err); ok {
		return code(e.signal)
	}
	return 0
}

// code returns the exit code of a program that a signal has ended.
func code(s os.Signal) int { return 128 + int(s.(syscall.Signal)) }

// endingSignals returns the signals that end a program, without those that it ignores. They always have SIGTERM.
func endingSignals() (signals []os.Signal) {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	return signals
}
