// Package sessions runs the sessions of the built program in testdata/script: each in its own directory with a home
// that does not exist yet. A room runs those of its commands, and internal/tools the others.
package sessions

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// rooms are the packages below internal that run sessions, by the first word of a session's name.
var rooms = map[string]string{
	"doctor": "install", "install": "install", "plugin": "install",
	"log": "show", "recover": "show", "status": "show", "statusline": "show", "undo": "show", "watch": "show",
	"attest": "proof",
	"fmt":    "write", "graph": "write", "init": "write", "locate": "write", "new": "write",
	"plan": "write", "schema": "write", "spec": "write",
	"validate": "write",
	"hydrate":  "hydrate", "lookup": "hydrate", "nest": "hydrate", "replaced": "hydrate", "shared": "hydrate",
	"begin": "command", "continue": "command",
	"do": "command", "finish": "command", "misused": "command", "step": "command", "work": "command",
	"answerers": "hook", "elsewhere": "hook", "forged": "hook", "hook": "hook", "loosen": "hook", "newer": "hook", "permission": "hook",
	"report": "report",
	"test":   "trial",
	"guard":  "guard",
	"hooks":  "hooks",
}

// Main runs the tests, with this test program as fsmtx-terminal. A program under test that starts the test program, as if
// that were fsmtx, would run the tests again, which would start it once more.
func Main(m interface{ Run() int }) {
	if name := filepath.Base(os.Args[0]); name != terminalProgram && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "%s: started with %q by a program under test\n", name, os.Args[1:])
		os.Exit(2)
	}
	callers.Forget()
	settings.ManagedDir = func() string { return os.DevNull } // never the machine's own
	testscript.Main(removing{m}, map[string]func(){terminalProgram: func() { os.Exit(onTerminal(os.Args[1:])) }})
}

// removing is the tests, after which the programs that they have built are removed.
type removing struct{ m interface{ Run() int } }

func (r removing) Run() int { return program.Run(r.m) }

// OnPath is the tests with fsmtx and fsmtx-tools first on PATH.
type OnPath struct{ *testing.M }

// Run runs them.
func (m OnPath) Run() int { return program.OnPath(m.M) }

const terminalProgram = "fsmtx-terminal"

// Run runs the sessions in dir of the package whose test this is. With -short they are those of the twenty of
// all that were edited last.
func Run(t *testing.T, dir string) {
	t.Parallel()
	files := of(t, dir)
	if testing.Short() && len(files) == 0 {
		return // none of the twenty is of this package
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			Start(t, env)
			env.Setenv("FSMTX_TEST_MANAGED", env.WorkDir+"/etc")
			env.Setenv("PLANNING_STATE_DIR", env.WorkDir+"/guards") // not /tmp, which --purge would empty of this user's
			env.Setenv("NL", "\n")                                  // scripts have no escape for it
			return nil
		},
		Cmds: Commands,
	})
}

// Start gives a session the programs and a home that does not exist yet.
func Start(t *testing.T, env *testscript.Env) {
	env.Setenv("PATH", program.Dir(t)+string(filepath.ListSeparator)+env.Getenv("PATH"))
	env.Setenv("HOME", env.WorkDir+"/home")
	env.Setenv("GORACE", os.Getenv("GORACE"))
}

func of(t *testing.T, dir string) []string {
	all, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no sessions in %s: %v", dir, err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		slices.SortFunc(all, func(a, b string) int { return edited(t, b).Compare(edited(t, a)) })
		all = all[:20]
	}
	return slices.DeleteFunc(all, func(path string) bool {
		word := strings.FieldsFunc(filepath.Base(path), func(r rune) bool { return r == '_' || r == '.' })[0]
		return cmp.Or(rooms[word], "tools") != filepath.Base(here)
	})
}

func edited(t *testing.T, path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// onTerminal runs a program with a pseudo-terminal as its standard output, prints what the
// terminal shows, and returns the program's exit code. testscript's own ttyout closes the
// terminal when the program has ended, and can lose what nobody has read by then.
func onTerminal(args []string) int {
	master, slave, err := pty.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, slave, os.Stderr
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	_ = slave.Close()
	shown, _ := io.ReadAll(master) // it ends with EIO when the program has closed its end
	_ = c.Wait()
	fmt.Print(strings.ReplaceAll(string(shown), "\r\n", "\n"))
	return c.ProcessState.ExitCode()
}
