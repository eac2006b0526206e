package guard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/statefile"
)

// ErrNoLog means that there is no decision log to show.
var ErrNoLog = errors.New("no decision log")

// NewestLog returns the decision log that was written last, of any session.
// It returns ErrNoLog if there is none.
func NewestLog(env func(string) string) (string, error) {
	dir := SessionOf("", env).Dir()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	newest, at := "", time.Time{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), logPrefix) || !strings.HasSuffix(e.Name(), logSuffix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if written := writtenAt(path); written.After(at) {
			newest, at = path, written
		}
	}
	if newest == "" {
		return "", ErrNoLog
	}
	return newest, nil
}

// writtenAt is when a log was written last; for what is no log of this user's,
// never.
func writtenAt(path string) time.Time {
	f, err := statefile.Open(path)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// CopyLog prints a decision log. It returns ErrNoLog if there is none.
func CopyLog(path string, w io.Writer) error {
	_, err := copyFrom(path, 0, w)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w at %s", ErrNoLog, path)
	}
	return err
}

// FollowLog prints a decision log and what is added to it, until the context is
// cancelled, which is no error. It looks again after each pause; a log that is
// not there yet is waited for, one that was cut short is printed anew.
func FollowLog(ctx context.Context, path string, pause time.Duration, w io.Writer) error {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	var at int64
	for {
		next, err := copyFrom(path, at, w)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		at = next
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// copyFrom prints the log from an offset and returns where it stopped.
func copyFrom(path string, at int64, w io.Writer) (int64, error) {
	f, err := statefile.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return at, err
	}
	if info.Size() < at {
		at = 0
	}
	n, err := printLines(io.NewSectionReader(f, at, info.Size()-at), w)
	return at + n, err
}

// printLines prints a log without what could command the terminal it is shown
// on, and returns how many bytes of it were printed.
func printLines(log io.Reader, w io.Writer) (n int64, err error) {
	lines := bufio.NewReader(log)
	for {
		line, readErr := lines.ReadString('\n')
		if _, err := io.WriteString(w, strings.Map(harmless, line)); err != nil {
			return n, err
		}
		n += int64(len(line))
		if readErr == io.EOF {
			return n, nil
		}
		if readErr != nil {
			return n, readErr
		}
	}
}

func harmless(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return ' '
	}
	return r
}
