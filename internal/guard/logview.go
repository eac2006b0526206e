package guard

import (
	"bufio"
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

// CopyLog prints the decision log at path, with control characters escaped. It returns ErrNoLog if there is none.
func CopyLog(path string, w io.Writer) error {
	f, err := statefile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w at %s", ErrNoLog, path)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, readErr := lines.ReadString('\n')
		if _, err := io.WriteString(w, visible.Text(line)); err != nil {
			return err
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}
