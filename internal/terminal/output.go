package terminal

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// Output is a standard output or error that remembers the first error of writing to it, so that
// a program whose results were lost does not end as if they had been printed. It is safe for
// concurrent use if the writer is.
type Output struct {
	// Spell, if it is not nil, returns what is written for a text.
	Spell func(text []byte) []byte

	to       io.Writer
	survives atomic.Bool // see SurviveBrokenPipe

	mutex sync.Mutex
	err   error
}

// NewOutput returns an Output that writes to w.
func NewOutput(w io.Writer) *Output { return &Output{to: w} }

func (o *Output) Write(p []byte) (int, error) {
	text := p
	if o.Spell != nil {
		text = o.Spell(p)
	}
	n, err := o.write(text)
	if err == nil {
		n = len(p)
	}
	if err != nil {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// SurviveBrokenPipe makes writing return an error once the reader of a pipe is gone. If the
// writer is standard output or error, package os ends the program then, with SIGPIPE. A handler of
// the signal would prevent that too, but costs a thread; and a process that ignores it passes
// that on to its children.
func (o *Output) SurviveBrokenPipe() { o.survives.Store(true) }

// SurviveBrokenPipe makes both outputs survive the end of their reader. A hook reports its answer then.
func (s Streams) SurviveBrokenPipe() {
	for _, w := range []io.Writer{s.Out, s.Err} {
		if out, ok := w.(*Output); ok {
			out.SurviveBrokenPipe()
		}
	}
}

func (o *Output) write(p []byte) (n int, err error) {
	f, ok := o.to.(*os.File)
	if !ok || !o.survives.Load() {
		return o.to.Write(p)
	}
	return writeSurviving(f, p)
}

// Err returns the first error of writing, nil if there was none since Forget.
func (o *Output) Err() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.err
}

// Forget drops the error: it was reported and is not a failure.
func (o *Output) Forget() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.err = nil
}

// File returns the file that a stream reads or writes, also through an Output.
func File(stream any) (f *os.File, ok bool) {
	if o, is := stream.(*Output); is {
		stream = o.to
	}
	f, ok = stream.(*os.File)
	return f, ok
}
