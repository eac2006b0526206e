package txn

import (
	"context"
	"errors"
	"go/ast"
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

// openErrors are the errors of the functions that open a directory.
var openErrors = []errorCase{
	{name: "ErrLocked", is: ErrLocked, as: as[*LockedError], run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		d, err := open(t.Context(), w.d, newOptions(nil))
		require.NoError(t, err)
		defer d.Close()
		return call(ended(errTest), w.d)
	}},
	{name: "ErrUntrustedDir", is: ErrUntrustedDir, run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		require.NoError(t, os.Chmod(w.s, 0o777))
		return call(t.Context(), w.d)
	}},
	{name: "ErrName", is: ErrName, run: func(t *testing.T, call opener) error {
		return call(t.Context(), filepath.Join(t.TempDir(), "\xff"))
	}},
	{name: "vfs.ErrNotOwn", is: vfs.ErrNotOwn, run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		require.NoError(t, os.Link(w.in(lockName), w.path("outside/lock")))
		return call(t.Context(), w.d)
	}},
	{name: "vfs.ErrNotRegular", is: vfs.ErrNotRegular, run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		replace(t, w.in(lockName), w.path("outside/secret"))
		return call(t.Context(), w.d)
	}},
	{name: "*JournalError", is: ErrJournalTorn, as: as[*JournalError], run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		w.setJournal(t, w.journal[1:])
		return call(t.Context(), w.d)
	}},
	{name: "*FileError", is: errTest, as: as[*FileError], run: func(t *testing.T, call opener) error {
		w := newWorld(t)
		return call(t.Context(), w.d, WithFS(failing(errTest, func(s faultfs.Step) bool {
			return filepath.Base(s.Path) == "2.json" && s.Op == "lstat" && filepath.Dir(s.Path) == w.d
		})))
	}},
	{name: "context.Cause(ctx)", is: errTest, run: func(t *testing.T, call opener) error {
		return call(ended(errTest), newWorld(t).d)
	}},
	{name: "the Locker's", is: errTest, run: func(t *testing.T, call opener) error {
		return call(t.Context(), newWorld(t).d, WithLocker(&recorder{fails: map[string][]error{"reap": {errTest}}}))
	}},
	{name: "the file system's", is: errTest, run: func(t *testing.T, call opener) error {
		return call(t.Context(), newWorld(t).d, WithFS(failing(errTest, func(s faultfs.Step) bool { return s.Op == "read" })))
	}},
}

// without returns the cases except the named ones.
func without(cases []errorCase, names ...string) []errorCase {
	return slices.DeleteFunc(slices.Clone(cases), func(c errorCase) bool { return slices.Contains(names, c.name) })
}

// committing returns a run that commits.
func committing(c Change, opts ...Option) func(*testing.T, opener) error {
	return func(t *testing.T, _ opener) error { return commit(t, newList(t), c, opts...) }
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
		{name: "ErrClosed", is: ErrClosed, run: onDir(func(d *Dir) error {
			_ = d.Close()
			_, err := d.Lock(context.Background())
			return err
		})},
		{name: "the Locker's", is: errTest, run: onDir(func(d *Dir) error {
			_, err := d.Lock(context.Background())
			return err
		}, WithLocker(&recorder{fails: map[string][]error{"lock": {errTest}}}))},
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
		{name: "ErrClosed", is: ErrClosed, run: onDir(func(d *Dir) error {
			_ = d.Close()
			_, err := d.History()
			return err
		})},
		{name: "the file system's", is: errTest, run: onDir(func(d *Dir) error {
			d.files = failing(errTest, func(s faultfs.Step) bool { return s.Op == "readdir" })
			_, err := d.History()
			return err
		})},
	},
	"Forget": {
		{name: "ErrClosed", is: ErrClosed, run: onDir(func(d *Dir) error {
			_ = d.Close()
			return d.Forget()
		})},
		{name: "the file system's", is: errTest, run: onDir(func(d *Dir) error {
			d.files = failing(errTest, func(s faultfs.Step) bool { return s.Op == "remove" })
			return d.Forget()
		})},
	},
	"ReadHistory": readHistoryErrors,
	"ReplaceFiles": {
		{name: "ErrClosed", is: ErrClosed, run: onDir(func(d *Dir) error { _ = d.Close(); return d.ReplaceFiles() })},
		{name: "ErrName", is: ErrName, run: onDir(func(d *Dir) error { return d.ReplaceFiles(File{Name: "a/b"}) })},
		{name: "the file system's", is: errTest, run: onDir(func(d *Dir) error {
			d.files = failing(errTest, func(s faultfs.Step) bool { return s.Op == "sync" })
			return d.ReplaceFiles(File{Name: "1.json"})
		})},
	},
	"ReadState": {untrustedState(func(dir string) error { _, err := ReadState(dir, "a"); return err })},
	"Commit": {
		{name: "ErrClosed", is: ErrClosed, run: onDir(func(d *Dir) error {
			_ = d.Close()
			return d.Commit(context.Background(), create("3.json"))
		})},
		{name: "ErrName", is: ErrName, as: as[*FileError], run: committing(create("../3.json"))},
		{name: "ErrTooMany", is: ErrTooMany, run: committing(Change{Creates: make([]File, MaxEntries+1)})},
		{name: "vfs.ErrFileTooLarge", is: vfs.ErrFileTooLarge, run: committing(Change{Creates: []File{{"3.json",
			make([]byte, vfs.MaxFileBytes+1), 0}}})},
		{name: "vfs.ErrNotRegular", is: vfs.ErrNotRegular, as: as[*FileError], run: func(t *testing.T, _ opener) error {
			dir := newList(t)
			replace(t, filepath.Join(dir, "2.json"), "1.json")
			return commit(t, dir, replacing)
		}},
		{name: "ErrChanged", is: ErrChanged, as: as[*FileError], run: committing(Change{Deletes: []string{"9.json"}})},
		{name: "ErrExists", is: ErrExists, as: as[*FileError], run: committing(create("1.json"))},
		{name: "ErrNotKept", is: ErrNotKept, as: as[*FileError], run: committing(Change{Restores: []Restore{{otherID, "2.json"}}})},
		{name: "ErrUntrustedDir", is: ErrUntrustedDir, as: as[*FileError], run: func(t *testing.T, _ opener) error {
			dir, _, undo := replaced(t)
			require.NoError(t, os.Chmod(history(t, dir)[0].Backups, 0o777))
			return commit(t, dir, undo)
		}},
		{name: "ErrNoLinks", is: ErrNoLinks, as: as[*FileError], run: committing(replacing,
			WithFS(failing(syscall.EXDEV, func(s faultfs.Step) bool { return s.Op == "link" })))},
		{name: "ErrProtected", is: ErrProtected, as: as[*FileError], run: committing(replacing,
			WithFS(failing(syscall.EPERM, func(s faultfs.Step) bool { return s.Op == "link" && filepath.Base(s.Path) == "2.json" })))},
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
		{name: "the file system's", is: errTest, as: as[*FileError], run: func(t *testing.T, _ opener) error {
			return commit(t, newList(t), replacing,
				WithFS(failing(errTest, func(s faultfs.Step) bool { return s.Op == "write" && strings.Contains(s.Path, "/new/") })))
		}},
	},
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
	docs = map[string]string{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				name := decl.Name.Name
				if receiver(decl) == "Reader" {
					name = "Reader." + name
				}
				if ast.IsExported(decl.Name.Name) {
					docs[name] = decl.Doc.Text()
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Err") {
						sentinels = append(sentinels, spec.Names[0].Name)
					}
				}
			}
		}
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

// receiver returns the type of a method's receiver without the star, "" for a function.
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return ""
	}
	star, _ := decl.Recv.List[0].Type.(*ast.StarExpr)
	if star == nil {
		return ""
	}
	return star.X.(*ast.Ident).Name
}
