package txn

import (
	"github.com/fsmtx/fsmtx/internal/statefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Reader reads S without its lock, for readers that must not wait: what it reads may change
// meanwhile. It reads from the directory that OpenReader found, even if another one is at
// its path now. A Reader is not safe for concurrent use.
type Reader struct {
	statefile.View // of the state files in S

	d *Dir
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
	d.use(vfs.At(o.fs, held))
	return &Reader{d.View, d}, nil
}

// History is Dir.History; it may miss a transaction that commits meanwhile.
func (r *Reader) History() ([]Entry, error) { return r.d.History() }

// HistoryFrom is Dir.HistoryFrom; it may miss a transaction that commits meanwhile.
func (r *Reader) HistoryFrom(from func(last Entry) int64) ([]Entry, error) {
	return r.d.HistoryFrom(from)
}

// IsInterrupted reports whether a transaction is under way or was interrupted: what it did is
// not in the history yet.
func (r *Reader) IsInterrupted() bool {
	there, _ := r.d.exists(r.d.statePath(journalName))
	return there
}

// Close closes S. Closing a closed Reader does nothing.
func (r *Reader) Close() {
	if !r.d.closed {
		r.d.closed = true
		r.Shut()
		_ = r.d.held.Close() // opened for reading only
	}
}

// ReadState returns the content of a state file of dir without the lock, nil if the file does not
// exist. It creates nothing.
//
// Errors: ErrUntrustedDir, and those of the method.
func ReadState(dir, name string, opts ...Option) ([]byte, error) {
	r, err := OpenReader(dir, opts...)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	defer r.Close()
	return r.ReadState(name)
}
