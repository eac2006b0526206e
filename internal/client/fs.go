package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// FS is the file system that the client's files are read from.
type FS = safefile.FS

// maxFile bounds a file of the client. The largest seen, a marketplace of hundreds
// of plugins, is under one MiB.
const maxFile = 16 << 20

// ErrBadFile is returned when a file is not JSON or does not have a known form. The
// error's text gives the line, the column and the mistake.
var ErrBadFile = errors.New("malformed")

// FileError reports that a file, or a part of it, cannot be used. Err is a [*jsonx.SyntaxError], an
// error of package frontmatter or safefile, or one of the file system, such as fs.ErrNotExist.
type FileError struct {
	Path string
	Err  error
}

// Error has the form "path: message", and "path:line:column: message" for ErrBadFile.
func (e *FileError) Error() string {
	if e.Is(ErrBadFile) {
		return e.Path + ":" + e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// Is reports whether the error is ErrBadFile.
func (e *FileError) Is(target error) bool {
	_, is := errors.AsType[*jsonx.SyntaxError](e.Err)
	return is && target == ErrBadFile
}

// fileError adds the path to err. It replaces the path of an *fs.PathError, so that it
// is not repeated.
func fileError(path string, err error) *FileError {
	if f, ok := errors.AsType[*FileError](err); ok {
		return f
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &FileError{path, err}
}

// mistakeAt returns an ErrBadFile at an offset of data.
func mistakeAt(data []byte, offset int, format string, args ...any) error {
	return &jsonx.SyntaxError{Position: jsonx.PositionAt(data, offset), Err: fmt.Errorf(format, args...)}
}

// readJSON reads a file of the client, which may begin with a byte order mark (fact 169), into a value. Its errors are
// of type *FileError.
func readJSON(fsys FS, path string, into any) error {
	data, err := safefile.ReadFileIn(fsys, path, maxFile)
	if err == nil {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		err = jsonx.Explain(data, json.Unmarshal(data, into, jsonx.Tolerant))
	}
	if err != nil {
		return fileError(path, err)
	}
	return nil
}

// isMissing reports whether err means that there is no file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func isDir(fsys FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.IsDir()
}

// resolver resolves symbolic links. It asks the file system once about each path: the plugins of a
// registry have most of the directories above them in common.
type resolver struct {
	fs    FS
	links map[string]link // by path
}

// link is what FS.Readlink returned.
type link struct {
	to  string
	err error
}

func newResolver(fsys FS) *resolver { return &resolver{fsys, map[string]link{}} }

// resolve returns a directory without symbolic links. Names that do not exist are kept: a project
// may have been deleted since its plugin was installed.
func (r *resolver) resolve(dir string) string { return safefile.ResolveWith(r.readlink, dir) }

func (r *resolver) readlink(path string) (string, error) {
	l, ok := r.links[path]
	if !ok {
		l.to, l.err = r.fs.Readlink(path)
		r.links[path] = l
	}
	return l.to, l.err
}
