package txn

import "github.com/fsmtx/fsmtx/txn/vfs"

// Option changes how a directory is opened.
type Option func(*options)

type options struct {
	fs      vfs.FS
	locker  Locker
	history int
	keep    func(history []Entry) map[string][]string
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

// WithKeep keeps transactions even beyond the number of WithHistory: those whose ids keep returns for the history, with their records and
// their deleted files, except the files that it names for an id. A commit without this option
// prunes those transactions. keep is called while S is locked, and only if the history is longer than that number. By default no
// transaction is kept beyond it.
func WithKeep(keep func(history []Entry) (kept map[string][]string)) Option {
	return func(o *options) { o.keep = keep }
}
