package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/programs"
)

// release is what a run builds.
type release struct {
	programs.Build
	source    string
	out       string
	ldflags   string
	platforms []string // such as linux/amd64
	date      time.Time
}

// make builds the release. First it removes what an earlier run left in out.
func (r release) make() error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	shared, err := r.shared()
	if err != nil {
		return err
	}
	for _, platform := range r.platforms {
		if err := r.archive(platform, shared); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	bom, err := r.bom()
	if err != nil {
		return err
	}
	if err := writeFiles(r.out, []file{{r.name() + ".cdx.json", 0o644, bom}, {"VERSION", 0o644, []byte(r.Version + "\n")}}); err != nil {
		return err
	}
	if err := r.writePackaging(); err != nil {
		return err
	}
	return r.writeSums()
}

func (r release) name() string { return "fsmtx_" + r.Version }

// shared returns the files that the archives of all platforms have.
func (r release) shared() (files []file, err error) {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.*", "docs/internals/*.*"} { // the README links to them
		pages, err := fs.Glob(os.DirFS(r.source), pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, pages...)
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, data})
	}
	manual, err := manualPages(r.Version, r.date)
	if err != nil {
		return nil, err
	}
	for _, page := range manual {
		page.path = "man/man1/" + page.path
		files = append(files, page)
	}
	for shell, name := range map[string]string{"bash": "fsmtx.bash", "zsh": "_fsmtx", "fish": "fsmtx.fish"} {
		script, err := printed("completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + name, 0o644, []byte(script)})
	}
	return files, nil
}

// archive builds the programs for a platform and packs them.
func (r release) archive(platform string, shared []file) error {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("want a platform such as linux/amd64")
	}
	dir := filepath.Join(r.out, goos+"-"+goarch)
	if err := r.compile(goos, goarch, dir); err != nil {
		return err
	}
	return r.pack(goos, goarch, shared)
}

// pack packs the programs for a platform with the files that all archives have.
func (r release) pack(goos, goarch string, shared []file) error {
	files, dir := slices.Clone(shared), filepath.Join(r.out, goos+"-"+goarch)
	for _, name := range programs.Both(goos) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		files = append(files, file{name, 0o755, data})
	}
	name := r.archiveName(goos, goarch)
	top, isZip := strings.CutSuffix(name, ".zip")
	packed := packZip
	if !isZip {
		top, packed = strings.TrimSuffix(name, ".tar.gz"), pack
	}
	data, err := packed(top, r.date, files)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

func (r release) archiveName(goos, goarch string) string {
	form := "tar.gz"
	if goos == "windows" {
		form = "zip"
	}
	return fmt.Sprintf("%s_%s_%s.%s", r.name(), goos, goarch, form)
}

// compile builds the programs into dir. It sets every variable with which the environment
// could change them.
func (r release) compile(goos, goarch, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", r.ldflags, "-o", dir + string(filepath.Separator)}
	for _, name := range programs.Both("") {
		args = append(args, "./cmd/"+name)
	}
	c := exec.Command("go", args...)
	c.Dir = r.source
	c.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOFIPS140=off")
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// inRelease matches the names of the files that are released, beside SHA256SUMS itself.
var inRelease = regexp.MustCompile(`\.(tar\.gz|zip|tgz|cdx\.json)$|^install\.(sh|ps1)$`)

// writeSums writes SHA256SUMS with every other file in out that is released.
func (r release) writeSums() error {
	entries, err := os.ReadDir(r.out) // sorted by name
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		if name := e.Name(); inRelease.MatchString(name) {
			sum, err := sumOf(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		}
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}
