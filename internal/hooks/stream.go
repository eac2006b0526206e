package hooks

import (
	"bytes"
	"io"
	"os"
	"syscall"
	"time"
)

// maxStream bounds what is kept of one stream of one hook; the rest is read and
// thrown away, so that the hook can end.
const maxStream = 32 << 20

// stream collects one output of a process, as bytes: a character may come in two
// pieces.
type stream struct {
	pipe *os.File
	kept bytes.Buffer
	over bool          // more came than is kept
	done chan struct{} // closed once it has ended; nothing above changes then
}

func (s *stream) collect(pipe *os.File) {
	s.pipe, s.done = pipe, make(chan struct{})
	go func() {
		defer close(s.done)
		defer pipe.Close()
		if _, err := io.Copy(s, pipe); err != nil {
			s.leftovers()
		}
	}()
}

// Write keeps what fits and takes everything.
func (s *stream) Write(b []byte) (int, error) {
	fits := min(len(b), maxStream-s.kept.Len())
	s.kept.Write(b[:fits])
	s.over = s.over || fits < len(b)
	return len(b), nil
}

// end gives the stream until then to come to its end.
func (s *stream) end(then time.Time) { _ = s.pipe.SetReadDeadline(then) }

// leftovers takes what the pipe still holds when the deadline has passed. On a
// busy machine that may be all a hook wrote, its block included.
func (s *stream) leftovers() {
	raw, err := s.pipe.SyscallConn()
	if err != nil || s.pipe.SetReadDeadline(time.Time{}) != nil {
		return
	}
	buf := make([]byte, 1<<20) // no unprivileged pipe holds more
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
