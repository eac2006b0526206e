package txn

import (
	"context"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// errorCase provokes an error that the doc comment of a function names.
type errorCase struct {
	name string // as in the doc comment
	is   error  // for errors.Is
	as   func(error) bool
	run  func(t *testing.T, call opener) error
}

// opener is Open, Recover, Inspect or SetAside.
type opener func(ctx context.Context, dir string, opts ...Option) error

var openers = map[string]opener{
	"Open": func(ctx context.Context, dir string, opts ...Option) error {
		d, err := Open(ctx, dir, opts...)
		if err == nil {
			err = d.Close()
		}
		return err
	},
	"Recover": func(ctx context.Context, dir string, opts ...Option) error {
		_, err := Recover(ctx, dir, opts...)
		return err
	},
	"Inspect": func(ctx context.Context, dir string, opts ...Option) error {
		_, err := Inspect(ctx, dir, opts...)
		return err
	},
	"SetAside": func(ctx context.Context, dir string, opts ...Option) error {
		_, err := SetAside(ctx, dir, opts...)
		return err
	},
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func ended(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}

// onWorld returns a run in an interrupted world with something planted in it.
func onWorld(what string) func(*testing.T, opener) error {
	return func(t *testing.T, call opener) error {
		w := newWorld(t)
		w.plant(t, what)
		return call(t.Context(), w.d)
	}
}

// openErrors are the errors of the functions that open a directory.
var openErrors = []errorCase{
	{name: "ErrLocked", is: ErrLocked, as: as[*LockedError], run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		d, err := open(t.Context(), w.d, newOptions(nil))
		require.NoError(t, err)
		defer d.Close()
		return call(ended(errTest), w.d)
	}},
	{name: "ErrUntrustedDir", is: ErrUntrustedDir, run: onWorld(". open")},
	{name: "ErrName", is: ErrName, run: func(t *testing.T, call opener) error { return call(t.Context(), t.TempDir()+"/\xff") }},
	{name: "vfs.ErrNotOwn", is: vfs.ErrNotOwn, run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		require.NoError(t, os.Link(w.in(lockName), w.path("outside/lock")))
		return call(t.Context(), w.d)
	}},
	{name: "vfs.ErrNotRegular", is: vfs.ErrNotRegular, run: onWorld("lock link secret")},
	{name: "*JournalError", is: ErrJournalTorn, as: as[*JournalError], run: onWorld("journal written")},
	{name: "*FileError", is: errTest, as: as[*FileError], run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		return call(t.Context(), w.d,
			WithFS(failing(errTest, func(s faultfs.Step) bool { return s.Op == "lstat" && s.Path == w.file("2.json") })))
	}},
	{name: "context.Cause(ctx)", is: errTest, run: func(t *testing.T, call opener) error { return call(ended(errTest), newWorld(t).d) }},
	{name: "the Locker's", is: errTest, run: func(t *testing.T, call opener) error {
		return call(t.Context(), newWorld(t).d, WithLocker(&recorder{fails: map[string][]error{"reap": {errTest}}}))
	}},
	{name: "the file system's", is: errTest, run: func(t *testing.T, call opener) error {
		return call(t.Context(), newWorld(t).d, WithFS(failingAt("read")))
	}},
}

// without returns the cases except the named ones.
func without(cases []errorCase, names ...string) []errorCase {
	return slices.DeleteFunc(slices.Clone(cases), func(c errorCase) bool { return slices.Contains(names, c.name) })
}

// onDir returns a run that calls do on an open directory.
func onDir(do func(d *Dir) error, opts ...Option) func(*testing.T, opener) error {
	return func(t *testing.T, _ opener) error {
		d, err := Open(t.Context(), newList(t), opts...)
		require.NoError(t, err)
		defer d.Close()
		return do(d)
	}
}

// onClosed does that once it is closed, and onFailing when its file system fails at an operation.
func onClosed(do func(d *Dir) error) func(*testing.T, opener) error {
	return onDir(func(d *Dir) error { return errors.Join(d.Close(), do(d)) })
}

func onFailing(op string, do func(d *Dir) error) func(*testing.T, opener) error {
	return onDir(func(d *Dir) error {
		d.files = failingAt(op)
		return do(d)
	})
}

func failingAt(op string) vfs.FS {
	return failing(errTest, func(s faultfs.Step) bool { return s.Op == op })
}

func create(name string) Change { return Change{Creates: []File{{name, nil, 0o644}}} }

// afterJournal returns a file system on which, for "remove", the removal of the journal and
// every later step fail, and for "rename" every sync after the journal was renamed.
func afterJournal(op string) vfs.FS {
	dead := false
	return before(func(s faultfs.Step) error {
		if dead = dead || s.Op == op && filepath.Base(s.Path) == journalName; dead && (op != "rename" || s.Op == "sync") {
			return errTest
		}
		return nil
	})
}

// documented has a case for each error that the doc comment of a function names. "Those of
// Open" are written out.
var documented = map[string][]errorCase{
	"Open":    openErrors,
	"Recover": openErrors,
	"Inspect": without(openErrors, "the Locker's"),
	"SetAside": append(without(openErrors, "*JournalError", "*FileError"),
		errorCase{name: "ErrJournalTrusted", is: ErrJournalTrusted, run: func(t *testing.T,
			call opener) error {
			return call(t.Context(), newWorld(t).d)
		}},
	),
	"StateDir": {
		{name: "ErrName", is: ErrName, run: func(t *testing.T, _ opener) error {
			_, err := StateDir(strings.Repeat("x", 249))
			return err
		}},
		{name: "ErrUntrustedDir", is: ErrUntrustedDir, run: func(t *testing.T, _ opener) error {
			_, err := StateDir(filepath.Join(newList(t), "1.json"))
			return err
		}},
		{name: "the file system's", is: syscall.ENOTDIR, run: func(t *testing.T, _ opener) error {
			_, err := StateDir(filepath.Join(newList(t), "1.json", "x"))
			return err
		}},
	},
	"Lock": {
		{name: "ErrClosed", is: ErrClosed, run: onClosed(func(d *Dir) error { _, err := d.Lock(context.Background()); return err })},
		{name: "the Locker's", is: errTest, run: onDir(func(d *Dir) error { _, err := d.Lock(context.Background()); return err },
			WithLocker(&recorder{fails: map[string][]error{"lock": {errTest}}}))},
		{name: "the file system's", is: errTest, run: func(t *testing.T, _ opener) error {
			dir := filepath.Join(memoryDir(t), "list")
			d, err := Open(t.Context(), dir, WithFS(failing(errTest, func(s faultfs.Step) bool { return s.Path == dir && s.Op == "mkdir" })))
			require.NoError(t, err)
			defer d.Close()
			_, err = d.Lock(t.Context())
			return err
		}},
	},
	"History": {
		{name: "ErrClosed", is: ErrClosed, run: onClosed(func(d *Dir) error { _, err := d.History(); return err })},
		{name: "the file system's", is: errTest, run: onFailing("readdir", func(d *Dir) error { _, err := d.History(); return err })},
	},
	"HistoryFrom": {
		{name: "ErrClosed", is: ErrClosed, run: onClosed(func(d *Dir) error { _, err := d.HistoryFrom(nil); return err })},
		{name: "the file system's", is: errTest, run: onFailing("readdir", func(d *Dir) error { _, err := d.HistoryFrom(nil); return err })},
	},
	"Forget": {
		{name: "ErrClosed", is: ErrClosed, run: onClosed((*Dir).Forget)},
		{name: "the file system's", is: errTest, run: onFailing("remove", (*Dir).Forget)},
	},
	"ReadHistory": readHistoryErrors,
	"ReplaceFiles": {
		{name: "ErrClosed", is: ErrClosed, run: onClosed(func(d *Dir) error { return d.ReplaceFiles() })},
		{name: "ErrName", is: ErrName, run: onDir(func(d *Dir) error { return d.ReplaceFiles(File{Name: "a/b"}) })},
		{name: "the file system's", is: errTest, run: onFailing("sync", func(d *Dir) error { return d.ReplaceFiles(File{Name: "1.json"}) })},
	},
	"ReadState": {untrustedState(func(dir string) error { _, err := ReadState(dir, "a"); return err })},
	"Commit": append([]errorCase{
		{name: "ErrClosed", is: ErrClosed, run: onClosed(func(d *Dir) error { return d.Commit(context.Background(), create("3.json")) })},
		{name: "ErrUntrustedDir", is: ErrUntrustedDir, as: as[*FileError], run: func(t *testing.T, _ opener) error {
			dir, _, undo := replaced(t)
			require.NoError(t, os.Chmod(history(t, dir)[0].Backups, 0o777))
			return commit(t, dir, undo)
		}},
		{name: "ErrRecoveryRequired", is: ErrRecoveryRequired, run: func(t *testing.T, _ opener) error {
			return commit(t, newList(t), create("1.json"), WithFS(afterJournal("remove")))
		}},
		{name: "ErrUnknown", is: ErrUnknown, run: func(t *testing.T, _ opener) error {
			return commit(t, newList(t), replacing, WithFS(afterJournal("rename")))
		}},
		{name: "context.Cause(ctx)", is: errTest, run: onDir(func(d *Dir) error { return d.Commit(ended(errTest), replacing) })},
		{name: "the Locker's", is: errTest, run: func(t *testing.T, _ opener) error {
			return commit(t, newList(t), replacing, WithLocker(&recorder{fails: map[string][]error{"check": {errTest}}}))
		}},
	}, refusalCases()...),
}

// refusal is a change of newList that is refused or fails, and leaves everything as it was.
type refusal struct {
	name   string // of the error, as in the doc comment of Commit
	is     error
	says   string
	change Change
	plant  func(dir string) error
	files  vfs.FS
}

var refusals = []refusal{
	{"ErrName", ErrName, "create ../3.json: invalid name", create("../3.json"), nil, nil},
	{"ErrName", ErrName, "create 3.json: invalid name: it is used twice",
		Change{Creates: slices.Repeat(create("3.json").Creates, 2)}, nil, nil},
	{"ErrName", ErrName, "delete 2.json: invalid name: it is used twice", Change{Deletes: []string{"2.json", "2.json"}}, nil, nil},
	{"ErrName", ErrName, "delete 2.json: invalid name: it is used twice",
		Change{Creates: create("2.json").Creates, Deletes: []string{"2.json"}}, nil, nil},
	{"ErrTooMany", ErrTooMany, "", Change{Creates: make([]File, MaxEntries), Deletes: []string{"2.json"}}, nil, nil},
	{"ErrTooMany", ErrTooMany, "", Change{Creates: make([]File, MaxEntries), Restores: []Restore{{otherID, "2.json"}}}, nil, nil},
	{"vfs.ErrFileTooLarge", vfs.ErrFileTooLarge, "create 3.json: ", Change{Creates: []File{{"3.json", make([]byte, vfs.MaxFileBytes+1), 0}}},
		nil, nil},
	{"vfs.ErrFileTooLarge", vfs.ErrFileTooLarge, "journal", // in JSON the label is six times as long
		Change{Creates: create("3.json").Creates, Label: strings.Repeat("\x00", vfs.MaxFileBytes/6)}, nil, nil},
	{"vfs.ErrNotRegular", vfs.ErrNotRegular, "delete 9.json: ", Change{Deletes: []string{"2.json", "9.json"}},
		func(dir string) error { return os.Symlink("1.json", dir+"/9.json") }, nil},
	{"vfs.ErrNotRegular", vfs.ErrNotRegular, "delete 9.json: ", Change{Deletes: []string{"2.json", "9.json"}},
		func(dir string) error { return os.Mkdir(dir+"/9.json", 0o755) }, nil},
	{"vfs.ErrNotRegular", vfs.ErrNotRegular, "delete 9.json: ", Change{Deletes: []string{"2.json", "9.json"}},
		func(dir string) error { return files.Mkfifo(dir+"/9.json", 0o644) }, nil},
	{"ErrChanged", ErrChanged, "delete 9.json: ", Change{Deletes: []string{"2.json", "9.json"}}, nil, nil},
	{"ErrExists", ErrExists, "create 1.json: ",
		Change{Creates: slices.Concat(create("0.json").Creates, create("1.json").Creates), Deletes: []string{"2.json"}}, nil, nil},
	{"ErrNotKept", ErrNotKept, "restore 2.json: ", Change{Restores: []Restore{{otherID, "2.json"}}}, nil, nil},
	{"ErrProtected", ErrProtected, "delete 2.json: ", replacing, nil, withoutLinks(syscall.EPERM, "2.json")},
	{"ErrProtected", ErrProtected, "create 3.json: ", replacing, nil, withoutLinks(syscall.EPERM, "3.json")},
	{"the file system's", syscall.EIO, ".json: ", replacing, nil, withoutLinks(syscall.EIO, "")},
	{"the file system's", errTest, "create 3.json: ", create("3.json"), nil,
		failing(errTest, func(s faultfs.Step) bool {
			return s.Op == "write" && strings.Contains(filepath.ToSlash(s.Path), "/new/")
		})},
	{"the file system's", syscall.ENOSPC, "", replacing, nil,
		failing(syscall.ENOSPC, func(s faultfs.Step) bool { return strings.HasPrefix(filepath.Base(s.To), donePrefix) })},
}

// withoutLinks returns a file system on which the named file cannot be linked, or none if name is empty.
func withoutLinks(errno error, name string) vfs.FS {
	return failing(errno, func(s faultfs.Step) bool { return s.Op == "link" && (name == "" || filepath.Base(s.Path) == name) })
}

func refusalCases() (cases []errorCase) {
	all := slices.Clone(refusals)
	for _, errno := range []error{syscall.EPERM, syscall.EXDEV, syscall.EMLINK, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS} {
		all = append(all, refusal{"ErrNoLinks", ErrNoLinks, "create 3.json: ", create("3.json"), nil, withoutLinks(errno, "")},
			refusal{"ErrNoLinks", ErrNoLinks, "delete 2.json: ", Change{Deletes: replacing.Deletes}, nil, withoutLinks(errno, "")})
	}
	for _, r := range all {
		cases = append(cases, errorCase{name: r.name, is: r.is, run: func(t *testing.T, _ opener) error {
			dir := newList(t)
			if r.plant != nil {
				require.NoError(t, r.plant(dir))
			}
			before, opts := tree(t, dir), []Option(nil)
			if r.files != nil {
				opts = append(opts, WithFS(r.files))
			}
			err := commit(t, dir, r.change, opts...)
			require.ErrorContains(t, err, r.says)
			require.Equal(t, strings.Contains(r.says, ".json: "), as[*FileError](err), "%T", err)
			requireRolledBack(t, dir, before)
			return err
		}})
	}
	return cases
}

func TestEveryDocumentedErrorIsReturned(t *testing.T) {
	for of, cases := range documented {
		for _, c := range cases {
			t.Run(of+"/"+c.name, func(t *testing.T) {
				err := c.run(t, openers[of])
				require.ErrorIs(t, err, c.is)
				if c.as != nil {
					assert.True(t, c.as(err), "%T", err)
				}
			})
		}
	}
}

var errorName = regexp.MustCompile(`\*?(?:[a-z]+\.)?(?:Err[A-Z]\w+|[A-Z]\w+Error)\b|context\.Cause\(ctx\)|(?:the )?(?:Locker|file ` +
	`system)'s|those of Open`)

// TestDocumentedListsEveryDocumentedError: the table has exactly the errors of the doc
// comments, and some doc comment names each error variable of the package.
func TestDocumentedListsEveryDocumentedError(t *testing.T) {
	docs, sentinels := documentation(t)
	require.Greater(t, len(sentinels), 15)
	var named []string
	for of, doc := range docs {
		_, doc, found := strings.Cut(strings.ReplaceAll(doc, "\n", " "), " Errors: ")
		if !found {
			continue
		}
		named = append(named, errorName.FindAllString(doc, -1)...)
		excepted := ""
		if open, rest, ok := strings.Cut(doc, "those of Open"); ok {
			excepted, rest, _ = strings.Cut(rest, ",")
			doc = open + docs["Open"][strings.Index(docs["Open"], "Errors:"):] + rest
		}
		want := map[string]bool{}
		for _, name := range errorName.FindAllString(doc, -1) {
			if !strings.Contains(excepted, name) {
				want[strings.TrimPrefix(name, "the ")] = true
			}
		}
		got := map[string]bool{}
		for _, c := range documented[of] {
			got[strings.TrimPrefix(c.name, "the ")] = true
		}
		delete(want, "those of Open")
		if of == "Commit" {
			delete(want, "*FileError") // the other cases check for it
		}
		assert.Equal(t, want, got, of)
	}
	for _, name := range sentinels {
		assert.True(t, slices.Contains(named, name) || strings.HasPrefix(name, "ErrJournal"), "no function documents %s", name)
	}
}

// documentation returns the doc comments of the exported functions, and the names of
// the exported error variables.
func documentation(t *testing.T) (docs map[string]string, sentinels []string) {
	set, parsed := token.NewFileSet(), []*ast.File(nil)
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if file, err := parser.ParseFile(set, path, nil, parser.ParseComments); !strings.HasSuffix(path, "_test.go") {
			require.NoError(t, err)
			parsed = append(parsed, file)
		}
	}
	pkg, err := doc.NewFromFiles(set, parsed, "txn")
	require.NoError(t, err)
	docs = map[string]string{}
	add := func(prefix string, all []*doc.Func) {
		for _, f := range all {
			docs[prefix+f.Name] = f.Doc
		}
	}
	add("", pkg.Funcs)
	for _, typ := range pkg.Types {
		add("", typ.Funcs)
		add(map[bool]string{true: "Reader."}[typ.Name == "Reader"], typ.Methods)
	}
	for _, v := range pkg.Vars {
		sentinels = append(sentinels, slices.DeleteFunc(v.Names, func(name string) bool { return !strings.HasPrefix(name, "Err") })...)
	}
	return docs, sentinels
}

func TestErrorsSayWhatHappenedToWhichFile(t *testing.T) {
	for want, err := range map[string]error{
		"create 1.json: test":                      &FileError{"create", "1.json", errTest},
		"the journal p cannot be trusted: test":    &JournalError{"p", errTest},
		"more than 65536 files in one transaction": ErrTooMany,
	} {
		assert.EqualError(t, err, want)
		if err != ErrTooMany {
			assert.ErrorIs(t, err, errTest)
		}
	}
}
