//go:build unix

// Package advice runs the commands that fsmtx tells a person to run, as they are said.
package advice

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/sessions"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Variables of the test program as fsmtx: where the real one is, and where to write what was tried.
const (
	programs = "FSMTX_ADVICE_PROGRAMS"
	tried    = "FSMTX_ADVICE_TRIED"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "fsmtx" {
		os.Exit(advised())
	}
	sessions.Main(m)
}

// trial is one line that was said, and what came of running it.
type trial struct {
	By, Line, Dir, Output string
	Failed                bool
	Unnamed               bool     // it changes something, and names no list
	Touched               []string // lists that changed and are not named
}

// with are the sessions in which a person is told what to run about a list. Those of fsmtx test name lists in copies that are removed, and
// those of hostile lists are about what a person has to repair first.
var with = regexp.MustCompile(`^(answerers|begin|continue|deep|do|elsewhere|finish|forged|hook|hydrate_changed|hydrate_emptied|log|` +
	`loosen|mcp|nest|newcomer|permission|recover|replaced|report|shared|status|step|team|undo|work)[_.]`)

// without are those of them that cannot be played so, and why.
var without = map[string]string{
	"step_through": "compares the program that runs with the first one on PATH, which is this test",
}

// TestAdviceWorks takes each line for a person out of what the programs say in the sessions, and runs it as it is said in a terminal, in a
// copy of the state in which it was said, after another session has begun in the project. It has to do its work, and to touch no other
// list than those that it names.
func TestAdviceWorks(t *testing.T) {
	worlds.Long(t)
	all, err := filepath.Glob("../../../testdata/script/*.txtar")
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(path string) bool {
		name := filepath.Base(path)
		return !with.MatchString(name) || without[strings.TrimSuffix(name, ".txtar")] != "" ||
			!strings.Contains(path, os.Getenv("FSMTX_ADVICE_OF"))
	})
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "tried")
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "fsmtx")))
	t.Run("sessions", func(t *testing.T) {
		testscript.Run(t, testscript.Params{Files: all, RequireUniqueNames: true, RequireExplicitExec: true, Cmds: sessions.Commands,
			Setup: func(env *testscript.Env) error {
				sessions.Start(t, env)
				env.Setenv("FSMTX_TEST_MANAGED", env.WorkDir+"/etc")
				env.Setenv("PLANNING_STATE_DIR", env.WorkDir+"/guards")
				env.Setenv("NL", "\n")
				env.Setenv(programs, program.Dir(t))
				env.Setenv(tried, log)
				env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
				return nil
			}})
	})
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	kinds := map[string]int{}
	for line := range bytes.Lines(data) {
		var x trial
		require.NoError(t, json.Unmarshal(line, &x))
		kinds[strings.Join(strings.Fields(x.Line)[:2], " ")]++
		assert.False(t, x.Failed, "%s said: %s\nin %s it ends so:\n%s", x.By, x.Line, x.Dir, x.Output)
		assert.False(t, x.Unnamed, "%s said: %s\nwhich names no list", x.By, x.Line)
		assert.Empty(t, x.Touched, "%s said: %s\nwhich touched these lists, too", x.By, x.Line)
	}
	for _, kind := range []string{"fsmtx undo", "fsmtx continue", "fsmtx step", "fsmtx status"} {
		assert.NotZero(t, kinds[kind], "no session says %s", kind)
	}
	t.Logf("tried: %v", kinds)
}

// advised is fsmtx, and then a person who pastes each line that it says.
func advised() int {
	real := filepath.Join(os.Getenv(programs), "fsmtx")
	_ = os.Setenv("PATH", filepath.Dir(real)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	line := caller.Arguments(os.Getppid()) // the program looks at who has started it
	if len(line) > 0 && filepath.Base(line[0]) == "sh" || os.Getenv("FSMTX_TEST_YOUNG") != "" {
		_ = syscall.Exec(real, append([]string{"fsmtx"}, os.Args[1:]...), os.Environ())
	}
	c := exec.Command(real, os.Args[1:]...)
	var out, errs, in bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = io.TeeReader(os.Stdin, &in), &out, &errs
	_ = c.Run()
	_, _ = os.Stdout.Write(out.Bytes())
	_, _ = os.Stderr.Write(errs.Bytes())
	work := os.Getenv("WORK")
	helps := func(arg string) bool { return arg == "--help" || arg == "help" || strings.HasPrefix(arg, "__") }
	if work != "" && !slices.ContainsFunc(os.Args, helps) {
		event, own := said(in.Bytes()), "fsmtx "+strings.Join(os.Args[1:], " ")
		quoted := shell.Join(append([]string{"fsmtx"}, os.Args[1:]...)...)
		for _, line := range linesIn(said(out.Bytes()) + "\n" + errs.String()) {
			if !strings.Contains(event, line) && !strings.HasPrefix(line, own) && !strings.HasPrefix(line, quoted) {
				// else it is what was run, perhaps with the name of a list
				try(work, real, line)
			}
		}
	}
	return c.ProcessState.ExitCode()
}

// said returns the texts in what a program prints: of JSON every string, as whoever reads it sees it.
func said(data []byte) string {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return string(data)
	}
	var all []string
	var in func(any)
	in = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, e := range v {
				in(e)
			}
		case map[string]any:
			for _, e := range v {
				in(e)
			}
		}
	}
	in(value)
	return strings.Join(all, "\n")
}

// word is a word of a command line that a text goes on after.
const word = `(?: +(?:--[a-z-]+(?:[= ](?:"[^"]*"|'[^']*'|[^-\s;,()"'][^\s;,()"']*))?|[0-9]+|'[^']*'|"[^"]*"))`

// A line for a person, as far as it is one: flags with their values, and numbers. Behind continue the name of a skill can stand.
var advice = regexp.MustCompile(`\bfsmtx (?:undo|status|log|attest|recover|step (?:skip|done|reopen|end|allow|reload)|` +
	`continue(?: [a-z][a-z0-9-]* --list [^\s;,()"']+)?)` + word + `*`)

// valueless are the flags without a value.
var valueless = regexp.MustCompile(`(--(?:force|all|dry-run|json|full|with-blockers|watch|notify|decisions|open|tree|print|wrong)) ` +
	`[^-0-9].*$`)

var (
	form    = regexp.MustCompile(`[ =](NAME|N|LIST|RULE|TEXT|OUTCOME|DIR|SESSION)\b`)               // to be filled in
	command = regexp.MustCompile(`^fsmtx (step (skip|done|reopen|end|allow|reload)|undo|recover)$`) // no line, but the name of a command
)

// linesIn returns the commands for a person in a text.
func linesIn(text string) (all []string) {
	text = regexp.MustCompile(`wants to [^\n]*`).ReplaceAllString(text, "") // a question shows what the agent runs
	for _, line := range advice.FindAllString(text, -1) {
		line = strings.TrimRight(valueless.ReplaceAllString(line, "$1"), ".:")
		switch {
		case form.MatchString(line), command.MatchString(line):
		case strings.HasPrefix(line, "fsmtx continue") && !strings.Contains(line, "--to"): // an agent's
		case strings.Contains(line, "--grant"), strings.Contains(line, "--watch"), strings.Contains(line, "--help"):
		default:
			if all = append(all, line); len(all) > 40 {
				return all
			}
		}
	}
	return all
}

var changes = regexp.MustCompile(`^fsmtx (undo|continue|step|recover)\b`)

// try runs a line in a copy of the state, in the place of the state.
func try(work, real, line string) {
	lock, err := os.OpenFile(work+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil || syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) != nil {
		panic(err)
	}
	defer lock.Close()
	key := regexp.MustCompile(`\d+`).ReplaceAllString(line, "N")
	done, _ := os.ReadFile(work + ".done")
	if strings.Contains(string(done), key+"\n") {
		return
	}
	_ = os.WriteFile(work+".done", append(done, key+"\n"...), 0o600)
	cwd, err := os.Getwd()
	if err != nil || os.Rename(work, work+".kept") != nil {
		panic("the state cannot be kept")
	}
	defer func() { _, _ = os.RemoveAll(work), os.Rename(work+".kept", work) }()
	if text, err := exec.Command("cp", "-a", work+".kept", work).CombinedOutput(); err != nil {
		panic(string(text))
	}
	x := trial{By: os.Getenv("PWD") + ": fsmtx " + strings.Join(os.Args[1:], " "), Line: line, Dir: cwd,
		Unnamed: changes.MatchString(line) && !strings.Contains(line, "--list")}
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(caller.Variables(), name) || strings.HasPrefix(name, "CLAUDE") || strings.HasPrefix(name, "FSMTX_TEST_C") ||
			strings.HasPrefix(name, "GEMINI") || name == "FSMTX_TEST_YOUNG" || name == "PATH"
	})
	env = append(env, callers.Environ(caller.Person), "FSMTX_TEST_TYPES=the word", "PATH="+filepath.Dir(real)+":"+os.Getenv("PATH"))
	run := func(more []string, line string) (string, error) {
		c := exec.Command("sh", "-c", line)
		c.Dir, c.Env = cwd, append(env, more...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	other := filepath.Join(work, "another")
	_ = os.MkdirAll(other, 0o755)
	_ = os.WriteFile(filepath.Join(other, "SKILL.md"), []byte("---\nname: another\n---\n"), 0o600)
	_ = os.WriteFile(filepath.Join(other, "fsm.json"), []byte(`[{"id": 1, "subject": "Other"}]`), 0o600)
	if out, err := run([]string{"CLAUDE_CODE_SESSION_ID=ffff0000-0000-4000-8000-000000000000"}, "fsmtx begin "+other); err != nil {
		x.Output, x.Failed = "another session cannot begin: "+out, true
	} else {
		before := lists()
		text := regexp.MustCompile(`(["'])\.\.\.["']|(--because) \.\.\.`).ReplaceAllString(line, `$2 tested`)
		out, err := run(nil, text)
		x.Output, x.Failed = out, err != nil && !strings.Contains(out, "not a regular file") // a session has damaged the list
		for list, digest := range lists() {
			if before[list] != digest && !isNamed(line, list) {
				x.Touched = append(x.Touched, list)
			}
		}
	}
	data, _ := json.Marshal(x)
	if f, err := os.OpenFile(os.Getenv(tried), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.Write(append(data, '\n'))
		_ = f.Close()
	}
}

var names = regexp.MustCompile(`--(?:list|to)[= ]'?([A-Za-z0-9-]+|/[A-Za-z0-9/._-]+)`)

// isNamed reports whether a line names a list by its name or the beginning of that, or its path.
func isNamed(line, list string) bool {
	return slices.ContainsFunc(names.FindAllStringSubmatch(line, -1), func(m []string) bool {
		return m[1] == list || strings.HasPrefix(filepath.Base(list), m[1])
	})
}

// lists returns a digest of the tasks and the evidence of each list.
func lists() map[string]string {
	all := map[string]string{}
	home := os.Getenv("HOME")
	for _, root := range []string{home + "/.claude/tasks", home + "/.local/state/fsmtx/tasks"} {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, "steps.jsonl") {
				return nil
			}
			rel, _ := filepath.Rel(root, path)
			list, rest, _ := strings.Cut(rel, "/")
			list = strings.TrimSuffix(strings.TrimPrefix(list, "."), ".fsmtx")
			if rest == "session.json" {
				return nil
			}
			data, _ := os.ReadFile(path)
			sum := sha256.Sum256(append([]byte(rest), data...))
			all[filepath.Join(root, list)] += fmt.Sprintf("%x", sum[:4])
			return nil
		})
	}
	return all
}
