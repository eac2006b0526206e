package locator

import (
	"strconv"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

var (
	// ErrNotRegular is returned by ReadSpec when the path is a directory, a FIFO, a
	// socket or a device.
	ErrNotRegular = safefile.ErrNotRegular
	// ErrDangling is returned by ReadSpec when the path is a symbolic link whose target
	// does not exist.
	ErrDangling = safefile.ErrDangling
	// ErrTooLarge is returned by ReadSpec when the file is larger than the limit.
	ErrTooLarge = safefile.ErrTooLarge
	// ErrMalformed is wrapped by a RegistryError when the registry of plugins is not
	// JSON or has an unknown form.
	ErrMalformed = client.ErrBadFile
)

// NameError is returned by Locate and CheckName when a command name cannot be that of a
// skill.
type NameError struct {
	Name   string
	Reason string // for people
}

// Error quotes the name, so that it cannot send control characters to a terminal.
func (e *NameError) Error() string {
	return "invalid command name " + quote(e.Name) + ": " + e.Reason
}

// quotedBytes is how many bytes of a name an error shows, enough to recognise the name.
const quotedBytes = 200

func quote(name string) string {
	if len(name) <= quotedBytes {
		return strconv.Quote(name)
	}
	return strconv.Quote(name[:quotedBytes]) + "..."
}

// RegistryError is returned by Locate when a plugin's skill cannot be looked up because the
// registry of plugins is missing (Err wraps fs.ErrNotExist), malformed
// (ErrMalformed) or cannot be read.
type RegistryError struct {
	Command string
	Err     error // its text begins with the path, and the line and column of a mistake
}

func (e *RegistryError) Error() string {
	return "Skill '" + e.Command + "' not found - installed_plugins.json is missing or malformed: " + e.Err.Error()
}

func (e *RegistryError) Unwrap() error { return e.Err }
