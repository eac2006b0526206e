//go:build e2e

// The packages for npm, installed with npm from files, without a network.

package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/programs"
)

// packages is a home in which npm works without a network, and the packages.
type packages struct {
	t    *testing.T
	home string
	dir  string // of the .tgz files
	own  string // the package of this platform, such as linux-x64
}

var packing struct {
	sync.Once
	dir string
	err error
	out []byte
}

// newPackages makes the packages as "make npm" does, with the programs of this test for
// this platform and stand-ins for the others.
func newPackages(t *testing.T) *packages {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	packing.Do(func() {
		packing.dir = filepath.Join(filepath.Dir(fsmtx), "dist")
		for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64", "windows-arm64"} {
			dir := filepath.Join(packing.dir, platform)
			require.NoError(t, os.MkdirAll(dir, 0o755))
			for _, name := range programs.Both(strings.Split(platform, "-")[0]) {
				if platform == runtime.GOOS+"-"+runtime.GOARCH {
					require.NoError(t, os.Link(filepath.Join(filepath.Dir(fsmtx), name), filepath.Join(dir, name)))
				} else {
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(platform), 0o755))
				}
			}
		}
		c := exec.Command("go", "run", "-trimpath", "-ldflags", "-X github.com/fsmtx/fsmtx/internal/programs.describe=v1.2.3",
			"./internal/harness/dist", "-npm", "-out", packing.dir)
		c.Dir = "../../.."
		c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
		packing.out, packing.err = c.CombinedOutput()
	})
	require.NoError(t, packing.err, "%s", packing.out)
	arch := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	return &packages{t, t.TempDir(), packing.dir, runtime.GOOS + "-" + arch}
}

// command prepares a program with an empty home, and npm's network switched off.
func (p *packages) command(dir, program string, args ...string) *exec.Cmd {
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	if program == "fsmtx" {
		program = filepath.Join(p.home, "npm", "bin", program)
	}
	c := exec.Command(program, args...)
	c.Dir = dir
	c.Env = []string{"HOME=" + p.home, "PATH=" + filepath.Join(p.home, "npm", "bin") + ":" + os.Getenv("PATH"),
		"npm_config_prefix=" + filepath.Join(p.home, "npm"),
		"npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false",
		callers.Environ(caller.Script)}
	return c
}

func (p *packages) run(dir, program string, args ...string) string {
	p.t.Helper()
	out, err := p.command(dir, program, args...).CombinedOutput()
	require.NoError(p.t, err, "%s %s\n%s", program, strings.Join(args, " "), out)
	return string(out)
}

func (p *packages) main() string     { return filepath.Join(p.dir, "fsmtx-1.2.3.tgz") }
func (p *packages) platform() string { return filepath.Join(p.dir, "fsmtx-"+p.own+"-1.2.3.tgz") }

// TestInstalledByNPM follows the README: one package to install, one command in a project,
// and the tasks are in the client's list. The installation runs no script, and the hooks
// need neither npm's packages nor Node.
func TestInstalledByNPM(t *testing.T) {
	p := newPackages(t)
	s := realclient.New(t)
	p.home = s.Home
	p.run(s.Home, "npm", "install", "-g", "--ignore-scripts", p.main(), p.platform())
	skill(s, projectSkills, "release", steps("Release"))
	assert.Contains(t, p.run(s.Project, "fsmtx", "version"), "fsmtx ")
	assert.Contains(t, p.run(s.Project, "fsmtx", "demo"), "killed")
	p.run(s.Project, "fsmtx", "install", "--no-steps", "--task-tools")

	require.NoError(t, os.Rename(filepath.Join(s.Home, "npm"), filepath.Join(s.Home, "gone")))
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	r := s.Prompt(invoke("release"), "go")
	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))

	// npm installs another version: the hooks keep working, and are reported as old.
	require.NoError(t, os.Rename(filepath.Join(s.Home, "gone"), filepath.Join(s.Home, "npm")))
	updated := p.run(s.Home, "sh", "-c", `find npm -path "*/@fsmtx/*/bin/fsmtx" -exec sh -c 'echo >> "$0" && echo updated' {} \;`)
	require.Equal(t, "updated\n", updated)
	out, err := p.command(s.Project, "fsmtx", "install", "--check", "--no-steps").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "is not the version that npm has installed")
	p.run(s.Project, "fsmtx", "install", "--no-steps")
	p.run(s.Project, "fsmtx", "install", "--check", "--no-steps")
}

// TestByNPX: from the packed archives, without an installation, and the hooks do not run npx's copy, which it may remove.
func TestByNPX(t *testing.T) {
	p := newPackages(t)
	dir := filepath.Join(p.home, "project")
	npx := func(args ...string) string {
		return p.run(dir, "npx", append([]string{"--yes", "--package", p.main(), "--package", p.platform(), "--", "fsmtx"}, args...)...)
	}
	assert.Contains(t, npx("version"), "fsmtx ")
	npx("install")
	hooks, err := os.ReadFile(filepath.Join(dir, ".claude", "settings.local.json"))
	require.NoError(t, err)
	assert.Contains(t, string(hooks), filepath.Join(p.home, ".local/share/fsmtx/bin/fsmtx"))
	assert.NotContains(t, string(hooks), "_npx")
}

// TestPackagesAreAsNPMPacksThem: the archives have what "npm pack" takes, with the same
// names, and a second run makes the same bytes.
func TestPackagesAreAsNPMPacksThem(t *testing.T) {
	p := newPackages(t)
	for _, archive := range []string{p.main(), p.platform()} {
		dir := t.TempDir()
		p.run(dir, "tar", "xzf", archive)
		p.run(dir, "npm", "pack", "./package")
		packed := filepath.Join(dir, filepath.Base(archive))
		require.FileExists(t, packed)
		list := func(file string) []string {
			lines := strings.Fields(p.run(dir, "tar", "tzf", file))
			return lines
		}
		assert.ElementsMatch(t, list(packed), list(archive))
		assert.NotContains(t, p.run(dir, "sh", "-c", "cat package/package.json"), `"scripts"`)
	}
}

// TestAnInstallationWithoutTheProgram says what is missing in one sentence.
func TestAnInstallationWithoutTheProgram(t *testing.T) {
	p := newPackages(t)
	dir := filepath.Join(p.home, "project")
	p.run(dir, "npm", "install", "--omit=optional", p.main())
	out, err := p.command(dir, "node_modules/.bin/fsmtx", "version").CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, "fsmtx: the package @fsmtx/"+p.own+", which has the program, is not installed\n"+
		"hint: install fsmtx again, and do not leave out optional packages (--omit=optional, --no-optional)\n", string(out))

	// Another platform: a Node that says so.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.js"),
		[]byte(`Object.defineProperty(process, "platform", {value: "freebsd"})`), 0o644))
	out, err = p.command(dir, "node", "--require", "./other.js", "node_modules/fsmtx/bin/fsmtx.js").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "fsmtx: there is no program for freebsd-")
	assert.Contains(t, string(out), "on x64 and arm64\n")
	assert.Equal(t, 2, strings.Count(string(out), "\n"))
}

// TestTheLauncherIsTransparent: arguments, standard input and output, exit codes and
// signals pass through it.
func TestTheLauncherIsTransparent(t *testing.T) {
	p := newPackages(t)
	dir := filepath.Join(p.home, "project")
	p.run(dir, "npm", "install", p.main(), p.platform())
	program := filepath.Join(dir, "node_modules", "@fsmtx", p.own, "bin", "fsmtx")
	assert.NoDirExists(t, filepath.Join(dir, "node_modules", "@fsmtx", "darwin-arm64"), "only this platform's package")
	// The program prints its arguments and input: only the launcher is tested.
	require.NoError(t, os.WriteFile(program, []byte(`#!/bin/sh
case $1 in
code) exit "$2" ;;
die) kill -s "$2" $$ ;;
wait) trap 'echo caught; exit 7' "$2"; echo ready; while :; do sleep 0.05; done ;;
esac
echo "$# $1 [$2]"; cat; echo "to stderr" >&2`), 0o755))
	launcher := "node_modules/.bin/fsmtx"

	c := p.command(dir, launcher, "one", "two words")
	c.Stdin = strings.NewReader("from stdin\n")
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	require.NoError(t, c.Run())
	assert.Equal(t, "2 one [two words]\nfrom stdin\n", stdout.String())
	assert.Equal(t, "to stderr\n", stderr.String())

	for _, code := range []string{"0", "1", "2", "127"} {
		c := p.command(dir, launcher, "code", code)
		_ = c.Run()
		assert.Equal(t, code, strings.TrimPrefix(c.ProcessState.String(), "exit status "))
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL, syscall.SIGHUP} {
		name := map[syscall.Signal]string{syscall.SIGTERM: "TERM", syscall.SIGINT: "INT", syscall.SIGKILL: "KILL", syscall.SIGHUP: "HUP"}[signal]
		c := p.command(dir, launcher, "die", name)
		_ = c.Run()
		assert.Equal(t, signal, c.ProcessState.Sys().(syscall.WaitStatus).Signal(), "a program that dies of %s", name)
		if signal == syscall.SIGKILL {
			continue
		}
		c = p.command(dir, launcher, "wait", name)
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		ready := make([]byte, len("ready\n"))
		_, err = io.ReadFull(out, ready)
		require.NoError(t, err)
		require.NoError(t, c.Process.Signal(signal))
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		_ = c.Wait()
		assert.Equal(t, "caught\n", string(rest), "%s reaches the program", name)
		assert.Equal(t, 7, c.ProcessState.ExitCode())
	}

	require.NoError(t, os.Chmod(program, 0o644))
	out, err := p.command(dir, launcher).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "cannot be started")
}
