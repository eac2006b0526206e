package state

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// A memo is a state file with one JSON value, on which no decision about a step depends. One that cannot be parsed says nothing.

// ParseMemo returns the value of a memo, the zero value if it cannot be parsed.
func ParseMemo[T any](data []byte) (value T) {
	if json.Unmarshal(data, &value, jsonx.Tolerant) != nil {
		value = *new(T)
	}
	return value
}

// Recall reads a memo without the lock. A memo that does not exist is the zero value.
func Recall[T any](st *Store, name string) (T, error) {
	data, err := txn.ReadState(st.List.Dir, name)
	return ParseMemo[T](data), err
}

// Remember replaces a memo under the lock of the list. One that is empty is removed.
func Remember[T any](ctx context.Context, st *Store, name string, change func(T) T) error {
	return st.Locked(ctx, func(dir *txn.Dir) error {
		data, err := dir.ReadState(name)
		if err != nil {
			return err
		}
		return WriteMemo(dir, name, change(ParseMemo[T](data)))
	})
}

// WriteMemo replaces a memo in a list that is locked. One that is empty is removed.
func WriteMemo(dir *txn.Dir, name string, value any) error {
	text, err := json.Marshal(value, jsonx.Tolerant, json.Deterministic(true))
	switch {
	case err != nil:
		return err
	case len(text) == len("[]"):
		return dir.RemoveState(name)
	}
	return dir.WriteState(name, text)
}
