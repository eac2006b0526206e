package txn

import (
	"slices"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Reader reads S without its lock, for readers that must not wait: what it reads may change
// meanwhile. It reads from the directory that OpenReader found, even if another one is at
// its path now. A Reader is not safe for concurrent use.
type Reader struct {
	d     *Dir
	files vfs.FS // of S, for WriteUnlocked
}

// OpenReader opens the state directory of dir. It creates nothing. The caller closes the
// Reader.
//
// It returns fs.ErrNotExist if there is no state directory. Errors: those of ReadHistory.
func OpenReader(dir string, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	path, s, err := resolve(o.fs, dir)
	if err != nil {
		return nil, err
	}
	held, err := holdStateDir(o.fs, s)
	if err != nil {
		return nil, err
	}
	d := newDir(o, path, s)
	d.held = held
	files := vfs.At(o.fs, held)
	d.files = readOnly{files}
	return &Reader{d, files}, nil
}

// Path returns the absolute path of the directory, with its own symbolic link resolved.
func (r *Reader) Path() string { return r.d.d }

// History is Dir.History; it may miss a transaction that commits meanwhile.
func (r *Reader) History() ([]Entry, error) { return r.d.History() }

// Backwards calls look for the transactions of History, the newest first, until it returns false.
//
// Errors: those of History.
func (r *Reader) Backwards(look func(Entry) bool) error {
	ids, err := r.d.committed()
	for _, id := range slices.Backward(ids) {
		if e, ok := r.d.kept(id); ok && !look(e) {
			break
		}
	}
	return err
}

// ReadState is Dir.ReadState.
func (r *Reader) ReadState(name string) ([]byte, error) { return r.d.ReadState(name) }

// ReadStateFrom is Dir.ReadStateFrom.
func (r *Reader) ReadStateFrom(name string, offset int64) ([]byte, error) {
	return r.d.ReadStateFrom(name, offset)
}

// StateNames is Dir.StateNames.
func (r *Reader) StateNames(prefix string) ([]string, error) { return r.d.StateNames(prefix) }

// IsInterrupted reports whether a transaction is under way or was interrupted: what it did is
// not in the history yet.
func (r *Reader) IsInterrupted() bool {
	for _, name := range []string{committingName, journalName} {
		if there, _ := r.d.exists(r.d.statePath(name)); there {
			return true
		}
	}
	return false
}

// WriteUnlocked is Dir.WriteState without the lock, for a file that no other process writes. A process
// that is killed leaves at most a temporary file, which StateNames does not list.
//
// Errors: those of Dir.WriteState.
func (r *Reader) WriteUnlocked(name string, data []byte) error {
	if err := r.d.checkState(name); err != nil {
		return err
	}
	if err := r.files.WriteFile(r.d.statePath(name), r.d.s, data, 0o600); err != nil {
		return err
	}
	return r.files.Sync(r.d.s)
}

// Close closes S. Closing a closed Reader does nothing.
func (r *Reader) Close() {
	if !r.d.closed {
		r.d.closed = true
		_ = r.d.held.Close() // opened for reading only
	}
}
