package process

import (
	"bytes"
	"io"
	"os"
	"time"
)

// MaxStream is the number of bytes of each output that are kept. The rest is read and
// discarded, so that the process does not block.
const MaxStream = 32 << 20

// stream collects one output of a process. It keeps bytes, not text, because a read may end
// within a character.
type stream struct {
	pipe      *os.File
	sink      io.Writer // gets what would be kept, if it is not nil
	kept      bytes.Buffer
	truncated bool
	done      chan struct{} // closed at the end; the other fields do not change afterwards
}

func (s *stream) collect(pipe *os.File) {
	s.pipe, s.done = pipe, make(chan struct{})
	go func() {
		defer close(s.done)
		defer pipe.Close()
		if _, err := io.Copy(s, pipe); err != nil {
			s.drain()
		}
	}()
}

// Write keeps what fits and accepts everything.
func (s *stream) Write(b []byte) (int, error) {
	if s.sink != nil {
		return s.sink.Write(b)
	}
	fits := min(len(b), MaxStream-s.kept.Len())
	s.kept.Write(b[:fits])
	s.truncated = s.truncated || fits < len(b)
	return len(b), nil
}

// end sets the time at which reading stops.
func (s *stream) end(at time.Time) { _ = s.pipe.SetReadDeadline(at) }
