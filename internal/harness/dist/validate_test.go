package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

const exampleDir = "docs/examples/skills-repository"

// author is a repository that runs the action or the hook, with releases on a local server.
type author struct {
	t      *testing.T
	server *httptest.Server
	files  string // what the server has, by tag
	cache  string
	repo   string
	path   string // searched before PATH
}

// newAuthor creates a copy of the example repository, and a server with version 1.2.3.
func newAuthor(t *testing.T, archive, sums []byte) *author {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "tar", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not there", tool)
		}
	}
	a := &author{t: t, files: t.TempDir(), cache: t.TempDir(), repo: filepath.Join(t.TempDir(), "repository"), path: t.TempDir()}
	require.NoError(t, os.CopyFS(a.repo, os.DirFS(filepath.Join(root, exampleDir))))
	require.NoError(t, writeFiles(a.files, []file{{"v1.2.3/" + archiveName(), 0o644, archive}, {"v1.2.3/SHA256SUMS", 0o644, sums}}))
	a.server = httptest.NewServer(http.FileServer(http.Dir(a.files)))
	t.Cleanup(a.server.Close)
	return a
}

func archiveName() string { return "fsmtx_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz" }

// run runs a command in the repository and returns its output and exit code.
func (a *author) run(env []string, name string, args ...string) (string, int) {
	a.t.Helper()
	c := exec.Command(name, args...)
	c.Dir = a.repo
	c.Env = append([]string{"PATH=" + a.path + ":" + os.Getenv("PATH"), "HOME=" + a.t.TempDir(), "FSMTX_CACHE=" + a.cache,
		"FSMTX_RELEASES=" + a.server.URL}, env...)
	out, err := c.CombinedOutput()
	if err != nil {
		require.IsType(a.t, &exec.ExitError{}, err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// action runs the steps of an action as a runner does, with these inputs.
func (a *author) action(name string, inputs map[string]string) (string, int) {
	a.t.Helper()
	name = ".github/actions/" + name
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	a.parse(name+"/action.yml", &action)
	require.Equal(a.t, "composite", action.Runs.Using)
	require.Len(a.t, action.Runs.Steps, 1)
	step := action.Runs.Steps[0]
	require.Equal(a.t, "bash", step.Shell)
	dir, err := filepath.Abs(filepath.Join(root, name))
	require.NoError(a.t, err)
	env := []string{"GITHUB_ACTION_PATH=" + dir}
	for name, value := range step.Env {
		input := regexp.MustCompile(`^\$\{\{ inputs\.([\w-]+) \}\}$`).FindStringSubmatch(value)
		require.NotNil(a.t, input, value)
		require.Contains(a.t, action.Inputs, input[1])
		text, given := inputs[input[1]]
		if !given {
			text = action.Inputs[input[1]].Default
		}
		env = append(env, name+"="+text)
	}
	// What "shell: bash" means to a runner.
	return a.run(env, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
}

func (a *author) parse(name string, into any) {
	a.t.Helper()
	require.NoError(a.t, yaml.Unmarshal([]byte(text(a.t, name)), into))
}

// hook runs what pre-commit runs, on files.
func (a *author) hook(args ...string) (string, int) {
	a.t.Helper()
	var hooks []struct{ ID, Entry, Language, Files string }
	a.parse(".pre-commit-hooks.yaml", &hooks)
	require.Len(a.t, hooks, 2)
	require.Equal(a.t, "script", hooks[0].Language)
	require.Equal(a.t, "script", hooks[1].Language)
	require.Equal(a.t, hooks[0].Entry+" --run test", hooks[1].Entry)
	assert.Regexp(a.t, hooks[1].Files, "skills/release/tests/first.txtar")
	assert.Regexp(a.t, hooks[0].Files, "skills/release/fsm.json")
	assert.NotRegexp(a.t, hooks[0].Files, "skills/release/other-fsm.json")
	return a.run(nil, absolute(a.t, hooks[0].Entry), args...) // relative to the hook's repository
}

// absolute returns the path of a file of this repository.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, name))
	require.NoError(t, err)
	return path
}

func (a *author) breakWorkflow() {
	a.t.Helper()
	path := filepath.Join(a.repo, "skills/release/fsm.json")
	require.NoError(a.t, os.WriteFile(path, []byte("[\n  {\"id\": 1, \"subject\": \"One\", \"blockedBy\": [7]}\n]\n"), 0o644))
}

// With an intact release valid workflows pass, mistakes are reported, and the program is
// downloaded once.
func TestAuthorsCheck(t *testing.T) {
	r := built(t)
	archive, sums := r.file(t, archiveName()), r.file(t, "SHA256SUMS")
	a := newAuthor(t, archive, sums)
	pin, err := sumOf(filepath.Join(r.out, "SHA256SUMS"))
	require.NoError(t, err)

	out, code := a.action("validate", map[string]string{"version": "1.2.3", "strict": "true", "sums": pin})
	require.Zero(t, code, out)
	require.Equal(t, "1 workflow, 5 steps, no problems\n1 test: 1 passed, 0 failed; 3 of 3 gates seen refusing and passing\n", out)
	out, code = a.hook("--version", "v1.2.3", "--sums", pin, "--strict", "skills/release/fsm.json")
	require.Zero(t, code, out)

	a.server.Close()
	a.breakWorkflow()
	out, code = a.action("validate", map[string]string{"version": "1.2.3", "paths": "skills/release\n  skills"})
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "::error file=skills/release/fsm.json,line=2,")
	out, code = a.hook("--version", "1.2.3", "skills/release/fsm.json")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "skills/release/fsm.json:2:")
	require.Contains(t, out, "error: ")

	// Without any directory of the user's, as in some containers.
	out, code = a.run([]string{"HOME=", "XDG_CACHE_HOME=", "FSMTX_CACHE="}, "sh", absolute(t, ".github/actions/validate/validate.sh"),
		"--version", "1.2.3")
	require.Equal(t, 2, code, out)
	require.Equal(t, "fsmtx: there is no directory for downloads: HOME, XDG_CACHE_HOME and FSMTX_CACHE are not set\n"+
		"hint: set FSMTX_CACHE to a directory\n", out)

	// Another digest than that of the cached program.
	out, code = a.hook("--version", "1.2.3", "--sums", strings.Repeat("0", 64), "skills/release/fsm.json")
	require.Equal(t, 2, code, out)
	require.Contains(t, out, "another checksum than 0000")
}

// Without --version the script runs the release that it belongs to: the newest heading of
// the changelog, if it has a date.
func TestTheVersionOfTheAction(t *testing.T) {
	r := built(t)
	a := newAuthor(t, r.file(t, archiveName()), r.file(t, "SHA256SUMS"))
	checkout := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(checkout, ".github/actions/validate"), os.DirFS(root+"/.github/actions/validate")))
	run := func(changelog string) (string, int) {
		require.NoError(t, os.WriteFile(filepath.Join(checkout, "CHANGELOG.md"), []byte(changelog), 0o644))
		return a.run(nil, "sh", filepath.Join(checkout, ".github/actions/validate/validate.sh"), "skills")
	}
	out, code := run("# Changelog\n\n## [1.2.3] - 2026-11-22\n\n## [1.2.2] - 2026-10-22\n")
	require.Zero(t, code, out)
	out, code = run("# Changelog\n\n## [1.3.0] - unreleased\n\n## [1.2.3] - 2026-11-22\n")
	require.Equal(t, 2, code, out)
	require.Contains(t, out, "fsmtx: these files are not of a release")
}

// Nothing is run from an archive whose checksum is wrong.
func TestWrongChecksums(t *testing.T) {
	evil := t.TempDir()
	ran := filepath.Join(evil, "ran")
	program := fmt.Appendf(nil, "#!/bin/sh\ntouch %q\n", ran)
	top := strings.TrimSuffix(archiveName(), ".tar.gz")
	archive, err := pack(top, here(root, "").date, []file{{"fsmtx", 0o755, program}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(evil, "archive"), archive, 0o644))
	sum, err := sumOf(filepath.Join(evil, "archive"))
	require.NoError(t, err)
	line := func(sum, name string) []byte { return []byte(sum + "  " + name + "\n") }
	wrong := strings.Repeat("0", 64)

	for name, c := range map[string]struct {
		archive, sums []byte
		args          []string
		want          string
	}{
		"the archive": {archive, line(wrong, archiveName()), nil, archiveName() +
			" has another checksum than SHA256SUMS says; nothing was run"},
		"cut off":    {archive[:len(archive)/2], line(sum, archiveName()), nil, "has another checksum"},
		"not listed": {archive, line(sum, "x"+archiveName()), nil, "does not list " + archiveName()},
		"a regexp":   {archive, line(sum, strings.Replace(archiveName(), "1.2.3", "1x2x3", 1)), nil, "does not list"},
		"empty":      {archive, nil, nil, "does not list"},
		"the sums": {archive, line(sum, archiveName()), []string{"--sums", wrong},
			"SHA256SUMS of version 1.2.3 has another checksum than " + wrong + "; nothing was run"},
		"short sums":    {archive, line(sum, archiveName()), []string{"--sums", wrong[:8]}, "has another checksum than 00000000;"},
		"other version": {archive, line(sum, archiveName()), []string{"--version", "9.9.9"}, "cannot download"},
		"no version":    {archive, line(sum, archiveName()), []string{"--version", "../../x"}, `"../../x" is not a version`},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthor(t, c.archive, c.sums)
			out, code := a.hook(append([]string{"--version", "1.2.3"}, append(c.args, "skills")...)...)
			require.Equal(t, 2, code, out)
			require.Contains(t, out, c.want)
			require.NoFileExists(t, ran)
			left, err := filepath.Glob(filepath.Join(a.cache, "*.tar.gz"))
			require.NoError(t, err)
			require.Empty(t, left)
			require.Empty(t, a.temporary())
		})
	}
	// With its own checksum the same archive runs: the cases above fail for no other reason.
	a := newAuthor(t, archive, line(sum, archiveName()))
	out, code := a.hook("--version", "1.2.3", "skills")
	require.Zero(t, code, out)
	require.FileExists(t, ran)
}

// Nothing is run from a cache into which somebody else has written, with or without --sums,
// and the archive is downloaded again.
func TestWrongCache(t *testing.T) {
	top := strings.TrimSuffix(archiveName(), ".tar.gz")
	made := func(script string) (archive, sums []byte) {
		archive, err := pack(top, here(root, "").date, []file{{"fsmtx", 0o755, []byte("#!/bin/sh\n" + script + "\n")}})
		require.NoError(t, err)
		return archive, fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(archive), archiveName())
	}
	archive, sums := made("echo good; exit 1")
	evil, evilSums := made("echo evil")
	pin := fmt.Sprintf("%x", sha256.Sum256(sums))
	good := func(t *testing.T, a *author, args ...string) {
		t.Helper()
		out, code := a.hook(append([]string{"--version", "1.2.3"}, args...)...)
		require.Equal(t, "good\n", out)
		require.Equal(t, 1, code)
		require.Empty(t, a.temporary())
	}
	for name, put := range map[string]func(path string) error{
		"a program": func(path string) error { return replace(path, ".tar.gz", evil) },
		"and its digest": func(path string) error {
			return errors.Join(replace(path, ".tar.gz", evil), replace(path, ".SHA256SUMS", evilSums))
		},
		"cut off": func(path string) error { return replace(path, ".tar.gz", archive[:len(archive)/2]) },
		"a FIFO": func(path string) error {
			return errors.Join(os.Remove(path+".tar.gz"), files.Mkfifo(path+".tar.gz", 0o600))
		},
		"a FIFO of sums": func(path string) error {
			return errors.Join(os.Remove(path+".SHA256SUMS"), files.Mkfifo(path+".SHA256SUMS", 0o600))
		},
		"as of old": func(path string) error {
			return writeFiles(path, []file{{"fsmtx", 0o755, []byte("#!/bin/sh\necho evil\n")}, {"SHA256SUMS", 0o644, sums}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthor(t, archive, sums)
			good(t, a, "skills")
			require.NoError(t, put(filepath.Join(a.cache, top)))
			good(t, a, "skills")
			require.NoError(t, put(filepath.Join(a.cache, top)))
			good(t, a, "--sums", pin, "skills")

			// What a run has kept serves when nothing can be downloaded, checked again.
			a.server.Close()
			good(t, a, "--sums", pin, "skills")
			out, code := a.hook("--version", "1.2.3", "skills")
			require.Equal(t, 1, code)
			require.Contains(t, out, "fsmtx: SHA256SUMS of version 1.2.3 cannot be downloaded; the one in "+a.cache+" is used")
			require.NoError(t, replace(filepath.Join(a.cache, top), ".tar.gz", evil))
			out, code = a.hook("--version", "1.2.3", "--sums", pin, "skills")
			require.Equal(t, 2, code)
			require.Contains(t, out, "cannot download")
		})
	}
}

// replace makes a file of the cache another one.
func replace(path, suffix string, data []byte) error { return os.WriteFile(path+suffix, data, 0o644) }

// temporary returns the directories of runs, which each run removes.
func (a *author) temporary() []string {
	a.t.Helper()
	left, err := filepath.Glob(filepath.Join(a.cache, "new.*"))
	require.NoError(a.t, err)
	return left
}

// The platform is the one that uname names.
func TestPlatformOfTheCheck(t *testing.T) {
	a := newAuthor(t, nil, nil)
	for system, want := range map[string]string{
		"Darwin arm64":  "does not list fsmtx_1.2.3_darwin_arm64.tar.gz",
		"Darwin x86_64": "does not list fsmtx_1.2.3_darwin_amd64.tar.gz",
		"Linux aarch64": "does not list fsmtx_1.2.3_linux_arm64.tar.gz",
		"FreeBSD amd64": "this action runs on Linux and macOS, not on FreeBSD",
		"Linux riscv64": "there is no release for riscv64",
	} {
		name, machine, _ := strings.Cut(system, " ")
		script := "#!/bin/sh\ncase $1 in -s) echo " + name + " ;; -m) echo " + machine + " ;; esac\n"
		require.NoError(t, writeFiles(a.path, []file{{"uname", 0o755, []byte(script)}}))
		out, code := a.hook("--version", "1.2.3", "skills")
		require.Equal(t, 2, code, out)
		require.Contains(t, out, want)
	}
}

// The documentation shows the files of the example repository, and both name a version
// that exists.
func TestExampleRepository(t *testing.T) {
	read := func(name string) string { return text(t, exampleDir+name) }
	page, changelog := text(t, "docs/ci.md"), text(t, "CHANGELOG.md")
	require.Contains(t, page, read("/.pre-commit-config.yaml"))
	workflow := read("/.github/workflows/validate.yml")
	verify := read("/.github/workflows/verify.yml")
	require.Contains(t, page, verify)
	require.Contains(t, page, read("/.fsmtx/policy.json"))
	named := regexp.MustCompile(`(?m)(?:validate@|verify@|rev: )v([0-9.]+)$`).FindAllStringSubmatch(page+workflow+verify, -1)
	require.Len(t, named, 5)
	for _, version := range named {
		require.Contains(t, changelog, "\n## ["+version[1]+"] - ")
	}
	var any map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(workflow), &any))
	require.NoError(t, yaml.Unmarshal([]byte(verify), &any))
}
