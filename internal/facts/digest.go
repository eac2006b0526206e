package facts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// A file that a step produces has to be new: the digests of the files that were there before are on record, since the hydration
// (Workflow.Files) or since the step was opened again or its copy came into the list (Evidence.Files). A file that is as it was
// is refused once (Evidence.Unchanged).

const (
	maxFiles  = 1000    // that match a pattern, of which the digests are recorded
	maxAll    = 5000    // the same, of all patterns together
	maxDigest = 8 << 20 // bytes of a file that are compared, beside its size
)

// DigestOf returns the digest of a file and, behind a colon, the number of its lines. It follows links.
func DigestOf(path string) (string, error) {
	f, err := safefile.Open(path, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	sum, lines := sha256.New(), lineCounter(0)
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
	if _, err := io.Copy(io.MultiWriter(sum, &lines), io.LimitReader(f, maxDigest)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x:%d", sum.Sum(nil)[:16], lines), nil
}

// lineCounter counts the lines of what is written to it.
type lineCounter int64

func (n *lineCounter) Write(b []byte) (int, error) {
	*n += lineCounter(bytes.Count(b, []byte{'\n'}))
	return len(b), nil
}

// LinesIn returns the number of lines in a digest of DigestOf.
func LinesIn(digest string) int64 {
	_, lines, _ := strings.Cut(digest, ":")
	n, _ := strconv.ParseInt(lines, 10, 64)
	return n
}

// Digests returns the digests of the files below dir that match patterns.
func Digests(ctx context.Context, dir string, patterns []string) map[string]string {
	if len(patterns) == 0 {
		return nil
	}
	return LookFor(ctx, dir, Wanted{Patterns: patterns, Every: true}).Digests
}

// isInside reports whether a file is in a directory, with all links resolved. Not by filepath.EvalSymlinks: on Windows that asks each
// directory above for a listing, which the root of a share may refuse.
func isInside(dir, path string) bool {
	_, inside := safefile.Within(safefile.Resolve(dir), safefile.Resolve(path))
	return inside
}
