package settings

import (
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
)

// errUnread is returned for a file that exists and cannot be read, such as a directory or another user's. Its
// content is unknown.
var errUnread = message.NewError("cannot be read", "make it a file that you can read, or move it away; it was not changed")

// Errors about the content of a settings file. Their text begins with
// "line:column: "; callers put the file's path and a colon before it.
var (
	// ErrNotJSON is returned when the file is not exactly one JSON value in UTF-8.
	// JSON with comments is not valid either (fact 97, client 2.1.329).
	ErrNotJSON = message.NewError("not valid JSON", "correct the file, or move it away; it was not changed")
	// ErrShape is returned when a value on the path to a hook does not have the type
	// that the client documents. The error contains the value's JSON pointer.
	ErrShape = message.NewError("unexpected settings", "correct the file; it was not changed")
	// ErrNewer is returned for a file whose hooks a newer program has written; see form.
	ErrNewer = message.NewError("its hooks are of a newer "+Program+" than this one, so they stay as they are",
		"update this program: "+programs.Home+"; or, if nobody else uses the file, "+Program+" install --remove takes the hooks out")
	// ErrStatusLine is returned when the file has a status line of another program.
	ErrStatusLine = message.NewError("the file has a status line of its own",
		"run "+Program+" statusline in that line, or remove it; the file was not changed")
	// ErrForeign is returned when the MCP server with our name is another program's.
	ErrForeign = message.NewError("not the MCP server of "+Program, "rename or remove that server; the file was not changed")
)

var (
	// ErrNotOnPath is returned by CheckName when Program on PATH is missing or is
	// another program.
	ErrNotOnPath = message.NewError("this program is not the "+Program+" on PATH",
		"put this program first on PATH under that name, or install with --local or --user, which register its path")
	// ErrRenamed is returned when this program has another name than Program, by which hooks are known
	// again: neither doctor nor install --remove would find what it writes.
	ErrRenamed = message.NewError("this program is not called "+Program+", the name by which its hooks are known",
		"rename it to "+Program+", and run install with that program")
	// ErrUnnamable is returned when the path of this program is not valid UTF-8, which is all that JSON can hold.
	ErrUnnamable = message.NewError("the path of this program is not valid UTF-8, so no file can name it",
		"move it into another directory, and run install with that program")
	// ErrTemporary is returned when go run built this program, and will delete it.
	ErrTemporary = message.NewError("this program was built by go run, which deletes it when it ends",
		"run go install or make build, and run install with that program")
)
