package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// program takes the place of both programs of the module: only the way it is built matters.
const program = `package main

import (
	"fmt"

	"github.com/fsmtx/fsmtx/internal/programs"
)

func main() { fmt.Printf("%+v", programs.GetBuild()) }
`

// TestBuilt builds a small module with this package, the real Makefile and the real
// .gitattributes in every way in which users get the program, and runs it.
func TestBuilt(t *testing.T) {
	worlds.Long(t)
	for _, tool := range []string{"git", "make", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	s := sources{t: t, dir: filepath.Join(t.TempDir(), "src")}
	s.write()
	s.run("git", "init", "-q")
	first := s.commit("first")
	date := regexp.QuoteMeta(Newest) + `-dev\.\d{14}\+g` + first[:12]

	s.prints("{Version:"+Newest+"-dev+g"+first[:12]+" Commit:"+first+" Modified:false}", "make", "-s", "build")
	s.matches(`^{Version:`+date+` Commit:`+first+` Modified:false}$`, "go", "build", "-o", "bin/fsmtx", "./cmd/fsmtx")
	s.tag("v1.2.3")
	s.prints("{Version:1.2.3 Commit:"+first+" Modified:false}", "make", "-s", "build")
	s.prints("{Version:1.2.3 Commit:"+first+" Modified:false}", "go", "build", "-o", "bin/fsmtx", "./cmd/fsmtx")
	s.prints("{Version:"+Newest+"-dev Commit: Modified:false}", "go", "build", "-buildvcs=false", "-o", "bin/fsmtx", "./cmd/fsmtx")

	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "cmd/fsmtx/main.go"), []byte(program+"\n// changed\n"), 0o644))
	s.prints("{Version:1.2.3+dirty Commit:"+first+" Modified:true}", "make", "-s", "build")
	s.prints("{Version:1.2.3+dirty Commit:"+first+" Modified:true}", "go", "build", "-o", "bin/fsmtx", "./cmd/fsmtx")

	second := s.commit("second")
	s.prints("{Version:1.2.4-dev.1+g"+second[:12]+" Commit:"+second+" Modified:false}", "make", "-s", "build")
	s.unpacked("v1.2.3").prints("{Version:1.2.3 Commit:"+first+" Modified:false}", "make", "-s", "build")
	s.unpacked("HEAD").prints("{Version:1.2.4-dev.1+g"+second[:12]+" Commit:"+second+" Modified:false}", "go", "build", "-o", "bin/fsmtx",
		"./cmd/fsmtx")
	s.installed("v1.2.3", "{Version:1.2.3 Commit: Modified:false}")
}

// sources is a module in a directory.
type sources struct {
	t   *testing.T
	dir string
}

func (s sources) write() {
	s.t.Helper()
	files := map[string]string{"go.mod": "module github.com/fsmtx/fsmtx\n\ngo 1.26.0\n", ".gitignore": "/bin/\n",
		"cmd/fsmtx/main.go": program, "cmd/fsmtx-tools/main.go": program}
	for _, from := range []string{".gitattributes", "Makefile", "internal/programs/version.go", "internal/programs/archive.txt"} {
		data, err := os.ReadFile(filepath.Join("../..", from))
		require.NoError(s.t, err)
		files[from] = string(data)
	}
	for path, text := range files {
		path = filepath.Join(s.dir, path)
		require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(s.t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// run runs a command in the directory, without the user's configuration of git.
func (s sources) run(name string, args ...string) string {
	s.t.Helper()
	return s.runWith(nil, name, args...)
}

func (s sources) runWith(env []string, name string, args ...string) string {
	s.t.Helper()
	c := exec.Command(name, args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "GOFLAGS=-trimpath", "MAKEFLAGS=", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	c.Env = append(c.Env, env...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(s.t, err, "%s %s: %s", name, strings.Join(args, " "), stderr.String())
	return strings.TrimSpace(string(out))
}

func (s sources) commit(message string) string {
	s.t.Helper()
	s.run("git", "add", "-A")
	s.run("git", "commit", "-q", "-m", message)
	return s.run("git", "rev-parse", "HEAD")
}

func (s sources) tag(name string) { s.t.Helper(); s.run("git", "tag", "-a", "-m", name, name) }

// prints builds the program and checks its output.
func (s sources) prints(want, build string, args ...string) {
	s.t.Helper()
	s.matches("^"+regexp.QuoteMeta(want)+"$", build, args...)
}

func (s sources) matches(pattern, build string, args ...string) {
	s.t.Helper()
	s.run(build, args...)
	require.Regexp(s.t, pattern, s.run("bin/fsmtx"), "%s %s", build, strings.Join(args, " "))
}

// unpacked returns the sources from an archive of a commit, unpacked inside another
// repository.
func (s sources) unpacked(commit string) sources {
	s.t.Helper()
	other := sources{s.t, s.t.TempDir()}
	other.run("git", "init", "-q")
	require.NoError(s.t, os.WriteFile(filepath.Join(other.dir, "other"), nil, 0o644))
	other.commit("of another project")
	other.tag("v7.0.0")
	to := sources{s.t, filepath.Join(other.dir, "unpacked")}
	require.NoError(s.t, os.Mkdir(to.dir, 0o755))
	archive := filepath.Join(other.dir, "archive.tar")
	s.run("git", "archive", "-o", archive, commit)
	to.run("tar", "-xf", archive)
	return to
}

// installed installs a version with "go install …@version" from a module proxy.
func (s sources) installed(version, want string) {
	s.t.Helper()
	proxy, bin := s.t.TempDir(), s.t.TempDir()
	const path = "github.com/fsmtx/fsmtx"
	dir := filepath.Join(proxy, path, "@v")
	require.NoError(s.t, os.MkdirAll(dir, 0o755))
	mod, err := os.ReadFile(filepath.Join(s.dir, "go.mod"))
	require.NoError(s.t, err)
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, version+".mod"), mod, 0o644))
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, version+".info"), fmt.Appendf(nil, `{"Version": %q}`, version), 0o644))
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, "list"), []byte(version+"\n"), 0o644))
	zipped, err := os.Create(filepath.Join(dir, version+".zip"))
	require.NoError(s.t, err)
	require.NoError(s.t, modzip.CreateFromDir(zipped, module.Version{Path: path, Version: version}, s.dir))
	require.NoError(s.t, zipped.Close())

	s.runWith([]string{"GOPROXY=file://" + proxy, "GONOSUMDB=*", "GOSUMDB=off", "GOMODCACHE=" + s.t.TempDir(),
		"GOFLAGS=-trimpath -modcacherw", "GOBIN=" + bin},
		"go", "install", path+"/cmd/fsmtx@"+version)
	require.Equal(s.t, want, s.run(filepath.Join(bin, "fsmtx")))
}
