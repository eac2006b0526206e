package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

const (
	// KillAfter is the time between SIGTERM and SIGKILL.
	KillAfter = 5 * time.Second
	// pipeGrace is how long a background process may still write after the process has
	// exited. It bounds the wait for a pipe that stays open.
	pipeGrace = 250 * time.Millisecond
	// groupPoll is how often a group that was told to end is looked at.
	groupPoll = 10 * time.Millisecond
)

var (
	// ErrTimeout is returned when a process outlives its time limit.
	ErrTimeout = errors.New("timed out")
	// ErrCancelled is returned when the context ends before the process does. It
	// wraps the context's cause.
	ErrCancelled = errors.New("cancelled")
)

// Command is a process to run.
type Command struct {
	Args    []string // the program and its arguments
	Dir     string
	Env     []string
	Stdin   []byte
	Timeout time.Duration // zero or less ends the process at once
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 means five seconds

	// Output, if not nil, gets standard output instead of Outcome.Stdout, as it comes and
	// without a limit. It is not used after Run has returned.
	Output io.Writer

	// Whole ends, with a command that is stopped, also what has left its group. What outlives a command that exits by itself stays.
	Whole bool

	// Started, if not nil, is called once the process runs, with its id, which is also the
	// id of its process group.
	Started func(pid int)
}

// Outcome is how a process ended.
type Outcome struct {
	ExitCode       int
	Signal         string // the signal that ended it, if one did
	Stdout, Stderr string
	Truncated      []string // the streams that exceeded MaxStream
	Err            error    // why it could not be started or was stopped; nil if it exited
	Duration       time.Duration

	left []string // what was to end and did not
}

// Exited reports whether the process exited by itself with this code.
func (o Outcome) Exited(code int) bool { return o.Err == nil && o.Signal == "" && o.ExitCode == code }

// Run runs the process until it exits. When the time limit expires or ctx is done, Run
// stops the process group.
func (c Command) Run(ctx context.Context) Outcome {
	start := time.Now()
	select {
	case <-ctx.Done():
		return Outcome{Err: cancelled(ctx)}
	default:
	}
	p, err := c.start()
	if err != nil {
		return Outcome{Err: c.notStarted(err), Duration: time.Since(start)}
	}
	if c.Started != nil {
		c.Started(p.cmd.Process.Pid)
	}
	stopped := p.await(ctx, c.Timeout)
	grace := cmp.Or(c.Grace, KillAfter)
	if stopped != nil {
		p.group.look()
	}
	over := time.Now().Add(grace)
	p.finish(stopped != nil, grace)
	o := p.outcome()
	o.Err, o.Duration = stopped, time.Since(start)
	if stopped != nil {
		o.left = p.group.end(over)
	}
	p.group.release()
	return o
}

// notStarted explains why the process could not be started. If its directory is missing or is
// another kind of file, the system's error blames the program, so the directory is checked first.
func (c Command) notStarted(err error) error {
	if info, missing := os.Stat(c.Dir); c.Dir != "" && missing != nil {
		err = missing
	} else if c.Dir != "" && !info.IsDir() {
		err = &os.PathError{Op: "chdir", Path: c.Dir, Err: syscall.ENOTDIR}
	}
	return fmt.Errorf("starting failed: %w", err)
}

// process is a running command, the leader of its own process group.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once it has exited and was reaped
	stdin  *os.File
	stdout stream
	stderr stream
	fed    chan struct{} // closed once standard input is written or writing it has failed
	group  *group
}

func (c Command) start() (*process, error) {
	var pipes pipes
	in, out, errs := pipes.open(true), pipes.open(false), pipes.open(false)
	if pipes.err != nil {
		return nil, errors.Join(pipes.err, pipes.closeAll())
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in.read, out.write, errs.write
	group, err := begin(cmd, c.Whole)
	if err != nil {
		return nil, errors.Join(err, pipes.closeAll())
	}
	in.read.Close()
	out.write.Close()
	errs.write.Close()

	p := &process{cmd: cmd, exited: make(chan struct{}), stdin: in.write, fed: make(chan struct{}), group: group}
	p.stdout.sink = c.Output
	p.stdout.collect(out.read)
	p.stderr.collect(errs.read)
	go p.feed(c.Stdin)
	go p.wait()
	return p, nil
}

// feed writes standard input. A broken pipe is not an error, because a hook need not read its
// input.
func (p *process) feed(input []byte) {
	defer close(p.fed)
	defer p.stdin.Close()
	_, _ = p.stdin.Write(input)
}

func (p *process) wait() {
	defer close(p.exited)
	_ = p.cmd.Wait() // outcome reads the process state
}

// await waits until the process exits and returns nil. If the time limit expires or ctx is done
// first, it returns ErrTimeout or ErrCancelled.
func (p *process) await(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(max(timeout, 0))
	defer timer.Stop()
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return cancelled(ctx)
	case <-timer.C:
	}
	select {
	case <-p.exited: // both were ready
		return nil
	default:
		return fmt.Errorf("%w after %dms", ErrTimeout, timeout.Milliseconds())
	}
}

func cancelled(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrCancelled, context.Cause(ctx))
}

// finish collects the rest of the output. With stop it stops the process group first;
// otherwise background processes keep running, and lose the pipes.
func (p *process) finish(stop bool, grace time.Duration) {
	if stop {
		p.stop(grace)
	}
	now := time.Now()
	_ = p.stdin.SetWriteDeadline(now)
	<-p.fed
	p.stdout.end(now.Add(pipeGrace))
	p.stderr.end(now.Add(pipeGrace))
	<-p.stdout.done
	<-p.stderr.done
}

// stop sends SIGTERM to the group, and then SIGKILL for members that ignore SIGTERM: when
// grace is over, or as soon as the process has exited and its pipes are closed. A process that
// holds the pipes and has left the group is not waited for.
func (p *process) stop(grace time.Duration) {
	p.group.ask()
	timer, tick := time.NewTimer(grace), time.NewTicker(groupPoll)
	defer timer.Stop()
	defer tick.Stop()
	for _, done := range []<-chan struct{}{p.exited, p.stdout.done, p.stderr.done} {
		for waiting := true; waiting; {
			select {
			case <-done:
				waiting = false
			case <-tick.C:
				waiting = p.group.runs()
			case <-timer.C:
				p.group.kill()
				<-p.exited
				return
			}
		}
	}
	p.group.kill()
	<-p.exited
}

func (p *process) outcome() Outcome {
	o := Outcome{Stdout: jsonx.Decode(p.stdout.kept.Bytes()), Stderr: jsonx.Decode(p.stderr.kept.Bytes())}
	if o.Signal = signalOf(p.cmd.ProcessState); o.Signal == "" {
		o.ExitCode = p.cmd.ProcessState.ExitCode()
	}
	for _, s := range []struct {
		name      string
		truncated bool
	}{{"stdout", p.stdout.truncated}, {"stderr", p.stderr.truncated}} {
		if s.truncated {
			o.Truncated = append(o.Truncated, s.name)
		}
	}
	return o
}

// pipes collects the pipes of a process, so that all can be closed after a failure.
type pipes struct {
	all []pipe
	err error
}

type pipe struct{ read, write *os.File }

func (p *pipes) open(toCommand bool) pipe {
	r, w, err := newPipe(toCommand)
	if err != nil {
		p.err = errors.Join(p.err, err)
		return pipe{}
	}
	p.all = append(p.all, pipe{r, w})
	return pipe{r, w}
}

func (p *pipes) closeAll() error {
	var err error
	for _, one := range p.all {
		err = errors.Join(err, one.read.Close(), one.write.Close())
	}
	return err
}

// Left says what outlives a command that was stopped; "" if nothing does.
func (o Outcome) Left() string {
	if len(o.left) == 0 {
		return ""
	}
	return "what it started could not be ended: " + strings.Join(o.left, ", ")
}
