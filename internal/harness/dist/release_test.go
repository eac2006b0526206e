package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/programs"
)

const root = "../../.."

// TestARelease looks at a release for this platform. make dist-check builds one twice, the second time from a copy of the sources
// in another directory, and compares.
func TestARelease(t *testing.T) {
	made := built(t)
	sums := made.file(t, "SHA256SUMS")

	// SHA256SUMS has the digests of all released files.
	name := "fsmtx_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	require.Equal(t, 4, strings.Count(string(sums), "\n"), string(sums))
	for _, file := range []string{name + ".tar.gz", "fsmtx_1.2.3.cdx.json", "install.sh", "devcontainer-feature-fsmtx.tgz"} {
		sum, err := sumOf(filepath.Join(made.out, file))
		require.NoError(t, err)
		assert.Contains(t, string(sums), sum+"  "+file+"\n")
	}

	unpacked := unpack(t, filepath.Join(made.out, name+".tar.gz"), name, made.date)
	for _, file := range []string{"LICENSE", "README.md", "CHANGELOG.md", "man/man1/fsmtx.1", "man/man1/fsmtx-hooks-fire.1",
		"completions/fsmtx.bash", "completions/_fsmtx", "completions/fsmtx.fish"} {
		data, err := os.ReadFile(filepath.Join(unpacked, file))
		require.NoError(t, err)
		assert.NotEmpty(t, data, file)
	}
	readme, err := os.ReadFile(filepath.Join(unpacked, "README.md"))
	require.NoError(t, err)
	links := regexp.MustCompile(`\]\(([\w./-]+)\)`).FindAllSubmatch(readme, -1)
	require.NotEmpty(t, links)
	for _, link := range links { // none is dead in the archive
		require.FileExists(t, filepath.Join(unpacked, string(link[1])))
	}
	out, err := exec.Command(filepath.Join(unpacked, "fsmtx"), "version").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Regexp(t, `^fsmtx 1\.2\.3 \(commit 0123abc, `, string(out))
	out, err = exec.Command(filepath.Join(unpacked, "fsmtx-tools"), "--version").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Regexp(t, `^fsmtx 1\.2\.3 \(commit 0123abc, `, string(out))

	checkBOM(t, filepath.Join(made.out, "fsmtx_1.2.3.cdx.json"))
}

// madeOnce is the release of built.
var madeOnce struct {
	sync.Once
	release
	err error
}

// built returns a release of version 1.2.3 for this platform, which the tests share.
func built(t *testing.T) release {
	t.Helper()
	madeOnce.Do(func() {
		madeOnce.release = here(root, filepath.Join(scratch, "dist"))
		madeOnce.err = madeOnce.make()
	})
	require.NoError(t, madeOnce.err)
	return madeOnce.release
}

// text returns what a file of the repository has.
func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(data)
}

func (r release) file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.out, name))
	require.NoError(t, err)
	return data
}

// scratch is a directory that lasts as long as the tests.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "dist"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// here is a release for the platform of the test.
func here(source, out string) release {
	const in = "github.com/fsmtx/fsmtx/internal/programs"
	return release{
		Build: programs.Build{Version: "1.2.3", Commit: "0123abc"}, source: source, out: out, date: time.Unix(1700000000, 0).UTC(),
		ldflags: "-s -w -X " + in + ".describe=v1.2.3 -X " + in + ".commit=0123abc", platforms: []string{runtime.GOOS + "/" + runtime.GOARCH},
	}
}

// unpack unpacks an archive and returns its only top directory. Every file must have the
// date and no owner.
func unpack(t *testing.T, path, top string, date time.Time) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	zip, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	require.True(t, zip.ModTime.IsZero(), "gzip's header has a time")
	dir := t.TempDir()
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, top)
		}
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(h.Name, top+"/"), h.Name)
		require.Equal(t, []any{date, 0, 0, "", ""}, []any{h.ModTime.UTC(), h.Uid, h.Gid, h.Uname, h.Gname}, h.Name)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, writeFiles(dir, []file{{h.Name, h.FileInfo().Mode(), data}}))
	}
}

// The bill of materials lists what is linked, and nothing that only tests need.
func checkBOM(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(&bom))
	assert.Equal(t, "pkg:golang/github.com/fsmtx/fsmtx@1.2.3", bom.Metadata.Component.PackageURL)
	assert.Equal(t, "2023-11-14T22:13:20Z", bom.Metadata.Timestamp)
	linked := map[string][]string{}
	for _, d := range *bom.Dependencies {
		linked[d.Ref] = *d.Dependencies
	}
	modules := func(program string) string {
		return strings.Join(linked["program:"+runtime.GOOS+"-"+runtime.GOARCH+"/"+program], " ")
	}
	assert.Contains(t, modules("fsmtx"), "pkg:golang/github.com/spf13/cobra@v")
	assert.Contains(t, modules("fsmtx"), "pkg:golang/std@1.")
	assert.NotContains(t, modules("fsmtx"), "modelcontextprotocol")
	assert.Contains(t, modules("fsmtx-tools"), "pkg:golang/github.com/modelcontextprotocol/go-sdk@v")
	for _, c := range *bom.Components {
		assert.NotContains(t, c.Name, "testify")
	}
}

// Without SOURCE_DATE_EPOCH there is an error; the current time is not used instead.
func TestDate(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	_, err := commitDate()
	require.ErrorContains(t, err, "SOURCE_DATE_EPOCH is not set")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	date, err := commitDate()
	require.NoError(t, err)
	require.Equal(t, "2023-11-14T22:13:20Z", date.Format(time.RFC3339))
}
