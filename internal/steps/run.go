package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// killAfter is the time between SIGTERM and SIGKILL for a check that is stopped. The client
// kills an interrupted hook about a second after SIGTERM (fact 24, client 2.1.197).
const killAfter = 400 * time.Millisecond

// run runs the check of a step with /bin/sh in its own process group. Standard output and
// standard error go to the same pipe.
func (call *call) run(ctx context.Context, c *Current) Result {
	o := process.Command{
		Args:    []string{"/bin/sh", "-c", `exec /bin/sh -c "$1" 2>&1`, "sh", c.Check.Run},
		Dir:     filepath.Join(c.Workflow.Dir, filepath.FromSlash(c.Check.Dir)),
		Env:     call.Env,
		Timeout: c.Check.Limit(),
		Grace:   killAfter,
		Started: func(pid int) { call.recordGroup(ctx, pid) },
	}.Run(ctx)
	r := Result{Run: c.Check.Run, Exit: o.ExitCode, Seconds: o.Duration.Seconds(), SHA256: digest([]byte(o.Stdout)), output: o.Stdout}
	if len(o.Truncated) > 0 {
		r.output += fmt.Sprintf("\n(It printed more than %d MiB; the rest was not kept.)", process.MaxStream>>20)
	}
	switch {
	case errors.Is(o.Err, process.ErrTimeout):
		r.failed = fmt.Sprintf("it did not end within %v", c.Check.Limit())
	case errors.Is(o.Err, process.ErrCancelled):
		r.failed = "it was interrupted"
	case o.Err != nil:
		r.failed = o.Err.Error()
	case o.Signal != "":
		r.failed = "it was ended by " + o.Signal
	}
	if r.failed != "" {
		r.Exit = -1
	}
	return r
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// missing returns the patterns below dir that no regular, non-empty file matches.
func missing(dir string, patterns []string) (missing []string) {
	root := os.DirFS(dir)
	for _, pattern := range patterns {
		if !isThere(root, pattern) {
			missing = append(missing, pattern)
		}
	}
	return missing
}

// isThere reports whether a regular, non-empty file matches the pattern.
func isThere(root fs.FS, pattern string) bool {
	matches, _ := fs.Glob(root, pattern) // the pattern was validated with the workflow
	for _, name := range matches {
		if info, err := fs.Stat(root, name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return true
		}
	}
	return false
}
