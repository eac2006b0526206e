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

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/statefile"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// ErrNoLog is returned when there is no decision log to show.
var ErrNoLog = errors.New("no decision log")

// NewestLog returns the path of the decision log, of any session, that was modified last.
// It returns ErrNoLog if there is none.
func NewestLog(c Config, env func(string) string) (string, error) {
	// The paths of the logs differ only in the session's id. The placeholder is not an id.
	pattern := Session{dir: SessionOf("", env).dir, id: sessionInPath}.Logging(c, env).Log()
	dir := filepath.Dir(pattern)
	prefix, suffix, _ := strings.Cut(filepath.Base(pattern), sessionInPath)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	newest, modified := "", time.Time{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if t := modTime(path); t.After(modified) {
			newest, modified = path, t
		}
	}
	if newest == "" {
		return "", ErrNoLog
	}
	return newest, nil
}

// modTime returns the modification time of a log, the zero time if path is not a
// regular file of this user.
func modTime(path string) time.Time {
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

// maxDecided limits how much of a log is read at once, in bytes.
const maxDecided = 16 << 20

// Decided returns the decisions in the log at path, oldest first: of a long log those in its
// last maxDecided bytes. Without a log there are none.
func Decided(path string) ([]decisions.Record, error) {
	data, err := statefile.Tail(path, maxDecided)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parseLog(data), err
}

// CopyLog prints the decision log at path. It returns ErrNoLog if there is none.
func CopyLog(path string, w io.Writer) error {
	_, err := copyFrom(path, 0, w)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w at %s", ErrNoLog, path)
	}
	return err
}

// FollowLog prints a decision log and everything that is appended to it. It looks for new
// lines after each pause, until the context is cancelled, and then returns nil. It waits
// for a log that does not exist yet. A log that was truncated is printed from its
// beginning.
func FollowLog(ctx context.Context, path string, pause time.Duration, w io.Writer) error {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	var offset int64
	for {
		next, err := copyFrom(path, offset, w)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		offset = next
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// copyFrom prints the log from an offset and returns the offset of its end.
func copyFrom(path string, offset int64, w io.Writer) (int64, error) {
	f, err := statefile.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return offset, err
	}
	if info.Size() < offset {
		offset = 0
	}
	n, err := printLines(io.NewSectionReader(f, offset, info.Size()-offset), w)
	return offset + n, err
}

// printLines prints a log with control characters escaped, and returns the number of
// bytes of the log that it has printed.
func printLines(log io.Reader, w io.Writer) (n int64, err error) {
	lines := bufio.NewReader(log)
	for {
		line, readErr := lines.ReadString('\n')
		if _, err := io.WriteString(w, visible.Text(line)); err != nil {
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
