// Package program builds fsmtx and fsmtx-tools for tests that start them. Tests start them some
// thousand times, and a test program that acts as one takes two to three times as long to start: it
// is larger, and initialises the libraries of tests.
//
// Programs are built with the flags with which the test program was built, so that what they
// consist of is compiled once, and as an environment with GOFLAGS says, such as the mutation tester's.
package program

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	_ "github.com/fsmtx/fsmtx/internal/command" // what is built, so that go test knows when a result is out of date
	_ "github.com/fsmtx/fsmtx/internal/mcp"
)

const module = "github.com/fsmtx/fsmtx"

// environ is the environment before a test sets HOME.
var environ = os.Environ()

// dir has the programs once they are built.
var dir string

var built = sync.OnceValue(func() error {
	root, err := os.MkdirTemp("", "fsmtx-program-")
	if err != nil {
		return err
	}
	if dir = filepath.Join(root, "bin"); os.Chmod(root, 0o755) == nil { // for tests as another user
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		return err
	}
	return build(dir, module+"/internal/harness/program/fsmtx", module+"/internal/harness/program/fsmtx-tools")
})

// Dir returns the directory of fsmtx and fsmtx-tools as tests start them: who runs them is played (package
// callers). The first call builds them; Run removes them.
func Dir(t testing.TB) string {
	t.Helper()
	require.NoError(t, built())
	return dir
}

// Path returns the path of fsmtx in Dir.
func Path(t testing.TB) string {
	t.Helper()
	return filepath.Join(Dir(t), "fsmtx")
}

// Link puts fsmtx and fsmtx-tools into dir, which it makes. They are no symbolic links: a program
// that looks for itself would find Dir.
func Link(t testing.TB, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, name := range []string{"fsmtx", "fsmtx-tools"} {
		from, to := filepath.Join(Dir(t), name), filepath.Join(dir, name)
		if os.Link(from, to) != nil { // another file system
			copied(t, from, to)
		}
	}
}

// copied copies a program. It is not this process that writes it: one that starts while the file is
// open for writing would keep it from being executed.
func copied(t testing.TB, from, to string) {
	t.Helper()
	require.NoError(t, exec.Command("cp", from, to).Run())
}

// Run runs the tests, and removes what was built for them. It is for TestMain.
func Run(m interface{ Run() int }) int {
	code := m.Run()
	if dir != "" {
		_ = os.RemoveAll(filepath.Dir(dir))
	}
	return code
}

// OnPath builds the programs, puts them first on PATH, and runs the tests as Run does.
func OnPath(m interface{ Run() int }) int {
	return Run(prepared(func() int {
		if err := built(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		_ = os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
		return m.Run()
	}))
}

type prepared func() int

func (run prepared) Run() int { return run() }

// build builds the programs of packages into to. They are kept in bin/test, where the go command links
// none again that is up to date. What a test starts are copies: another test program may build newer ones,
// and a program that the linker has just written starts more slowly than its copy.
func build(to string, packages ...string) error {
	kept, err := keep()
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(kept, "lock"))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Close()
	flags, env := settings()
	c := exec.Command("go", slices.Concat([]string{"build", "-buildvcs=false", "-o", kept + "/"}, flags, packages)...)
	c.Env = slices.Concat(environ, env)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	for _, p := range packages {
		if out, err := exec.Command("cp", filepath.Join(kept, filepath.Base(p)), to).CombinedOutput(); err != nil {
			return fmt.Errorf("copying a program to %s: %w: %s", to, err, out)
		}
	}
	return nil
}

// settings returns the flags and the variables for the go command with which it builds as it built this
// program. In GOFLAGS the last -ldflags counts, that of the environment if it has one.
func settings() (flags, env []string) {
	env = []string{"GOFLAGS='-ldflags=-s -w' " + os.Getenv("GOFLAGS")}
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		switch s.Key {
		case "-trimpath", "-race", "-tags":
			flags = append(flags, s.Key+"="+s.Value)
		case "CGO_ENABLED":
			env = append(env, s.Key+"="+s.Value)
		}
	}
	return flags, env
}

// keep returns a directory in bin/test of this module for programs with the same settings, or the directory
// that FSMTX_TEST_PROGRAMS names.
func keep() (string, error) {
	if dir := os.Getenv("FSMTX_TEST_PROGRAMS"); dir != "" {
		return dir, nil
	}
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	flags, env := settings()
	sum := sha256.Sum256(fmt.Append(nil, flags, env))
	dir := filepath.Join(filepath.Dir(string(mod)), "bin/test", hex.EncodeToString(sum[:6]))
	return dir, os.MkdirAll(dir, 0o755)
}
