package txn

import "github.com/fsmtx/fsmtx/txn/vfs"

// Option changes how a directory is opened.
type Option func(*options)

type options struct {
	fs      vfs.FS
	locker  Locker
	history int
	keep    func(Entry) bool
	intact  func([]byte) bool
	limit   int
	late    bool

	lateSync bool
}

// DefaultHistory is the number of committed transactions whose deleted files are
// kept unless WithHistory says otherwise.
const DefaultHistory = 10

func newOptions(opts []Option) options {
	o := options{fs: vfs.OS{}, locker: noLocker{}, history: DefaultHistory, limit: DefaultRecordLimit,
		intact: func([]byte) bool { return true }}
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

// WithIntact lets recovery tell a file that another program has written from one whose bytes
// a power cut has damaged: intact reports whether a file of D may have these bytes. By
// default any bytes will do that are neither the beginning of what the transaction wrote nor
// contain a zero byte that it did not write.
func WithIntact(intact func(data []byte) bool) Option { return func(o *options) { o.intact = intact } }

// DefaultRecordLimit is the limit of WithRecordLimit, 1 MiB: every reader of the history
// reads the records.
const DefaultRecordLimit = 1 << 20

// WithLateTidying leaves it to Close to remove what a committed transaction no longer needs, so that
// the caller can answer first. S stays locked until then. If the process dies before, the next Open
// removes it. By default Commit removes it.
func WithLateTidying() Option { return func(o *options) { o.late = true } }

// WithLateSync leaves it to the next Open to make the names of created files durable, which saves
// Commit the last of its waits for the disk. What Commit has done is durable nevertheless: after a
// power cut the next Open creates what is missing from the transaction's record. It cannot tell
// that from a file that another program has deleted, so it is for callers who open D before
// another program deletes such a file. Only changes of D that come a minute later, and are on the
// disk, show that nothing was lost.
func WithLateSync() Option { return func(o *options) { o.lateSync = true } }

// WithRecordLimit sets the size in bytes up to which a transaction is committed by its
// record alone, which has the bytes of its files. A larger transaction, and with 0 every
// transaction, is staged and synced file by file. Both keep the same promises. The default
// is DefaultRecordLimit.
func WithRecordLimit(n int) Option { return func(o *options) { o.limit = n } }
