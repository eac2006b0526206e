package settings

import "errors"

var (
	// ErrNotJSON means that the settings are not one JSON value in UTF-8; the
	// error says where. Comments are not JSON.
	ErrNotJSON = errors.New("not valid JSON")
	// ErrDuplicate means that an object of the settings has a name twice: which
	// of the two counts is the reader's choice, so there is no safe edit.
	ErrDuplicate = errors.New("a name is there twice")
	// ErrShape means that something on the way to a hook has another type than
	// the client documents; the error says which, as a JSON pointer.
	ErrShape = errors.New("not the shape of settings")
	// ErrChanged means that the file is not what it was when it was read.
	ErrChanged = errors.New("changed while it was being edited")
	// ErrNotRegular means that the path holds something else than a file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTemporary means that this program is one that go run built and is about
	// to delete.
	ErrTemporary = errors.New("go run made this program and deletes it when it ends")
)
