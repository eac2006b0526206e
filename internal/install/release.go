package install

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

const (
	checksums   = "SHA256SUMS"
	maxChecksum = 1 << 20
)

var (
	// errNoRelease is returned for a directory without archives of a release.
	errNoRelease = message.NewError("has no archives of a release",
		"the directory must have the archives fsmtx_VERSION_SYSTEM_ARCH.tar.gz of a release (.zip for Windows), and SHA256SUMS")
	// errChecksum is returned for an archive whose checksum is not the one in SHA256SUMS.
	errChecksum = message.NewError("is not the archive that SHA256SUMS names",
		"download the archive and the SHA256SUMS of one release again")
	// errVersions is returned for archives of several releases in one directory.
	errVersions = errors.New("archives of more than one version")
	// errArchive is returned for a malformed archive, and for one that lacks a program.
	errArchive = message.NewError("is not an archive of a release", "download the archive and the SHA256SUMS of one release again")
)

var archiveShape = pattern.New(`^fsmtx_(.+)_(linux|darwin|windows)_(amd64|arm64)\.(tar\.gz|zip)$`)

// Release returns the programs in the archives of a release and its version. The archives
// are in dir, with SHA256SUMS. want are the platforms; nil means all that have an archive.
//
// Errors: errNoRelease, errVersions, errChecksum, errArchive, and those of reading files.
func Release(dir string, want []Platform) (programs []Program, version string, err error) {
	archives, version, err := archivesIn(dir)
	if err != nil {
		return nil, "", err
	}
	sums, err := readSums(filepath.Join(dir, checksums))
	if err != nil {
		return nil, "", err
	}
	for _, p := range Platforms() {
		if want != nil && !slices.Contains(want, p) || want == nil && archives[p] == "" {
			continue
		}
		if archives[p] == "" {
			return nil, "", fmt.Errorf("%s %w for %s", dir, errNoRelease, p)
		}
		one, err := readArchive(filepath.Join(dir, archives[p]), sums)
		if err != nil {
			return nil, "", err
		}
		one.Platform = p
		programs = append(programs, one)
	}
	return programs, version, nil
}

// archivesIn returns the names of the archives by platform, and their version.
func archivesIn(dir string) (archives map[Platform]string, version string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", err
	}
	archives = map[Platform]string{}
	for _, e := range entries {
		m := archiveShape.Regexp().FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		if version != "" && version != m[1] {
			return nil, "", fmt.Errorf("%s has %w: %s and %s", dir, errVersions, version, m[1])
		}
		version = m[1]
		archives[Platform(m[2]+"/"+m[3])] = e.Name()
	}
	if version == "" {
		return nil, "", fmt.Errorf("%s %w (fsmtx_VERSION_SYSTEM_ARCH.tar.gz)", dir, errNoRelease)
	}
	return archives, version, nil
}

// readSums returns the checksums of a SHA256SUMS by file name.
func readSums(file string) (map[string]string, error) {
	data, err := safefile.ReadFile(file, maxChecksum, 0)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 2 {
			sums[strings.TrimPrefix(fields[1], "*")] = strings.ToLower(fields[0])
		}
	}
	return sums, nil
}

// readArchive checks the checksum of an archive and returns its programs.
func readArchive(file string, sums map[string]string) (Program, error) {
	data, err := safefile.ReadFile(file, maxProgram, 0)
	if err != nil {
		return Program{}, err
	}
	if sum := sha256.Sum256(data); sums[filepath.Base(file)] != hex.EncodeToString(sum[:]) {
		return Program{}, fmt.Errorf("%s %w", file, errChecksum)
	}
	var one Program
	names, unpack := programs.Both(""), extract
	if filepath.Ext(file) == ".zip" {
		names, unpack = programs.Both("windows"), unzip
	}
	wanted := map[string]*[]byte{names[0]: &one.Fsmtx, names[1]: &one.Tools}
	if err := unpack(data, wanted); err != nil {
		return Program{}, fmt.Errorf("%s %w: %w", file, errArchive, err)
	}
	for name, data := range wanted {
		if *data == nil {
			return Program{}, fmt.Errorf("%s %w: it has no %s", file, errArchive, name)
		}
	}
	return one, nil
}

// extract reads the wanted files of an archive. The keys of wanted are the last elements of
// their names.
func extract(archive []byte, wanted map[string]*[]byte) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		into := wanted[path.Base(header.Name)]
		if into == nil || header.Typeflag != tar.TypeReg {
			continue
		}
		if *into, err = io.ReadAll(io.LimitReader(files, maxProgram)); err != nil {
			return err
		}
	}
}

// unzip is extract for an archive of Windows.
func unzip(archive []byte, wanted map[string]*[]byte) error {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	for _, f := range files.File {
		into := wanted[path.Base(f.Name)]
		if into == nil || !f.Mode().IsRegular() {
			continue
		}
		data, err := f.Open()
		if err != nil {
			return err
		}
		*into, err = io.ReadAll(io.LimitReader(data, maxProgram))
		if err = errors.Join(err, data.Close()); err != nil {
			return err
		}
	}
	return nil
}
