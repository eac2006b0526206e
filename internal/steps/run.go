package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// killAfter is the time between SIGTERM and SIGKILL for a check that is stopped. The client
// kills an interrupted hook about a second after SIGTERM (fact 24, client 2.1.197).
const killAfter = 400 * time.Millisecond

// runCheck runs a command of a step with /bin/sh in its own process group, in a directory
// below base. Standard output and standard error go to the same pipe, unless what it prints
// decides or is a value.
func (c *call) runCheck(ctx context.Context, b *run, base string) Result {
	out := newTail()
	script := `exec /bin/sh -c "$1" 2>&1`
	if b.kind == commandDecides || b.kind == eachLine || b.kind.prints() != "" {
		script = `exec /bin/sh -c "$1"`
	}
	o := process.Command{
		Args:    []string{"/bin/sh", "-c", script, "sh", b.Run},
		Dir:     filepath.Join(base, filepath.FromSlash(b.Dir)),
		Env:     append(b.step.withoutOurs(b.environ(c.Env)), b.variables...),
		Timeout: b.Limit(),
		Grace:   killAfter,
		Output:  out,
		Started: func(pid int) { c.recordGroup(ctx, pid) },
	}.Run(ctx)
	r := Result{Run: b.Run, Exit: o.ExitCode, Seconds: o.Duration.Seconds(), SHA256: out.digest(), output: out.text(), errors: o.Stderr,
		cut: out.n > tailBytes}
	if base != b.step.Workflow.Dir {
		r.Dir = filepath.Join(base, filepath.FromSlash(b.Dir))
	}
	switch {
	case errors.Is(o.Err, process.ErrTimeout):
		r.failed = fmt.Sprintf("it did not end within %v", b.Limit())
	case errors.Is(o.Err, process.ErrCancelled):
		r.failed, r.interrupted = "it was interrupted", true
	case o.Err != nil:
		r.failed, r.unrunnable = o.Err.Error(), true
	case o.Signal != "":
		r.failed = "it was ended by " + o.Signal
	}
	if r.failed != "" {
		r.Exit = -1
	}
	r.unrunnable = r.unrunnable || r.Exit == notExecutable || r.Exit == notFound
	return r
}

// Exit statuses of a shell that cannot run a program.
const (
	notExecutable = 126
	notFound      = 127
)

// tail keeps the end of what is written to it, which tells why a check failed, and digests
// all of it.
type tail struct {
	kept [tailBytes]byte
	n    int64 // bytes written
	sum  hash.Hash
}

// tailBytes is more than lastLines shows.
const tailBytes = 64 << 10

func newTail() *tail { return &tail{sum: sha256.New()} }

func (t *tail) Write(b []byte) (int, error) {
	t.sum.Write(b)
	for rest := b[max(0, len(b)-tailBytes):]; len(rest) > 0; {
		skipped := len(b) - len(rest)
		n := copy(t.kept[(t.n+int64(skipped))%tailBytes:], rest)
		rest = rest[n:]
	}
	t.n += int64(len(b))
	return len(b), nil
}

// text returns the last bytes. Its beginning may be in the middle of a line.
func (t *tail) text() string {
	if t.n <= tailBytes {
		return string(t.kept[:t.n])
	}
	at := t.n % tailBytes
	text := string(t.kept[at:]) + string(t.kept[:at])
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// digest returns the SHA-256 of everything, in hexadecimal digits.
func (t *tail) digest() string { return hex.EncodeToString(t.sum.Sum(nil)) }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
