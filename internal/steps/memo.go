package steps

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// A memo is a state file with one JSON value, on which no decision about a step depends. One that cannot be parsed says nothing.

func parseMemo[T any](data []byte) (value T) {
	if json.Unmarshal(data, &value, jsonx.Tolerant) != nil {
		value = *new(T)
	}
	return value
}

// recall reads a memo without the lock. A memo that does not exist is the zero value.
func recall[T any](st *Store, name string) (T, error) {
	data, err := txn.ReadState(st.List.Dir, name)
	return parseMemo[T](data), err
}

// remember replaces a memo under the lock of the list. One that is empty is removed.
func remember[T any](ctx context.Context, st *Store, name string, change func(T) T) error {
	return st.locked(ctx, func(dir *txn.Dir) error {
		data, err := dir.ReadState(name)
		if err != nil {
			return err
		}
		return writeMemo(dir, name, change(parseMemo[T](data)))
	})
}

func writeMemo(dir *txn.Dir, name string, value any) error {
	text, err := json.Marshal(value, jsonx.Tolerant, json.Deterministic(true))
	switch {
	case err != nil:
		return err
	case len(text) == len("[]"):
		return dir.RemoveState(name)
	}
	return dir.WriteState(name, text)
}
