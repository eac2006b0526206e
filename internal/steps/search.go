package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// Bounds of a search for files. A search that exceeds one does not find its file.
const (
	searchTime  = 5 * time.Second
	searchNames = 1_000_000 // names that were read or compared with a pattern's element
)

// lookFor returns the patterns below dir that no regular, non-empty file matches. If the
// search exceeds a bound, limit says which. No lock may be held meanwhile.
func lookFor(ctx context.Context, dir string, patterns []string) (missing []string, limit string) {
	return bounds{searchTime, searchNames}.lookFor(ctx, dir, patterns)
}

// bounds limit a search.
type bounds struct {
	time  time.Duration
	names int
}

func (b bounds) lookFor(ctx context.Context, dir string, patterns []string) (missing []string, limit string) {
	type answer struct {
		missing []string
		limit   string
	}
	ctx, cancel := context.WithTimeout(ctx, b.time)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		s := &search{ctx: ctx, left: b.names, listings: map[place][]string{}}
		missing, err := s.all(dir, patterns)
		done <- answer{missing, b.describe(err)}
	}()
	select {
	case a := <-done:
		return a.missing, a.limit
	case <-time.After(b.time + b.time/2): // a file system that does not answer
		return nil, b.describe(&tooLong{patterns[0], context.DeadlineExceeded})
	}
}

// tooLong is returned when a bound was exceeded while a pattern was looked for.
type tooLong struct {
	pattern string
	cause   error
}

func (e *tooLong) Error() string { return e.pattern + ": " + e.cause.Error() }

var errTooMany = errors.New("too many names")

func (b bounds) describe(err error) string {
	e, ok := errors.AsType[*tooLong](err)
	switch {
	case !ok:
		return ""
	case errors.Is(e.cause, errTooMany):
		return fmt.Sprintf("the search for %s met more than %d names", visible.Clip(visible.Words(e.pattern), maxSubject), b.names)
	}
	return fmt.Sprintf("the search for %s did not end within %v", visible.Clip(visible.Words(e.pattern), maxSubject), b.time)
}

// search looks for files. It reads each directory once, by whichever links it gets there.
type search struct {
	ctx      context.Context
	left     int // names that may still be read or compared
	listings map[place][]string
	visited  map[visit]bool // of the present pattern
}

// place identifies a directory.
type place struct{ dev, inode uint64 }

// visit is a directory in which the elements of a pattern from one on were looked for. To
// look there again for the same elements would find the same files: a link into a directory
// above would otherwise multiply the work with each element.
type visit struct {
	place
	element int
}

func (s *search) all(dir string, patterns []string) (missing []string, err error) {
	for _, pattern := range patterns {
		s.visited = map[visit]bool{}
		found, err := s.find(dir, strings.Split(pattern, "/"), 0)
		if err != nil {
			return nil, &tooLong{pattern, err}
		}
		if !found {
			missing = append(missing, pattern)
		}
	}
	return missing, nil
}

// find reports whether a regular, non-empty file below dir matches elements from the one
// with the index i on. Its only errors are that a bound was exceeded.
func (s *search) find(dir string, elements []string, i int) (bool, error) {
	at, ok := placeOf(dir)
	if !ok || s.visited[visit{at, i}] {
		return false, s.spend(1)
	}
	s.visited[visit{at, i}] = true
	names := []string{elements[i]}
	if isPattern(elements[i]) {
		var err error
		if names, err = s.list(dir, at); err != nil {
			return false, err
		}
	}
	for _, name := range names {
		if err := s.spend(1); err != nil {
			return false, err
		}
		if isPattern(elements[i]) {
			if ok, _ := path.Match(elements[i], name); !ok { // the pattern was validated with the workflow
				continue
			}
		}
		found, err := false, error(nil)
		if sub := filepath.Join(dir, name); i == len(elements)-1 {
			found = hasContent(sub)
		} else {
			found, err = s.find(sub, elements, i+1)
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func isPattern(element string) bool { return strings.ContainsAny(element, `*?[\`) }

// list returns the names in a directory, none if it cannot be read.
func (s *search) list(dir string, at place) (names []string, err error) {
	if known, ok := s.listings[at]; ok {
		return known, nil
	}
	d, err := safefile.Unheld.List(dir)
	if err != nil {
		return nil, nil
	}
	defer d.Close()
	for {
		some, err := d.Readdirnames(1000)
		names = append(names, some...)
		if err := s.spend(len(some)); err != nil {
			return nil, err
		}
		if errors.Is(err, io.EOF) || err != nil {
			s.listings[at] = names
			return names, nil
		}
	}
}

// spend counts n names.
func (s *search) spend(n int) error {
	before := s.left
	if s.left -= n; s.left < 0 {
		return errTooMany
	}
	if before>>8 == s.left>>8 && n < 1000 {
		return nil // the clock is not looked at for every name
	}
	return s.ctx.Err()
}

func placeOf(dir string) (place, bool) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return place{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return place{}, false
	}
	return place{uint64(st.Dev), st.Ino}, true
}

// hasContent reports whether a path is a regular file that is not empty.
func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}
