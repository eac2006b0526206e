package plugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// archive returns an archive of a release that has these files and a README.md.
func archive(t *testing.T, top string, files map[string]string) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	files["README.md"] = "# fsmtx"
	out := tar.NewWriter(zipped)
	for name, text := range files {
		require.NoError(t, out.WriteHeader(&tar.Header{Name: top + "/" + name, Mode: 0o755, Size: int64(len(text))}))
		_, err := out.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NoError(t, zipped.Close())
	return data.Bytes()
}

// release writes the archives of a release for some platforms.
func release(t *testing.T, platforms ...Platform) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var sums string
	for _, p := range platforms {
		system, arch := p.split()
		top := "fsmtx_1.2.3_" + system + "_" + arch
		data := archive(t, top, map[string]string{"fsmtx": "fsmtx " + string(p), "fsmtx-mcp": "fsmtx-mcp " + string(p),
			"man/man1/fsmtx.1": "no program"})
		require.NoError(t, os.WriteFile(filepath.Join(dir, top+".tar.gz"), data, 0o644))
		sums += fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(data), top)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o644))
	return dir
}

func TestReleaseReturnsTheProgramsOfTheArchives(t *testing.T) {
	dir := release(t, All()...)

	programs, version, err := Release(dir, nil, true)

	require.NoError(t, err)
	assert.Equal(t, "1.2.3", version)
	require.Len(t, programs, 4)
	for i, p := range All() {
		assert.Equal(t, Program{p, []byte("fsmtx " + p), []byte("fsmtx-mcp " + p)}, programs[i])
	}

	programs, _, err = Release(dir, []Platform{"darwin/arm64"}, false)
	require.NoError(t, err)
	assert.Equal(t, []Program{{"darwin/arm64", []byte("fsmtx darwin/arm64"), nil}}, programs)
}

func TestIncompleteOrChangedReleasesAreRefused(t *testing.T) {
	dir := release(t, "linux/amd64", "linux/arm64")
	_, _, err := Release(dir, All(), false)
	assert.ErrorIs(t, err, errNoRelease)
	assert.ErrorContains(t, err, "darwin/amd64")

	path := filepath.Join(dir, "fsmtx_1.2.3_linux_arm64.tar.gz")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(data, 0), 0o644))
	_, _, err = Release(dir, nil, false)
	assert.ErrorIs(t, err, errChecksum)
	assert.ErrorContains(t, err, path)
	_, _, err = Release(dir, []Platform{"linux/amd64"}, false)
	require.NoError(t, err, "the other archive is sound")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "fsmtx_1.2.4_darwin_arm64.tar.gz"), data, 0o644))
	_, _, err = Release(dir, nil, false)
	assert.ErrorIs(t, err, errVersions)

	_, _, err = Release(t.TempDir(), nil, false)
	assert.ErrorIs(t, err, errNoRelease)

	require.NoError(t, os.Remove(filepath.Join(dir, "fsmtx_1.2.4_darwin_arm64.tar.gz")))
	require.NoError(t, os.Remove(filepath.Join(dir, "SHA256SUMS")))
	_, _, err = Release(dir, nil, false)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestMalformedArchivesAreRefused(t *testing.T) {
	for name, data := range map[string][]byte{
		"no program": archive(t, "x", map[string]string{}),
		"cut off":    archive(t, "x", map[string]string{"fsmtx": "fsmtx"})[:40],
		"no archive": []byte("<html>"),
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "fsmtx_1.0.0_linux_amd64.tar.gz"), data, 0o644))
		sum := fmt.Sprintf("%x  fsmtx_1.0.0_linux_amd64.tar.gz\n", sha256.Sum256(data))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sum), 0o644))
		_, _, err := Release(dir, nil, false)
		assert.ErrorIs(t, err, errArchive, name)
	}
}

// fakeGo is a stand-in for the Go command. It records its calls and writes programs that
// consist of their name and platform.
const fakeGo = `
case "$1 $2" in
"list -m") cat "$0.module" 2>/dev/null; exit 0 ;;
"env GOMODCACHE") echo /modules; exit 0 ;;
"env GOHOSTOS") echo linux; exit 0 ;;
"env GOHOSTARCH") echo amd64; exit 0 ;;
esac
echo "$GOOS/$GOARCH CGO_ENABLED=$CGO_ENABLED GOMODCACHE=$GOMODCACHE: $*" >> "$0.log"
[ "$GOOS" != "$(cat "$0.fails" 2>/dev/null)" ] || { echo "no such package" >&2; exit 1; }
for last; do :; done
name=${last##*/}
name=${name%%@*}
case $1 in
build) shift; while [ "$1" != -o ]; do shift; done; out=$2 ;;
install) out=$GOPATH/bin/${GOOS}_$GOARCH/$name; [ "$GOOS/$GOARCH" != linux/amd64 ] || out=$GOPATH/bin/$name ;;
esac
mkdir -p "${out%/*}"
echo "$name $GOOS/$GOARCH" > "$out"`

func TestProgramsAreBuiltWithGo(t *testing.T) {
	tools := t.TempDir()
	tool(t, tools, "go", fakeGo)
	t.Setenv("PATH", tools+":/usr/bin:/bin")
	both := []Platform{"darwin/arm64", "linux/amd64"}
	want := []Program{
		{"darwin/arm64", []byte("fsmtx darwin/arm64\n"), []byte("fsmtx-mcp darwin/arm64\n")},
		{"linux/amd64", []byte("fsmtx linux/amd64\n"), []byte("fsmtx-mcp linux/amd64\n")},
	}

	// Elsewhere: the release of this program. No git looks at the files of that directory, as it runs what the
	// configuration of a repository names for that.
	tool(t, tools, "git", `echo "$1" >> "$0.log"`)
	built, err := Source{Version: "1.2.3"}.Build(context.Background(), both, true)
	require.NoError(t, err)
	assert.Equal(t, want, built)
	log := content(t, tools, "go.log")
	assert.Contains(t, log, "darwin/arm64 CGO_ENABLED=0 GOMODCACHE=/modules: install -trimpath -ldflags -s -w "+
		"github.com/fsmtx/fsmtx/cmd/fsmtx@v1.2.3\n")

	_, err = Source{}.Build(context.Background(), both, true)
	require.ErrorIs(t, err, errNoSource)
	assert.Equal(t, "rev-parse\nrev-parse\n", content(t, tools, "git.log"))

	// In the source.
	require.NoError(t, os.WriteFile(filepath.Join(tools, "go.module"), []byte(modulePath+"\n"), 0o644))
	built, err = Source{}.Build(context.Background(), both, true)
	require.NoError(t, err)
	assert.Equal(t, want, built)
	built, err = Source{}.Build(context.Background(), both[:1], false)
	require.NoError(t, err)
	assert.Nil(t, built[0].MCP)

	tool(t, tools, "git", `[ "$1" != rev-parse ] || echo 0123456789abcdef`)
	_, err = Source{Commit: "fedcba"}.Build(context.Background(), both, true)
	require.ErrorIs(t, err, errOtherSource)
	_, err = Source{Commit: "01234567"}.Build(context.Background(), both, true)
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(filepath.Join(tools, "go.fails"), []byte("darwin"), 0o644))
	_, err = Source{}.Build(context.Background(), both, true)
	require.ErrorContains(t, err, "building fsmtx for darwin/arm64: exit status 1\nno such package")

	t.Setenv("PATH", t.TempDir())
	_, err = Source{}.Build(context.Background(), both, true)
	require.ErrorIs(t, err, errNoGo)
}
