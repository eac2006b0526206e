package terminal

import (
	"io"
	"os"
	"sync"
)

// Output is a standard output that remembers the first error of writing to it, so that a
// program whose results were lost does not end as if they had been printed. It is safe for
// concurrent use if the writer is.
type Output struct {
	to io.Writer

	mutex sync.Mutex
	err   error
}

// NewOutput returns an Output that writes to w.
func NewOutput(w io.Writer) *Output { return &Output{to: w} }

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Err returns the first error of writing, nil if there was none since Forget.
func (o *Output) Err() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.err
}

// Forget drops the error: it was reported and is no failure.
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
