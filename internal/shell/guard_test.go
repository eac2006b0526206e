package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestGuard(t *testing.T) {
	require.Equal(t, "test ! -x /opt/bin/fsmtx || exec /opt/bin/fsmtx step --stop=hold",
		Guard("/opt/bin/fsmtx", []string{"step", "--stop=hold"}))
	require.Equal(t, "! command -v fsmtx >/dev/null || exec fsmtx 'a b'", Guard("fsmtx", []string{"a b"}))
	require.Equal(t, `test ! -x "$A"/x || exec "$A"/x`, Guard(`"$A"/x`, nil))
	require.Equal(t, "'a=' --b=c", Join("a=", "--b=c"), "the first word is the program, no assignment")
}

// TestGuardedReadsWhatGuardWrites: for any path and arguments, and nothing of them is run.
func TestGuardedReadsWhatGuardWrites(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab '\"$`;&|(){}#\\*\n\t~!=é[]<>")), 1, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom([]string{"", "/x/"}).Draw(t, "dir") + text.Draw(t, "name")
		args := rapid.SliceOfN(text, 0, 3).Draw(t, "args")
		words, ok := Guarded(Guard(Join(path), args))
		require.True(t, ok, Guard(Join(path), args))
		require.Equal(t, append([]string{path}, args...), words)
		for _, line := range []string{GuardWell(Join(path), args), GuardWellReporting(Join(path), args, `it's "not" here`)} {
			words, ok = Guarded(line)
			require.True(t, ok, line)
			require.Equal(t, append([]string{path}, args...), words)
		}
	})
}

// TestGuardedReadsWhatAPersonWrites: a line that does nothing beside the one call, but not one that does anything else.
func TestGuardedReadsWhatAPersonWrites(t *testing.T) {
	for line, want := range map[string][]string{
		"a": {"a"}, "exec a b": {"a", "b"}, "test -x /a || exit 0; exec /a 'b c'": {"/a", "b c"},
		"command -v a >/dev/null && a b || true": {"a", "b"},
		"a b 2>/dev/null # mine":                 {"a", "b"}, `if [ -x "$A"/a ]; then "$A"/a b; fi`: {"$A/a", "b"},
		"": nil, "a; b": nil, "a | b": nil, "true": nil, "A=1 a b": nil, "a $(b)": nil, "a $B*": nil, "test ! -x /a || (": nil,
		"a b; a c": nil, "test -x \"$(b)\" || a": nil,
	} {
		words, ok := Guarded(line)
		require.Equal(t, want != nil, ok, line)
		if ok {
			require.Equal(t, want, words, line)
		}
	}
}

// TestGuardRunsTheProgramIfItExists: whatever the path is called.
func TestGuardRunsTheProgramIfItExists(t *testing.T) {
	for _, name := range []string{"plain", "a b", "$(touch pwned)", "`touch pwned`", "a;touch pwned", "it's", `"quoted"`, "a\nb",
		"~", "#x", "*"} {
		dir := filepath.Join(t.TempDir(), name)
		program := filepath.Join(dir, "program")
		run := func(line string) (string, int) {
			c := exec.Command("/bin/sh", "-c", line)
			c.Dir, c.Env = t.TempDir(), []string{"PATH=" + strings.TrimSuffix(program, "/program"), "ROOT=" + dir}
			c.Stdin = strings.NewReader("$(touch pwned)\ntouch pwned\n")
			out, err := c.CombinedOutput()
			if err != nil {
				require.IsType(t, &exec.ExitError{}, err)
			}
			left, err := os.ReadDir(c.Dir)
			require.NoError(t, err)
			require.Empty(t, left, line)
			return string(out), c.ProcessState.ExitCode()
		}
		lines := []string{Guard(Join(program), []string{"x y"}), Guard("program", []string{"x y"}), Guard(`"$ROOT"/program`, []string{"x y"})}
		for _, line := range lines {
			out, code := run(line)
			require.Empty(t, out, line)
			require.Zero(t, code, line)
		}
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$# $1\"\nexit 2\n"), 0o755))
		for _, line := range lines {
			out, code := run(line)
			require.Equal(t, "1 x y\n", out, line)
			require.Equal(t, 2, code, line)
		}
	}
}

// TestGuardOr: a program for another platform changes nothing, but that a text may be printed, as it is. One that is started answers
// with its own exit code, in each shell that is here.
func TestGuardOr(t *testing.T) {
	const text = `{"a": "it's \n $HOME %s"}`
	program := filepath.Join(t.TempDir(), "program")
	for said, line := range map[string]string{"": GuardOr(Nothing, Join(program), []string{"hook"}),
		text + "\n": GuardReporting(Join(program), []string{"hook"}, text)} {
		words, ok := Guarded(line)
		require.True(t, ok)
		require.Equal(t, []string{program, "hook"}, words)
		for _, as := range [][]string{{"/bin/sh"}, {"dash"}, {"bash"}, {"bash", "--posix"}} {
			if _, err := exec.LookPath(as[0]); err != nil {
				continue
			}
			for content, code := range map[string]int{"gone": 0, "": 0, "#!/bin/sh\nexit 2\n": 2, "\xcf\xfa\xed\xfe\x07\x00\x00\x01": 0} {
				_ = os.Remove(program)
				if content != "gone" {
					require.NoError(t, os.WriteFile(program, []byte(content), 0o755))
				}
				c := exec.Command(as[0], append(as[1:len(as):len(as)], "-c", line)...)
				out, _ := c.Output()
				require.Equal(t, code, c.ProcessState.ExitCode(), "%v: %q", as, content)
				require.Equal(t, map[bool]string{true: said}[code == 0], string(out), "%v: %q", as, content)
			}
		}
	}
}

// TestGuardFallsBack: where the program is missing, not executable or for another platform, the line refuses or tells only in a
// list with a state directory.
func TestGuardFallsBack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "tasks", ".s1.fsmtx"), 0o755))
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	write("bin/nothing", "", 0o755)
	foreign := write("foreign", "\x7fELF\x02\x01\x01\x00"+strings.Repeat("\x00", 60), 0o755)
	for what, program := range map[string]string{"missing": filepath.Join(dir, "gone"), "not executable": write("text", "x", 0o644),
		"foreign": foreign, "empty": write("empty", "", 0o755), "empty on PATH": "nothing"} {
		for _, sh := range []string{"/bin/sh", "bash"} {
			for session, has := range map[string]bool{"s1": true, "s2": false} {
				out, errors, code := inShell(t, sh, GuardOr(Refuse, program, []string{"hook"}), dir, session)
				told, _, toldCode := inShell(t, sh, GuardOr(Tell, program, []string{"hook"}), dir, session)
				name := fmt.Sprint(what, " in ", sh, ", has a workflow: ", has)
				assert.Equal(t, 0, toldCode, name)
				if has {
					assert.Equal(t, 2, code, name)
					assert.Contains(t, errors, "fsmtx cannot be run, so no step is let through", name)
					assert.Contains(t, told, `{"systemMessage": "fsmtx cannot be run, `, name)
				} else {
					assert.Equal(t, 0, code, name)
					assert.Empty(t, out+told, name)
				}
			}
		}
	}
	for _, f := range []Fallback{Nothing, Refuse, Tell} {
		words, ok := Guarded(GuardOr(f, "/opt/fsmtx", []string{"hook", "--x"}))
		assert.True(t, ok, f)
		assert.Equal(t, []string{"/opt/fsmtx", "hook", "--x"}, words)
	}
}

// TestInList: in a session without a workflow the program is not started. Where only the program can tell, it is.
func TestInList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tasks/.s1.fsmtx", "tasks/s2", "elsewhere/list", "elsewhere/.list.fsmtx"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	require.NoError(t, os.Symlink("../elsewhere/list", filepath.Join(dir, "tasks/s3")))
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho started; exit 2\n"), 0o755))
	for _, line := range []string{InList(Guard(program, []string{"hook"})), InList(GuardOr(Nothing, program, []string{"hook"}))} {
		words, ok := Guarded(line)
		require.True(t, ok)
		require.Equal(t, []string{program, "hook"}, words)
		for _, sh := range []string{"/bin/sh", "bash"} {
			for session, starts := range map[string]bool{"s1": true, "s2": false, "s3": true, "s4": false, "": true} {
				for _, variable := range []string{"", "CLAUDE_CODE_TASK_LIST_ID=-n", "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1"} {
					starts := starts || variable != ""
					out, _, code := inShell(t, sh, line, dir, session, variable)
					require.Equal(t, map[bool]int{true: 2}[starts], code, "%s %q %s", sh, session, variable)
					require.Equal(t, map[bool]string{true: "started\n"}[starts], out, "%s %q %s", sh, session, variable)
				}
			}
		}
	}
}

// inShell runs a line in a shell for a session of the client whose configuration is in dir.
func inShell(t *testing.T, sh, line, dir, session string, variables ...string) (out, errors string, code int) {
	t.Helper()
	c := exec.Command(sh, "-c", line)
	c.Env = append([]string{"PATH=" + dir + "/bin:" + os.Getenv("PATH"),
		"HOME=" + dir, "CLAUDE_CONFIG_DIR=" + dir, "CLAUDE_CODE_SESSION_ID=" + session}, variables...)
	var o, e strings.Builder
	c.Stdout, c.Stderr = &o, &e
	_ = c.Run()
	return o.String(), e.String(), c.ProcessState.ExitCode()
}

// TestAWordWithAnApostrophe is one word in PowerShell, too, where Windows is.
func TestAWordWithAnApostrophe(t *testing.T) {
	want := map[string]string{`C:\it's p`: `'C:\it'\''s p'`, `it's $x`: `'it'\''s $x'`, `\\s\it's`: `'\\s\it'\''s'`, `it's\`: `'it'\''s\'`}
	if runtime.GOOS == "windows" {
		want[`C:\it's p`] = `"C:\it's p"`
	}
	for text, quoted := range want {
		assert.Equal(t, quoted, Quote(text))
		script, err := Parse(quoted)
		require.NoError(t, err)
		word, known := script.Calls()[0][0].Text(none)
		assert.True(t, known)
		assert.Equal(t, text, word)
	}
}
