package txn

import "github.com/fsmtx/fsmtx/txn/vfs"

// Option changes how a directory is opened.
type Option func(*options)

type options struct {
	fs      vfs.FS
	locker  Locker
	history int
	keep    func(Entry) bool
}

// DefaultHistory is the number of committed transactions whose deleted files are
// kept unless WithHistory says otherwise.
const DefaultHistory = 10

func newOptions(opts []Option) options {
	o := options{fs: vfs.OS{}, locker: noLocker{}, history: DefaultHistory}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithFS replaces the file system. The default is vfs.OS.
func WithFS(fs vfs.FS) Option { return func(o *options) { o.fs = fs } }

// WithLocker excludes other writers by l, which must not be used by another open Dir.
// The default takes no locks, so that only this package may write to D.
func WithLocker(l Locker) Option { return func(o *options) { o.locker = l } }

// WithHistory keeps the deleted files of the last n transactions; 0 keeps none. The
// default is DefaultHistory.
func WithHistory(n int) Option { return func(o *options) { o.history = max(n, 0) } }

// WithKeep keeps each transaction for which keep returns true, with its record and its
// deleted files, even beyond the number of WithHistory. Opening D without this option
// prunes those transactions. keep is called while S is locked. By default no transaction
// is kept beyond that number.
func WithKeep(keep func(Entry) bool) Option { return func(o *options) { o.keep = keep } }
