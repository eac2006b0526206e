package client

import (
	"bytes"
	"io"
	"os"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

const (
	// firstChunk is how many bytes are read at first: most questions are about the last lines.
	firstChunk = 32 << 10
	// chunkSize is how many bytes are read at a time, after a few that are smaller. For a longer
	// line it is more.
	chunkSize = 256 << 10
	// maxSession bounds how much is read to find what is said once in a session, counted from the
	// end.
	maxSession = 32 << 20
	// maxTurn bounds how much is read to find what is said in a turn: text of some million tokens, or some pictures.
	maxTurn = 8 << 20
)

// backwards calls visit with each line of a file from the last to the first, until
// visit returns false. A line is only valid until visit returns. cut reports that the file has more than the limit, in
// bytes, and visit was not content with it.
func backwards(path string, limit int64, visit func(line []byte) bool) (cut bool) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	var buffer, rest []byte // rest is the end of a line whose beginning is not read yet; buffer begins with it
	chunk := int64(firstChunk)
	for at := info.Size(); at > 0; chunk = min(2*chunk, chunkSize) {
		left := limit - (info.Size() - at)
		if left <= 0 {
			return true
		}
		// Doubling the size for an unfinished line keeps the work linear.
		size := min(at, max(min(chunk, left), int64(len(rest))))
		at -= size
		buffer = inFront(buffer, int(size), rest)
		if _, err := f.ReadAt(buffer[:size], at); err != nil && err != io.EOF {
			return false
		}
		var more bool
		if rest, more = visitLines(buffer, int(size), visit); !more || at == 0 && !visit(rest) {
			return false
		}
	}
	return false
}

// inFront returns a slice with room for size bytes, and rest behind it. It uses the memory of buffer
// if that is enough: fresh memory costs more than what is read into it.
func inFront(buffer []byte, size int, rest []byte) []byte {
	longer := buffer[:0]
	if need := size + len(rest); need > cap(buffer) {
		longer = make([]byte, 0, 2*need)
	}
	longer = longer[:size+len(rest)]
	copy(longer[size:], rest)
	return longer
}

// visitLines visits the lines of data from the last to the second, and returns the
// first, which may be the end of a longer line. Only the first fresh bytes of data can
// contain line feeds. more is false if visit returned false.
func visitLines(data []byte, fresh int, visit func(line []byte) bool) (first []byte, more bool) {
	for {
		newline := bytes.LastIndexByte(data[:fresh], '\n')
		if newline < 0 {
			return data, true
		}
		if !visit(data[newline+1:]) {
			return nil, false
		}
		data, fresh = data[:newline], newline
	}
}
