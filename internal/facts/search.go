package facts

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
	"syscall"
	"time"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// bounds of a search for files. A search that exceeds one does not find its file.
const (
	searchTime  = 5 * time.Second
	searchNames = 1_000_000 // names that were read or compared with a pattern's element
)

// LookFor looks below dir for regular, non-empty files that match patterns. No lock may be held meanwhile.
func LookFor(ctx context.Context, dir string, w Wanted) Sight {
	return bounds{searchTime, searchNames}.lookFor(ctx, dir, w)
}

// Wanted says which files are looked for.
type Wanted struct {
	Patterns []string          // slash-separated, below the directory; ** is any directories, but no links and no .git
	Was      map[string]string // digests of files that were there before, by their names: a file that is the same does not count
	Anywhere bool              // a file counts also if it leads out of the directory, and as it was
	Every    bool              // every file is digested, up to maxFiles of a pattern, and none ends the search
}

// Sight is what was found of the files of a gate.
type Sight struct {
	Missing   []string // patterns without a file
	Unchanged []string // a file that is as it was, for each pattern that no other file matches
	Unfit     []string // sentences about what is there and does not count
	Limit     string   // why not every pattern was looked for; empty if each was
	Err       error    // why a file may have been overlooked

	Digests map[string]string // of every file, if that was wanted
}

// bounds limit a search.
type bounds struct {
	time  time.Duration
	names int
}

func (b bounds) lookFor(ctx context.Context, dir string, w Wanted) Sight {
	ctx, cancel := context.WithTimeout(ctx, b.time)
	defer cancel()
	done := make(chan Sight, 1)
	go func() {
		s := &search{ctx: ctx, dir: dir, Wanted: w, left: b.names, listings: map[Place][]string{}}
		s.Digests = map[string]string{}
		if s.Limit = b.describe(s.all()); s.Limit == "" {
			s.Limit = s.over
		}
		done <- s.Sight
	}()
	select {
	case seen := <-done:
		return seen
	case <-time.After(b.time + b.time/2): // a file system that does not answer
		return Sight{Limit: b.describe(&tooLong{w.Patterns[0], context.DeadlineExceeded})}
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
		return fmt.Sprintf("the search for %s met more than %d names", message.Clip(message.Words(e.pattern), message.MaxSubject), b.names)
	}
	return fmt.Sprintf("the search for %s did not end within %v", message.Clip(message.Words(e.pattern), message.MaxSubject), b.time)
}

// search looks for files. It reads each directory once, by whichever links it gets there.
type search struct {
	Wanted
	Sight
	ctx      context.Context
	dir      string
	same     string // the first file that is as it was, by its name, of the present pattern
	taken    int    // files of the present pattern that were digested, if Every
	over     string // that there were more than maxFiles or maxAll; empty if there were not
	left     int    // names that may still be read or compared
	listings map[Place][]string
	visited  map[visit]bool // of the present pattern
}

// Place identifies a directory.
type Place struct{ dev, Inode uint64 }

// visit is a directory in which the elements of a pattern from one on were looked for. To
// look there again for the same elements would find the same files: a link into a directory
// above would otherwise multiply the work with each element.
type visit struct {
	Place
	element int
}

func (s *search) all() error {
	for _, wanted := range s.Patterns {
		s.visited, s.same, s.taken = map[visit]bool{}, "", 0
		found, err := s.find(s.dir, strings.Split(wanted, "/"), 0)
		switch {
		case err != nil:
			return &tooLong{wanted, err}
		case found:
		case s.same != "":
			s.Unchanged = append(s.Unchanged, s.same)
		default:
			if s.Missing = append(s.Missing, wanted); safefile.IsDir(filepath.Join(s.dir, wanted)) {
				s.Unfit = append(s.Unfit, message.Words(wanted)+" is a directory, not a file")
			}
		}
	}
	return nil
}

// note keeps why a file may have been overlooked.
func (s *search) note(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && s.Err == nil {
		s.Err = err
	}
}

// find reports whether a regular, non-empty file below dir matches elements from the one
// with the index i on. Its only errors are that a bound was exceeded.
func (s *search) find(dir string, elements []string, i int) (bool, error) {
	at, err := PlaceOf(dir)
	if s.note(err); err != nil || s.visited[visit{at, i}] {
		return false, s.spend(1)
	}
	s.visited[visit{at, i}] = true
	names, deep := []string{elements[i]}, elements[i] == "**"
	if deep {
		if found, err := s.find(dir, elements, i+1); found || err != nil {
			return found, err
		}
	}
	if pattern.IsPattern(elements[i]) {
		var err error
		if names, err = s.list(dir, at); err != nil {
			return false, err
		}
	}
	for _, name := range names {
		if err := s.spend(1); err != nil {
			return false, err
		}
		if deep {
			sub := filepath.Join(dir, name)
			if info, err := os.Lstat(sub); err != nil || !info.IsDir() || name == ".git" {
				continue
			}
			if found, err := s.find(sub, elements, i); found || err != nil {
				return found, err
			}
			continue
		}
		if pattern.IsPattern(elements[i]) {
			if !pattern.Name(elements[i], name) {
				continue
			}
		}
		found, err := false, error(nil)
		if sub := filepath.Join(dir, name); i == len(elements)-1 {
			found = s.counts(sub)
		} else {
			found, err = s.find(sub, elements, i+1)
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// list returns the names in a directory, none if it cannot be read.
func (s *search) list(dir string, at Place) (names []string, err error) {
	if known, ok := s.listings[at]; ok {
		return known, nil
	}
	d, err := safefile.Unheld.List(dir)
	if err != nil {
		s.note(err)
		return nil, nil
	}
	defer d.Close()
	for {
		some, err := d.Readdirnames(1000)
		names = append(names, some...)
		if err := s.spend(len(some)); err != nil {
			return nil, err
		}
		if err != nil {
			if s.listings[at] = names; !errors.Is(err, io.EOF) {
				s.note(err)
			}
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

// PlaceOf returns which directory is at the path.
func PlaceOf(dir string) (at Place, err error) {
	info, err := safefile.Stat(dir)
	if err != nil {
		return Place{}, err
	}
	device, inode, ok := safefile.IdentityOf(info)
	if !info.IsDir() || !ok {
		return Place{}, syscall.ENOTDIR
	}
	return Place{device, inode}, nil
}

// isBlank reports whether a file has white space only, or a byte order mark.
func isBlank(path string) bool {
	f, err := safefile.Open(path, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	for in := bufio.NewReader(f); ; {
		switch c, _, err := in.ReadRune(); {
		case err != nil:
			return errors.Is(err, io.EOF)
		case !unicode.IsSpace(c) && c != '\ufeff':
			return false
		}
	}
}

// named returns the name of a file in the project: on record it has slashes on every system, as its pattern has.
func (s *search) named(path string) string {
	name, _ := filepath.Rel(s.dir, path)
	return filepath.ToSlash(name)
}

// counts reports whether a path is a regular file that is not empty. One that was to be produced has to be in the project, and to
// be other than it was.
func (s *search) counts(path string) bool {
	info, err := os.Stat(path)
	if s.note(err); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	if !s.Every && isBlank(path) {
		name := s.named(path)
		s.Unfit = append(s.Unfit, message.Words(name)+" has nothing but white space, and counts as empty")
		return false
	}
	switch {
	case s.Anywhere:
		return true
	case s.Every && (s.taken == maxFiles || len(s.Digests) >= maxAll):
		s.over = fmt.Sprintf("more than %d files match", max(s.taken, maxFiles))
		return false
	case s.Every && s.ctx.Err() != nil:
		s.over = fmt.Sprintf("the search did not end within %v", searchTime)
		return false
	}
	name := s.named(path)
	if !isInside(s.dir, path) {
		s.Unfit = append(s.Unfit, message.Words(name)+" leads out of it, and does not count")
		return false
	}
	sum, err := DigestOf(path)
	switch s.note(err); {
	case err != nil:
	case s.Every:
		s.Digests[name] = sum
		s.taken++
	case s.Was[name] == sum:
		if s.same == "" || name < s.same { // a directory has no order
			s.same = name
		}
	default:
		return true
	}
	return false
}
