package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		system, arch, _ := strings.Cut(string(p), "/")
		top := "fsmtx_1.2.3_" + system + "_" + arch
		data := archive(t, top, map[string]string{"fsmtx": "fsmtx " + string(p), "fsmtx-tools": "fsmtx-tools " + string(p),
			"man/man1/fsmtx.1": "no program"})
		require.NoError(t, os.WriteFile(filepath.Join(dir, top+".tar.gz"), data, 0o644))
		sums += fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(data), top)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o644))
	return dir
}

func TestReleaseReturnsTheProgramsOfTheArchives(t *testing.T) {
	dir := release(t, Platforms()...)

	programs, version, err := Release(dir, nil)

	require.NoError(t, err)
	assert.Equal(t, "1.2.3", version)
	require.Len(t, programs, 4)
	for i, p := range Platforms() {
		assert.Equal(t, Program{p, []byte("fsmtx " + p), []byte("fsmtx-tools " + p)}, programs[i])
	}

	programs, _, err = Release(dir, []Platform{"darwin/arm64"})
	require.NoError(t, err)
	assert.Equal(t, []Program{{"darwin/arm64", []byte("fsmtx darwin/arm64"), []byte("fsmtx-tools darwin/arm64")}}, programs)
}

func TestIncompleteOrChangedReleasesAreRefused(t *testing.T) {
	dir := release(t, "linux/amd64", "linux/arm64")
	_, _, err := Release(dir, Platforms())
	assert.ErrorIs(t, err, errNoRelease)
	assert.ErrorContains(t, err, "darwin/amd64")

	path := filepath.Join(dir, "fsmtx_1.2.3_linux_arm64.tar.gz")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(data, 0), 0o644))
	_, _, err = Release(dir, nil)
	assert.ErrorIs(t, err, errChecksum)
	assert.ErrorContains(t, err, path)
	_, _, err = Release(dir, []Platform{"linux/amd64"})
	require.NoError(t, err, "the other archive is sound")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "fsmtx_1.2.4_darwin_arm64.tar.gz"), data, 0o644))
	_, _, err = Release(dir, nil)
	assert.ErrorIs(t, err, errVersions)

	_, _, err = Release(t.TempDir(), nil)
	assert.ErrorIs(t, err, errNoRelease)

	require.NoError(t, os.Remove(filepath.Join(dir, "fsmtx_1.2.4_darwin_arm64.tar.gz")))
	require.NoError(t, os.Remove(filepath.Join(dir, "SHA256SUMS")))
	_, _, err = Release(dir, nil)
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
		_, _, err := Release(dir, nil)
		assert.ErrorIs(t, err, errArchive, name)
	}
}
