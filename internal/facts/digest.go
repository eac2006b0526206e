package facts

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// A file that a step produces has to be new: the digests of the files that were there before are on record, since the hydration
// (Workflow.Files) or since the step was opened again or its copy came into the list (Evidence.Files). A file that is as it was
// is refused once (Evidence.Unchanged).

const (
	maxFiles  = 1000    // of which the digests are recorded at once
	maxDigest = 8 << 20 // bytes of a file that are compared, beside its size
)

// DigestOf returns the digest of a file that is not empty. It follows links.
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
	sum := sha256.New()
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
	if _, err := io.Copy(sum, io.LimitReader(f, maxDigest)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// Digests returns the digests of the files below dir that match patterns.
func Digests(ctx context.Context, dir string, patterns []string) map[string]string {
	if len(patterns) == 0 {
		return nil
	}
	return LookFor(ctx, dir, Wanted{Patterns: patterns, Every: true}).Digests
}

// isInside reports whether a file is in a directory, with all links resolved.
func isInside(dir, path string) (bool, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	return err == nil && strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"), err
}
