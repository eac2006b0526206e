package transcript

import (
	"bytes"
	"io"
	"os"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

const (
	// chunkSize is read at a time, in bytes, or more of a line that is longer.
	chunkSize = 256 << 10
	// maxBytes bounds what is read, from the end; if one line is that long it can be
	// twice as much.
	maxBytes = 32 << 20
)

// backwards calls visit with each line of a file from the last to the first, until
// visit returns false.
func backwards(path string, visit func(line []byte) bool) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	var rest []byte // begins in the middle of a line, unless it is the file's beginning
	for at := info.Size(); at > 0 && info.Size()-at < maxBytes; {
		// Doubling what there is of an unfinished line keeps the work linear.
		size := min(at, max(chunkSize, int64(len(rest))))
		at -= size
		chunk := make([]byte, size, size+int64(len(rest)))
		if _, err := f.ReadAt(chunk, at); err != nil && err != io.EOF {
			return
		}
		var more bool
		if rest, more = visitLines(append(chunk, rest...), int(size), visit); !more || at == 0 && !visit(rest) {
			return
		}
	}
}

// visitLines visits the lines of data from the last to the second, and returns the
// first, which may be the end of a longer line. Line feeds are only in the first
// fresh bytes. more is false if visit returned false.
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
