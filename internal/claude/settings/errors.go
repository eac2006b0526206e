package settings

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Errors about the content of a settings file. Their text begins with
// "line:column: "; callers put the file's path and a colon before it.
var (
	// ErrNotJSON is returned when the file is not exactly one JSON value in UTF-8.
	// JSON with comments is not JSON.
	ErrNotJSON = errors.New("not valid JSON")
	// ErrDuplicate is returned when an object has the same name twice. Readers
	// differ in which of the two they take, so no edit is safe.
	ErrDuplicate = jsontext.ErrDuplicateName
	// ErrShape is returned when a value on the way to a hook has another type than
	// the client documents. The error names the value by its JSON pointer.
	ErrShape = errors.New("unexpected settings")
	// ErrForeign is returned when the MCP server of our name is another program.
	ErrForeign = errors.New("this MCP server was added by somebody else")
)

var (
	// ErrNotOnPath is returned by CheckName when PATH does not lead to this program.
	ErrNotOnPath = errors.New("this program is not the " + Program + " on PATH")
	// ErrTemporary is returned when go run built this program and will delete it.
	ErrTemporary = errors.New("this program was built by go run, which deletes it when it ends")
)
