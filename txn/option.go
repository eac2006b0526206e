package txn

import "github.com/fsmtx/fsmtx/txn/vfs"

// Option changes how a directory is opened.
type Option func(*options)

type options struct {
	fs      vfs.FS
	locker  Locker
	history int
}

// DefaultHistory is how many committed transactions keep their deleted files.
const DefaultHistory = 10

func newOptions(opts []Option) options {
	o := options{
		fs:      vfs.OS{},
		locker:  noLocker{},
		history: DefaultHistory,
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithFS puts fs in the place of the operating system's file system.
func WithFS(fs vfs.FS) Option { return func(o *options) { o.fs = fs } }

// WithLocker excludes other writers by l, which must not serve another open Dir.
// The default takes no locks: nobody but this package may write to D.
func WithLocker(l Locker) Option { return func(o *options) { o.locker = l } }

// WithHistory keeps the deleted files of the last n transactions instead of
// DefaultHistory; 0 keeps none.
func WithHistory(n int) Option { return func(o *options) { o.history = max(n, 0) } }
