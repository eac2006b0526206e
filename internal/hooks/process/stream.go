package process

import (
	"bytes"
	"io"
	"os"
	"syscall"
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

// drain reads what is in the pipe when the deadline passes. On a busy machine that may be the
// whole output of a hook, and the output may be a block.
func (s *stream) drain() {
	raw, err := s.pipe.SyscallConn()
	if err != nil || s.pipe.SetReadDeadline(time.Time{}) != nil {
		return
	}
	buf := make([]byte, 1<<20) // the largest pipe of an unprivileged process
	_ = raw.Read(func(fd uintptr) bool {
		for room := buf; len(room) > 0; {
			n, err := syscall.Read(int(fd), room)
			if n <= 0 || err != nil {
				break
			}
			_, _ = s.Write(room[:n])
			room = room[n:]
		}
		return true
	})
}
