package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// newList returns a directory that holds 1.json and 2.json, without a state
// directory.
func newList(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(memoryDir(t), "list")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for _, name := range []string{"1.json", "2.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("old "+name), 0o640))
	}
	return dir
}

// replacing deletes 2.json and creates 3.json and 4.json.
var replacing = Change{
	Creates: []File{{"3.json", []byte("new 3.json"), 0o644}, {"4.json", []byte("new 4.json"), 0o600}},
	Deletes: []string{"2.json"},
	Label:   "a label",
	Record:  "a record",
}

// commit opens dir, commits the change and closes dir.
func commit(t testing.TB, dir string, c Change, opts ...Option) error {
	t.Helper()
	d, err := Open(t.Context(), dir, opts...)
	require.NoError(t, err)
	defer d.Close()
	return d.Commit(t.Context(), c)
}

// contents returns the files in dir.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	m := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		m[e.Name()] = string(data)
	}
	return m
}

// names returns the names in dir.
func names(t testing.TB, dir string) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(tree(t, dir)))
}

// requireRolledBack fails unless dir is as it was in before and its state directory
// holds nothing but the lock file.
func requireRolledBack(t testing.TB, dir string, before map[string]string) {
	t.Helper()
	require.Equal(t, before, tree(t, dir))
	require.Equal(t, []string{".", lockName}, names(t, stateDirOf(dir)))
}

// before returns a file system that calls do ahead of each step.
func before(do func(faultfs.Step) error) vfs.FS {
	return &faultfs.Steps{FS: vfs.OS{}, Before: do}
}

// failing returns a file system on which the steps that match fail with err.
func failing(err error, match func(faultfs.Step) bool) vfs.FS {
	return &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if match(s) {
			return &fs.PathError{Op: s.Op, Path: s.Path, Err: err}
		}
		return nil
	}}
}

// replaceFile gives path a new inode with the text.
func replaceFile(path, text string) error {
	if err := os.WriteFile(path+".other", []byte(text), 0o640); err != nil {
		return err
	}
	return os.Rename(path+".other", path)
}

func TestCreatedFilesFollowTheUmask(t *testing.T) {
	for mask, want := range map[int]fs.FileMode{0o022: 0o644, 0o002: 0o664, 0o077: 0o600, 0: 0o666} {
		before := files.Umask(mask)
		dir := newList(t)
		err := commit(t, dir, Change{Creates: []File{{"3.json", nil, 0o666}, {"4.json", nil, 0o400}}})
		files.Umask(before)
		require.NoError(t, err)
		for name, want := range map[string]fs.FileMode{"3.json": want, "4.json": 0o400} {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Equal(t, want, info.Mode(), "%s with umask %04o", name, mask)
		}
		assert.Equal(t, want, history(t, dir)[0].Created[0].Mode)
	}
}

func TestCommitCreatesTheDirectoryAndOpenDoesNot(t *testing.T) {
	dir := filepath.Join(memoryDir(t), "tasks", "list")
	d := opened(t, dir)
	require.NoDirExists(t, dir)
	require.NoError(t, d.Commit(t.Context(), Change{Creates: []File{{"1.json", nil, 0o644}}}))
	require.FileExists(t, filepath.Join(dir, "1.json"))
}

func TestCommitUsesTheDirectoryBehindASymbolicLink(t *testing.T) {
	dir := newList(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	d := opened(t, link)
	want, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	assert.Equal(t, want, d.Path())
	s, err := StateDir(link)
	require.NoError(t, err)
	assert.Equal(t, stateDirOf(want), s)
	require.NoError(t, d.Commit(t.Context(), replacing))
	assert.FileExists(t, filepath.Join(dir, "3.json"))
	assert.Equal(t, []string{".", "link"}, names(t, filepath.Dir(link)))
}

// TestCommitAcceptsItsLimits, and recovery reads what it writes.
func TestCommitAcceptsItsLimits(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"3.json", make([]byte, vfs.MaxFileBytes), 0o644}}}))
	require.NoError(t, commit(t, dir, Change{Deletes: []string{"3.json"}}, WithHistory(0)), "it can be read again")
	require.ErrorIs(t, commit(t, dir, Change{Deletes: slices.Repeat([]string{"2.json"}, MaxEntries)}), ErrName, "they are not too many")

	empty, err := new(journal).encode()
	require.NoError(t, err)
	_, err = (&journal{Label: strings.Repeat("a", vfs.MaxFileBytes-len(empty))}).encode()
	require.NoError(t, err)
	_, err = (&journal{Label: strings.Repeat("a", vfs.MaxFileBytes-len(empty)+1)}).encode()
	require.ErrorIs(t, err, vfs.ErrFileTooLarge)
}

func TestCommitRefusesNamesThatAreNotOnePathElement(t *testing.T) {
	long := strings.Repeat("x", maxName)
	for _, name := range []string{"", ".", "..", "/etc/passwd", "../x", "sub/x", "x/", "a\x00b", "a\xff", long + "x"} {
		for op, c := range map[string]Change{
			"create": {Creates: []File{{name, nil, 0o644}}},
			"delete": {Deletes: []string{name}},
		} {
			dir := newList(t)
			before := tree(t, filepath.Dir(dir), ".list.fsmtx")
			err := commit(t, dir, c)
			require.ErrorIs(t, err, ErrName, "%s %q", op, name)
			var failed *FileError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, FileError{op, name, ErrName}, *failed)
			assert.Equal(t, before, tree(t, filepath.Dir(dir), ".list.fsmtx"))
			requireRolledBack(t, dir, tree(t, dir))
		}
	}
	dir := newList(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, long), nil, 0o644))
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"..x", nil, 0o644}, {"ä b\n", nil, 0o644}}}))
	require.NoError(t, commit(t, dir, Change{Deletes: []string{long, "..x", "ä b\n"}}))
}

// TestNamesOfDirectoriesThatAreRefused: the name of S is longer than that of D, and the
// journal contains the name of D as UTF-8.
func TestNamesOfDirectoriesThatAreRefused(t *testing.T) {
	root := memoryDir(t)
	for name, why := range map[string]string{
		"\xff":                   "invalid name: the directory's name is not UTF-8",
		strings.Repeat("x", 249): "invalid name: the name has 249 bytes, and more than 248 leave no room for the state directory beside it",
		strings.Repeat("é", 150): "invalid name: the name has 300 bytes, and more than 248 leave no room for the state directory beside it",
	} {
		for call, open := range openers {
			dir := filepath.Join(root, name)
			err := open(t.Context(), dir)
			require.ErrorIs(t, err, ErrName, call)
			require.EqualError(t, err, dir+": "+why, call)
		}
	}
	assert.Equal(t, []string{"."}, names(t, root))
	require.NoError(t, commit(t, filepath.Join(root, strings.Repeat("x", 248)), Change{Creates: []File{{"1.json", nil, 0o644}}}))

	if err := os.Mkdir(filepath.Join(root, "\xff"), 0o755); err != nil {
		t.Skipf("skipped: this file system has no names that are not UTF-8: %v", err)
	}
	require.NoError(t, os.Symlink("\xff", filepath.Join(root, "link")))
	_, err := Open(t.Context(), filepath.Join(root, "link"))
	require.ErrorIs(t, err, ErrName)
	require.NoError(t, commit(t, filepath.Join(root, "\xff", "list"), Change{Creates: []File{{"1.json", nil, 0o644}}}),
		"only the last element matters")
}

// TestRollbackReportsAFileThatReplacedADeletedOne: after the transaction has deleted a file,
// another program creates one of the same name, and then the transaction fails.
func TestRollbackReportsAFileThatReplacedADeletedOne(t *testing.T) {
	dir := newList(t)
	list := tree(t, dir)
	path := filepath.Join(dir, "2.json")
	err := commit(t, dir, replacing, WithFS(before(func(s faultfs.Step) error {
		if s.Op != "sync" || s.Path != dir {
			return nil
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return errors.Join(errTest, os.WriteFile(path, []byte("another program's"), 0o644))
		}
		return nil
	})))
	require.ErrorIs(t, err, errTest)
	require.ErrorContains(t, err, "2.json: "+whyReplaced+"; it is now ")
	require.Equal(t, list, tree(t, dir))
	_, moved, _ := strings.Cut(err.Error(), "; it is now ")
	text, err := os.ReadFile(moved)
	require.NoError(t, err)
	require.Equal(t, "another program's", string(text))
}

// TestCommitDoesNotDeleteAnotherFile replaces the file to be deleted before and
// after its backup link is made.
func TestCommitDoesNotDeleteAnotherFile(t *testing.T) {
	for name, run := range map[string]func(t *testing.T, path string) error{
		"while it is staged": func(t *testing.T, path string) error {
			return commit(t, filepath.Dir(path), replacing, WithFS(before(func(s faultfs.Step) error {
				if s.Op == "link" && s.Path == path {
					return replaceFile(path, "another program's")
				}
				assert.False(t, s.Op == "link" && filepath.Dir(s.To) == filepath.Dir(path), "D is changed all the same")
				return nil
			})))
		},
		"while it is applied": func(t *testing.T, path string) error {
			return commit(t, filepath.Dir(path), replacing, WithFS(before(once(linksInto(filepath.Dir(path)), func() error {
				return replaceFile(path, "another program's")
			}))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newList(t)
			err := run(t, filepath.Join(dir, "2.json"))
			require.ErrorIs(t, err, ErrChanged)
			require.ErrorContains(t, err, "delete 2.json")
			assert.Equal(t, "another program's", contents(t, dir)["2.json"])
			assert.NotContains(t, contents(t, dir), "3.json")
		})
	}
}

var errTest = errors.New("test")

// TestAMarkOnlyRises: it is raised before a file is created, so that another program never takes a
// number for free that the transaction uses, and a rollback leaves it.
func TestAMarkOnlyRises(t *testing.T) {
	marked := func(n int) Change {
		c := replacing
		c.Mark = &Mark{File{"mark", []byte(strconv.Itoa(n)), 0o644}, func(now []byte) bool {
			was, _ := strconv.Atoi(string(now))
			return was >= n
		}}
		return c
	}
	for was, want := range map[string]string{"": "7", "6": "7", "7": "7", "8": "8", "x": "7"} {
		dir := newList(t)
		if was != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "mark"), []byte(was), 0o644))
		}
		err := commit(t, dir, marked(7), WithFS(before(once(linksInto(dir), func() error {
			assert.Equal(t, want, contents(t, dir)["mark"], "it comes first")
			return errTest
		}))))
		require.ErrorIs(t, err, errTest)
		require.Equal(t, want, contents(t, dir)["mark"], "%q", was)
		require.NoError(t, commit(t, dir, marked(7)))
		require.Equal(t, want, contents(t, dir)["mark"], "%q", was)
		require.NotContains(t, names(t, stateDirOf(dir)), txnPrefix+history(t, dir)[0].ID+"/"+markName)
	}
	dir := newList(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "mark"), 0o755))
	require.NoError(t, commit(t, dir, marked(7)), "nobody can raise that")
	require.ErrorIs(t, commit(t, dir, Change{Mark: &Mark{File: File{Name: "a/b"}}}), ErrName)
	c := marked(7)
	c.Creates = []File{{"mark", nil, 0o644}}
	require.ErrorIs(t, commit(t, dir, c), ErrName, "a mark is not part of the transaction")
}

// linksInto reports whether a step links a file into the directory.
func linksInto(dir string) func(faultfs.Step) bool {
	return func(s faultfs.Step) bool { return s.Op == "link" && filepath.Dir(s.To) == dir }
}

// once calls do before the first step for which is returns true.
func once(is func(faultfs.Step) bool, do func() error) func(faultfs.Step) error {
	done := false
	return func(s faultfs.Step) error {
		if done || !is(s) {
			return nil
		}
		done = true
		return do()
	}
}

// TestCommitStopsWhenTheContextEnds ends it at every step.
func TestCommitStopsWhenTheContextEnds(t *testing.T) {
	for n := 0; ; n++ {
		dir := newList(t)
		list := tree(t, dir)
		ctx, cancel := context.WithCancelCause(t.Context())
		left, last, committing, late := n, faultfs.Step{}, false, false
		files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
			committing = committing || strings.HasPrefix(filepath.Base(s.To), donePrefix)
			if left--; left == -1 {
				last, late = s, committing
				cancel(errTest)
			}
			return nil
		}}
		d, err := Open(context.Background(), dir, WithFS(files))
		require.NoError(t, err)
		err = d.Commit(ctx, replacing)
		require.NoError(t, d.Close())
		if err != nil {
			require.ErrorIs(t, err, errTest, "at step %d, %s", n, last)
			requireRolledBack(t, dir, list)
			continue
		}
		require.Equal(t, []string{"1.json", "3.json", "4.json"}, slices.Sorted(maps.Keys(contents(t, dir))))
		if ctx.Err() == nil {
			require.Greater(t, n, 20, "few steps")
			return
		}
		require.True(t, late, "the end of the context at step %d, %s, went unnoticed", n, last)
	}
}

func TestOutcomeIsUnknownWhenTheLastSyncFails(t *testing.T) {
	dir := newList(t)
	committed := false
	err := commit(t, dir, replacing, WithFS(before(func(s faultfs.Step) error {
		if committed && s.Op == "sync" {
			return syscall.EIO
		}
		committed = committed || strings.HasPrefix(filepath.Base(s.To), donePrefix)
		return nil
	})))
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, err, syscall.EIO)
	require.NotErrorIs(t, err, ErrRecoveryRequired)
	require.Equal(t, []string{"1.json", "3.json", "4.json"}, slices.Sorted(maps.Keys(contents(t, dir))), "nothing is undone")

	r := recovered(t, dir)
	require.Equal(t, RolledBack, r.Outcome, "of a sync that failed nothing is believed")
}

// TestADirectoryThatCannotBeSyncedIsNoFailure: its names are as durable as the file system makes them.
// Any other error is one, and so is every error of a file's sync.
func TestADirectoryThatCannotBeSyncedIsNoFailure(t *testing.T) {
	isDir := func(s faultfs.Step) bool {
		info, err := os.Lstat(s.Path)
		return s.Op == "sync" && err == nil && info.IsDir()
	}
	for _, errno := range []error{syscall.EINVAL, syscall.ENOTSUP} {
		dir := newList(t)
		require.NoError(t, commit(t, dir, replacing, WithFS(failing(errno, isDir))))
		w := newWorld(t)
		r := recovered(t, w.d, WithFS(failing(errno, isDir)))
		require.Equal(t, RolledBack, r.Outcome)
		require.ErrorIs(t, commit(t, dir, create("9.json"), WithFS(failing(errno, func(s faultfs.Step) bool {
			return s.Op == "sync" && !isDir(s)
		}))), errno)
	}
	require.ErrorIs(t, commit(t, newList(t), replacing, WithFS(failing(syscall.EIO, isDir))), syscall.EIO)
}

// TestCommitLeavesOnlyHistory lists what a transaction leaves in the state directory.
func TestCommitLeavesOnlyHistory(t *testing.T) {
	for _, c := range []struct {
		change Change
		kept   []string
	}{{replacing, []string{"old", "old/2.json"}}, {create("3.json"), nil}} {
		dir := newList(t)
		require.NoError(t, commit(t, dir, c.change))
		id := history(t, dir)[0].ID
		want := []string{".", donePrefix + id, lockName, txnPrefix + id}
		for _, name := range c.kept {
			want = append(want, txnPrefix+id+"/"+name)
		}
		assert.Equal(t, want, names(t, stateDirOf(dir)))
	}
}

// TestEverythingIsSyncedBeforeTheDirectoryIsChanged checks barriers B1 and B2.
func TestEverythingIsSyncedBeforeTheDirectoryIsChanged(t *testing.T) {
	dir := newList(t)
	synced, linked := map[string]bool{}, false
	require.NoError(t, commit(t, dir, replacing, WithFS(before(func(s faultfs.Step) error {
		if s.Op == "sync" && !linked {
			synced[s.String()] = true
		}
		if s.Op == "link" && s.Path == filepath.Join(dir, "2.json") {
			assert.True(t, synced["sync 2.json"], "a file is synced before its backup link is made")
		}
		linked = linked || s.Op == "link" && filepath.Dir(s.To) == dir
		return nil
	}))))
	for _, want := range []string{"2.json", "S/txn/new/.3.json", "S/txn/new/.4.json", "S/txn/.draft", "S/txn", "S/txn/new", "S/txn/old",
		"S", filepath.Base(filepath.Dir(dir))} {
		assert.True(t, synced["sync "+want], "%s; synced are %v", want, slices.Sorted(maps.Keys(synced)))
	}
}

// TestAllIsWrittenBeforeAnythingIsSynced: a file system with a journal then commits it once for all files, and once for
// all names.
func TestAllIsWrittenBeforeAnythingIsSynced(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	undo := Change{Restores: []Restore{{history(t, dir)[0].ID, "2.json"}}, Deletes: []string{"3.json", "4.json"},
		Creates: []File{{"5.json", []byte("5"), 0o644}},
		Mark:    &Mark{File: File{Name: "mark", Mode: 0o644}, Reached: func([]byte) bool { return false }}}
	var all []string
	require.NoError(t, commit(t, dir, undo, WithFS(before(func(s faultfs.Step) error {
		all = append(all, s.String())
		return nil
	}))))
	kinds := ""
	for _, step := range all {
		switch inStaging := strings.Contains(step, "S/txn/"); {
		case strings.HasPrefix(step, "write") && inStaging:
			kinds += "w"
		case strings.HasPrefix(step, "sync") && (strings.HasSuffix(step, ".json") || strings.HasPrefix(step, "sync S/txn/.")):
			kinds += "s"
		case (strings.HasPrefix(step, "link") || strings.HasPrefix(step, "rename")) && strings.Contains(step, " to S/"):
			kinds += "n"
		case step == "sync S":
			kinds += "."
		}
	}
	// the mark, a restored file, two deleted ones, a new one, and the journal
	assert.Equal(t, "wwwssssss"+"nnnnnn"+"."+"n"+".", kinds, "%q", all)
}

// TestMoreFilesThanMayBeOpen are written and synced some at a time.
func TestMoreFilesThanMayBeOpen(t *testing.T) {
	dir := newList(t)
	defer files.LimitOpen(t, 100)()
	var c Change
	for n := range 300 {
		c.Creates = append(c.Creates, File{fmt.Sprintf("%d.json", n+10), []byte("x"), 0o644})
	}
	require.NoError(t, commit(t, dir, c))
	assert.FileExists(t, dir+"/309.json")
}

// TestDirectoriesAboveAreSynced before D is changed: those in which Open created a name and, in the first transaction, further ones that
// belong to this user, because the creator of D may not have done so. Later transactions do not repeat it.
func TestDirectoriesAboveAreSynced(t *testing.T) {
	const list = "/a/b/c/d/list"
	for name, c := range map[string]struct {
		dir     string
		prepare func(root string) error
		unseen  string // cannot be looked at
		want    []string
	}{
		"first": {list, nil, "", []string{"/a/b", "/a/b/c", "/a/b/c/d"}},
		"later": {list, func(root string) error { return commit(t, root+list, create("1.json")) }, "",
			[]string{"/a/b/c/d"}},
		"created": {"/x/y/list", nil, "", []string{"", "/x", "/x/y"}},
		"one that cannot be opened": {list, func(root string) error { return os.Chmod(root+"/a/b", 0o300) }, "",
			[]string{"/a/b/c", "/a/b/c/d"}},
		"one that cannot be looked at": {list, nil, "/a/b", []string{"/a/b", "/a/b/c", "/a/b/c/d"}},
		"above the target of a link": {"/link/list", func(root string) error { return os.Symlink("a/b/c/d", root+"/link") }, "",
			[]string{"/a/b", "/a/b/c", "/link"}},
		"of another user": {list, func(root string) error { return os.Chown(root+"/a/b", 65534, 65534) }, "", []string{"/a/b/c", "/a/b/c/d"}},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(memoryDir(t))
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(root+list, 0o755))
			if c.prepare != nil {
				if err := c.prepare(root); errors.Is(err, fs.ErrPermission) {
					t.Skip("skipped: only root can give a directory away")
				} else {
					require.NoError(t, err)
				}
			}
			synced, changed := map[string]bool{}, false
			files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
				changed = changed || linksInto(root+c.dir)(s)
				if s.Op == "sync" && !changed && !strings.Contains(s.Path, stateSuffix) {
					synced[strings.TrimPrefix(s.Path, root)] = true
				}
				if c.unseen != "" && s.Op == "lstat" && s.Path == root+c.unseen {
					return syscall.EIO
				}
				return nil
			}}
			require.NoError(t, commit(t, root+c.dir, create("2.json"), WithFS(files)))
			assert.Equal(t, c.want, slices.Sorted(maps.Keys(synced)))
		})
	}
}
