package aferofs_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/spf13/afero/zipfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/locator/aferofs"
)

// The tests of package locator read from New(afero.NewMemMapFs()) too.

// tree makes a file of every type and returns their paths and some of missing ones.
func tree(t *testing.T) []string {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Mkdir(at("dir"), 0o755))
	for _, name := range []string{"c", "a", "b"} {
		require.NoError(t, os.WriteFile(at("dir/"+name), []byte("content of "+name), 0o644))
	}
	require.NoError(t, os.Mkdir(at("dir/d"), 0o755))
	require.NoError(t, files.Mkfifo(at("fifo"), 0o644))
	for name, target := range map[string]string{"link": "dir/a", "dirlink": at("dir"), "dangling": "gone", "loop": "loop", "dir/e": "."} {
		require.NoError(t, os.Symlink(target, at(name)))
	}
	paths := []string{"/", dir}
	for _, name := range []string{
		"dir", "dir/a", "dir/d", "fifo", "link", "dirlink", "dirlink/b", "dangling", "loop",
		"gone", "dir/a/below", "gone/below", "loop/below", strings.Repeat("x", 300), "nul\x00",
	} {
		paths = append(paths, at(name))
	}
	return paths
}

// answers are the results of all methods of a locator.FS for a path, as text.
type answers struct {
	Stat, Lstat, Readlink, ReadDir, Open string
}

func ask(files locator.FS, path string) answers {
	target, err := files.Readlink(path)
	return answers{
		Stat:     info(files.Stat(path)),
		Lstat:    info(files.Lstat(path)),
		Readlink: target + cause(err),
		ReadDir:  entries(files.ReadDir(path)),
		Open:     content(files.Open(path)),
	}
}

// cause drops the operation and the path, which no locator uses.
func cause(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if err == nil {
		return ""
	}
	return " error: " + err.Error()
}

func info(i fs.FileInfo, err error) string {
	if err != nil {
		return cause(err)
	}
	return fs.FormatFileInfo(i)
}

func entries(list []fs.DirEntry, err error) string {
	var b strings.Builder
	for _, e := range list {
		b.WriteString(fs.FormatDirEntry(e) + "\n")
	}
	return b.String() + cause(err)
}

func content(f fs.File, err error) string {
	if err != nil {
		return cause(err)
	}
	defer f.Close()
	i, err := f.Stat()
	data, readErr := io.ReadAll(f)
	return info(i, err) + " " + string(data) + cause(readErr)
}

func TestAnswersEqualThoseOfTheOperatingSystem(t *testing.T) {
	paths := tree(t)
	for name, files := range map[string]afero.Fs{
		"pointer":        afero.NewOsFs(),
		"value":          afero.OsFs{},
		"read-only":      afero.NewReadOnlyFs(afero.NewOsFs()),
		"base path":      afero.NewBasePathFs(afero.NewOsFs(), "/"),
		"both of them":   afero.NewReadOnlyFs(afero.NewBasePathFs(afero.NewOsFs(), "/")),
		"the other way":  afero.NewBasePathFs(afero.NewReadOnlyFs(afero.NewOsFs()), "/"),
		"twice the same": afero.NewReadOnlyFs(afero.NewReadOnlyFs(afero.NewOsFs())),
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range paths {
				assert.Equal(t, ask(locator.OS{}, path), ask(aferofs.New(files), path), path)
			}
		})
	}
}

// noLinks is a file system without symbolic links.
type noLinks struct{ afero.Fs }

func TestWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(dir, link))
	files := aferofs.New(noLinks{afero.NewOsFs()})
	followed, err := files.Lstat(link)
	require.NoError(t, err)
	assert.True(t, followed.IsDir())
	_, err = files.Readlink(link)
	require.ErrorIs(t, err, afero.ErrNoReadlink)
	assert.Contains(t, err.Error(), link)

	memory := aferofs.New(afero.NewMemMapFs())
	_, err = memory.Lstat("/gone")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = memory.Readlink("/")
	require.ErrorIs(t, err, afero.ErrNoReadlink)
}

// backwardsFs lists every directory backwards and with an error, and records the paths that
// are opened.
type backwardsFs struct {
	afero.Fs
	opened *[]string
}

var errTorn = errors.New("torn")

func (b backwardsFs) Open(path string) (afero.File, error) {
	*b.opened = append(*b.opened, path)
	f, err := b.Fs.Open(path)
	return backwards{f}, err
}

type backwards struct{ afero.File }

func (b backwards) Readdir(n int) ([]fs.FileInfo, error) {
	list, err := b.File.Readdir(n)
	slices.Reverse(list)
	return list, errors.Join(err, errTorn)
}

func inMemory(t *testing.T, paths ...string) afero.Fs {
	memory := afero.NewMemMapFs()
	for _, path := range paths {
		require.NoError(t, afero.WriteFile(memory, path, []byte("content"), 0o644))
	}
	return memory
}

func TestReadDirSortsAndReturnsEntriesBesideAnError(t *testing.T) {
	var opened []string
	files := aferofs.New(backwardsFs{inMemory(t, "/dir/b", "/dir/a", "/dir/c/below"), &opened})
	list, err := files.ReadDir("/dir")
	require.ErrorIs(t, err, errTorn)
	assert.Equal(t, "- a\n- b\nd c/\n error: torn", entries(list, err))
	assert.Equal(t, []string{"/dir"}, opened)
}

func TestReadDirOpensNoFile(t *testing.T) {
	var opened []string
	files := aferofs.New(backwardsFs{inMemory(t, "/file"), &opened})
	_, err := files.ReadDir("/file")
	require.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = files.ReadDir("/gone")
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Empty(t, opened)
}

func TestLocateInAnArchive(t *testing.T) {
	archive := zipped(t, "project/", "project/.claude/", "project/.claude/skills/", "project/.claude/skills/s/",
		"project/.claude/skills/s/fsm.json")
	for name, files := range map[string]afero.Fs{"bare": archive, "read-only": afero.NewReadOnlyFs(archive)} {
		t.Run(name, func(t *testing.T) {
			l := locator.Locator{FS: aferofs.New(files), ConfigDir: "/config"}
			result, err := l.Locate("s", "/project/src")
			require.NoError(t, err)
			assert.False(t, result.Found())
			result, err = l.Locate("s", "/project")
			require.NoError(t, err)
			assert.Equal(t, "/project/.claude/skills/s/fsm.json", result.Path)
			data, err := locator.ReadSpec(l.FS, result.Path, 100)
			require.NoError(t, err)
			assert.Equal(t, "[]", string(data))
			list, err := l.FS.ReadDir("/project/.claude")
			assert.Equal(t, "d skills/\n", entries(list, err))
		})
	}
}

// zipped returns an archive with the given names. Those of directories end with a
// slash; every file holds an empty array.
func zipped(t *testing.T, names ...string) afero.Fs {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.Create(name)
		require.NoError(t, err)
		if !strings.HasSuffix(name, "/") {
			_, err = f.Write([]byte("[]"))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	return zipfs.New(r)
}
