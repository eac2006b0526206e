package transcript

import (
	"bytes"
	"io"
	"os"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

const (
	// chunkSize is how many bytes are read at a time. For a longer line it is more.
	chunkSize = 256 << 10
	// maxBytes bounds how much is read, counted from the end. If one line is that long,
	// it can be twice as much.
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
	var rest []byte // the end of a line whose beginning is not read yet
	for at := info.Size(); at > 0 && info.Size()-at < maxBytes; {
		// Doubling the size for an unfinished line keeps the work linear.
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
