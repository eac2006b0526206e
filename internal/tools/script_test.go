package tools_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// TestMain puts fsmtx and fsmtx-tools first on PATH, and makes the test program act as fsmtx-terminal. A
// program under test that starts the test program, as if that were fsmtx, would run the tests again,
// which would start it once more.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name != terminalProgram && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "%s: started with %q by a program under test\n", name, os.Args[1:])
		os.Exit(2)
	}
	callers.Forget()
	tools.SetManagedDir(os.DevNull) // never the machine's own
	testscript.Main(onPath{m}, map[string]func(){terminalProgram: func() { os.Exit(onTerminal(os.Args[1:])) }})
}

const terminalProgram = "fsmtx-terminal"

// onPath is the tests with the programs on PATH.
type onPath struct{ *testing.M }

func (m onPath) Run() int { return program.OnPath(m.M) }

// rewritten writes the command that a hook has rewritten to a file, and the question to
// standard output: rewritten reply.json file.
func rewritten(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rewritten reply.json file")
	}
	var reply struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Input    struct {
				Command     string `json:"command"`
				Description string `json:"description"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &reply))
	if got := reply.Specific.Decision; got != "ask" {
		ts.Fatalf("%s: the decision is %q, want ask", args[0], got)
	}
	if reply.Specific.Input.Description == "" {
		ts.Fatalf("%s: the input has lost its description", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(reply.Specific.Input.Command), 0o644))
	fmt.Fprintln(ts.Stdout(), reply.Specific.Reason)
}

// raceOptions passes the options of the race detector to a program that a test starts with an
// environment of its own. Without them each such program waits a second before it exits.
var raceOptions = "GORACE=" + os.Getenv("GORACE")

// TestScript runs the sessions of testdata/script, each in its own directory with a
// home that does not exist yet.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Files:               sessions(t),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("FSMTX_TEST_MANAGED", env.WorkDir+"/etc")
			env.Setenv("PLANNING_STATE_DIR", env.WorkDir+"/guards") // not /tmp, which --purge would empty of this user's
			env.Setenv("NL", "\n")                                  // scripts have no escape for it
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "expand": expand, "event": skillCalled, "cmptask": cmptask,
			"update": update, "does": does, "calls": calls, "call": useTool, "becomes": becomes, "interrupt": interrupt, "forge": forge,
			"listing": listing, "plant": plant, "rewritten": rewritten},
	})
}

// sessions returns the sessions. With -short they are the twenty that were edited last.
func sessions(t *testing.T) []string {
	all, err := filepath.Glob("../../testdata/script/*.txtar")
	require.NoError(t, err)
	if testing.Short() {
		slices.SortFunc(all, func(a, b string) int { return edited(t, b).Compare(edited(t, a)) })
		all = all[:20]
	}
	return all
}

func edited(t *testing.T, path string) time.Time {
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.ModTime()
}

// TestEveryScenarioHasASession: every scenario in testdata/scenarios.txt is named in the
// first line of exactly one session.
func TestEveryScenarioHasASession(t *testing.T) {
	list, err := os.ReadFile("../../testdata/scenarios.txt")
	require.NoError(t, err)
	sessions, err := filepath.Glob("../../testdata/script/*.txtar")
	require.NoError(t, err)
	var shown []string
	for _, path := range sessions {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(text), "\n")
		require.True(t, strings.HasPrefix(first, "# "), "%s: the first line does not say what the session shows", path)
		shown = append(shown, regexp.MustCompile(`SCN-THS-[0-9]+\.[0-9]+`).FindAllString(first, -1)...)
	}
	require.ElementsMatch(t, strings.Fields(string(list)), shown)
}

// expand replaces $VARIABLE in files: expand event.json.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand file...")
	}
	for _, file := range args {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(os.Expand(ts.ReadFile(file), ts.Getenv)), 0o644))
	}
}

// skillCalled writes event.json: what the client sends when the model has called a skill
// from the directory project: event my-skill.
func skillCalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: event skill")
	}
	text := fmt.Sprintf(`{"session_id": "abc-123", "cwd": %q, "hook_event_name": "PostToolUse", "tool_name": "Skill",
"tool_input": {"skill": %[2]q}, "tool_response": {"success": true, "commandName": %[2]q}}`, ts.MkAbs("project"), args[0])
	ts.Check(os.WriteFile(ts.MkAbs("event.json"), []byte(text), 0o644))
}

// cmptask compares a task file with a file of the session. Only the latter ends with a line
// feed.
func cmptask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmptask task golden")
	}
	if got, want := ts.ReadFile(args[0])+"\n", ts.ReadFile(args[1]); got != want {
		ts.Fatalf("%s: got\n%swant\n%s", args[0], got, want)
	}
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

// code runs a program and compares its exit code: code 2 fsmtx install --check.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
