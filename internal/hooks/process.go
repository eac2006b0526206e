package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killAfter is how long a hook has between SIGTERM and SIGKILL.
	killAfter = 5 * time.Second
	// pipePatience is how long a process that outlives its shell may still write:
	// the shell's exit decides, not who holds the pipes.
	pipePatience = 250 * time.Millisecond
)

var (
	errTimeout   = errors.New("timed out")
	errCancelled = errors.New("cancelled")
)

// invocation is one process to run.
type invocation struct {
	argv    []string
	dir     string
	env     []string
	stdin   []byte
	timeout time.Duration // 0 and less: at once
	grace   time.Duration // between SIGTERM and SIGKILL; 0 means killAfter
}

// outcome is what became of it.
type outcome struct {
	exitCode       int
	signal         string // what ended it, if a signal did
	stdout, stderr string
	cut            []string // streams of which not all was kept
	err            error    // it could not be started, or was stopped
	duration       time.Duration
}

func (o outcome) success() bool { return o.err == nil && o.signal == "" && o.exitCode == 0 }
func (o outcome) blocks() bool  { return o.err == nil && o.signal == "" && o.exitCode == exitBlock }

// run runs the process to its end, or stops it and everything it started in its
// process group when its time is up or ctx is done.
func (i invocation) run(ctx context.Context) outcome {
	start := time.Now()
	select {
	case <-ctx.Done(): // asked for before there is anything to end
		return outcome{err: cancelled(ctx)}
	default:
	}
	p, err := i.start()
	if err != nil {
		return outcome{err: i.notStarted(err), duration: time.Since(start)}
	}
	stopped := p.await(ctx, i.timeout)
	p.finish(stopped != nil, cmp.Or(i.grace, killAfter))
	o := p.outcome()
	o.err, o.duration = stopped, time.Since(start)
	return o
}

// notStarted says why it could not be started. Of a missing directory the system
// says that the program is missing.
func (i invocation) notStarted(err error) error {
	if _, missing := os.Stat(i.dir); i.dir != "" && missing != nil {
		err = missing
	}
	return fmt.Errorf("starting failed: %w", err)
}

// process is a running invocation, leader of a process group of its own.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once it has exited and was reaped
	stdin  *os.File
	stdout stream
	stderr stream
	fed    chan struct{} // closed once standard input is written, or cannot be
}

func (i invocation) start() (*process, error) {
	var pipes pipes
	in, out, errs := pipes.open(), pipes.open(), pipes.open()
	if pipes.err != nil {
		return nil, errors.Join(pipes.err, pipes.closeAll())
	}
	cmd := exec.Command(i.argv[0], i.argv[1:]...)
	cmd.Dir, cmd.Env = i.dir, i.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in.read, out.write, errs.write
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, pipes.closeAll())
	}
	in.read.Close()
	out.write.Close()
	errs.write.Close()

	p := &process{cmd: cmd, exited: make(chan struct{}), stdin: in.write, fed: make(chan struct{})}
	p.stdout.collect(out.read)
	p.stderr.collect(errs.read)
	go p.feed(i.stdin)
	go p.wait()
	return p, nil
}

// feed writes standard input. A hook need not read it: a broken pipe is no error.
func (p *process) feed(input []byte) {
	defer close(p.fed)
	defer p.stdin.Close()
	_, _ = p.stdin.Write(input)
}

func (p *process) wait() {
	defer close(p.exited)
	_ = p.cmd.Wait() // the state tells
}

// await returns nil once the process has exited by itself, else why it was told
// to.
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
	case <-p.exited: // both at once: it made it
		return nil
	default:
		return fmt.Errorf("%w after %dms", errTimeout, timeout.Milliseconds())
	}
}

func cancelled(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errCancelled, context.Cause(ctx))
}

// finish ends what is still there. A process that ended by itself may have left
// others behind on purpose; they are cut off from the pipes and left alone. One
// that is stopped is stopped with its whole group.
func (p *process) finish(stop bool, grace time.Duration) {
	if stop {
		p.stop(grace)
	}
	now := time.Now()
	_ = p.stdin.SetWriteDeadline(now)
	<-p.fed
	p.stdout.end(now.Add(pipePatience))
	p.stderr.end(now.Add(pipePatience))
	<-p.stdout.done
	<-p.stderr.done
}

// stop sends SIGTERM to the group and, when its time is up or when nothing is
// left that holds a pipe, SIGKILL to whoever did not listen.
func (p *process) stop(grace time.Duration) {
	group := -p.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	patience := time.NewTimer(grace)
	defer patience.Stop()
	for _, gone := range []<-chan struct{}{p.exited, p.stdout.done, p.stderr.done} {
		select {
		case <-gone:
		case <-patience.C:
			_ = syscall.Kill(group, syscall.SIGKILL)
			<-p.exited
			return
		}
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
}

func (p *process) outcome() outcome {
	o := outcome{stdout: decode(p.stdout.kept.Bytes()), stderr: decode(p.stderr.kept.Bytes())}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		o.signal = unix.SignalName(status.Signal())
	} else {
		o.exitCode = p.cmd.ProcessState.ExitCode()
	}
	for _, s := range []struct {
		name string
		over bool
	}{{"stdout", p.stdout.over}, {"stderr", p.stderr.over}} {
		if s.over {
			o.cut = append(o.cut, s.name)
		}
	}
	return o
}

// pipes opens pipes and remembers them.
type pipes struct {
	all []pipe
	err error
}

type pipe struct{ read, write *os.File }

func (p *pipes) open() pipe {
	r, w, err := os.Pipe()
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
