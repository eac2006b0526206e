package locator

import (
	"errors"
	"strconv"
)

var (
	// ErrDirectory means that a directory is where a file is wanted.
	ErrDirectory = errors.New("is a directory")
	// ErrNotRegular means that a FIFO, a socket or a device is where a file is
	// wanted. It is never opened.
	ErrNotRegular = errors.New("is not a regular file")
	// ErrDangling means that a symbolic link leads to nothing.
	ErrDangling = errors.New("is a symbolic link that leads nowhere")
	// ErrTooLarge means that a file is larger than its reader allows.
	ErrTooLarge = errors.New("is too large")
	// ErrMalformed means that a file of the client is not valid JSON or not of
	// a shape that is known.
	ErrMalformed = errors.New("malformed")
)

// FileError says which file cannot be used and why. Cause is or wraps one of
// the values above, fs.ErrNotExist, fs.ErrPermission or what else the
// filesystem said.
type FileError struct {
	Path  string
	Cause error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Cause.Error() }

func (e *FileError) Unwrap() error { return e.Cause }

// NameError refuses a command name.
type NameError struct {
	Name   string
	Reason string
}

// Error quotes the name, so that no byte of it reaches a terminal raw.
func (e *NameError) Error() string {
	return "command name " + quote(e.Name) + " is refused: " + e.Reason
}

// quotedBytes is how much of a name an error shows: enough to recognise it.
const quotedBytes = 200

func quote(name string) string {
	if len(name) <= quotedBytes {
		return strconv.Quote(name)
	}
	return strconv.Quote(name[:quotedBytes]) + "..."
}

// RegistryError means that a plugin's skill cannot be looked for, because the
// registry of plugins is missing, cannot be read or is malformed. Cause is a
// [FileError].
type RegistryError struct {
	Command string
	Cause   error
}

func (e *RegistryError) Error() string {
	return "Skill '" + e.Command + "' not found - installed_plugins.json is missing or malformed: " + e.Cause.Error()
}

func (e *RegistryError) Unwrap() error { return e.Cause }
