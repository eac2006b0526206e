package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFaultsAreThoseOfTheShell: what is told as a fault is one for /bin/sh, and what is not is none.
func TestFaultsAreThoseOfTheShell(t *testing.T) {
	for line, want := range map[string]string{
		"if make test; then":     "shell syntax error at 1:",
		"echo 'a":                "shell syntax error at 1:6",
		"echo \"a":               "shell syntax error at 1:6",
		"make test &&":           "shell syntax error",
		"make test )":            "shell syntax error",
		"for f in *; do echo $f": "shell syntax error",
		"diff <(a) <(b)":         "it is for bash, and /bin/sh runs it (at 1:6: ",
		"a=(1 2)":                "it is for bash, and /bin/sh runs it",
		"echo $(":                "shell syntax error",
		"make test":              "", "a | b && ! c || { d; }; e &": "", "if a; then b; fi": "", "case x in a) b;; esac": "",
		"test -z \"$(git status -s)\"": "",
		"cat <<E\na\nE":                "", "f() { a; }; f": "", "while read x; do echo $x; done <f": "", "( cd a && b )": "",
		"[ -f a ] && echo \"${A:-b}\" >&2": "", "echo $((1 + 2))": "", "A=1 b": "", "# comment": "", "export A=1; b": "", "echo {a,b}": "",
	} {
		got := Fault(line)
		assert.True(t, strings.HasPrefix(got, want), "%s: %s", line, got)
		assert.Equal(t, want == "", got == "", line)
		if !strings.HasPrefix(want, "it is for") { // where /bin/sh is bash it may take that
			assert.Equal(t, want == "", exec.Command("/bin/sh", "-n", "-c", line).Run() == nil, "/bin/sh: %s", line)
		}
	}
}

// TestFaultsOfBash: what a POSIX shell can parse and does not know is told where /bin/sh does not know it.
func TestFaultsOfBash(t *testing.T) {
	for line, word := range map[string]string{
		"if [[ ! -f dist/x ]]; then echo missing; exit 1; fi": "[[", "[[ -f x ]]": "[[", "source ./x": "source", "declare -i a": "declare",
		"if [ a == b ]; then exit 1; fi": "== in [", "test \"$a\" == b": "== in test", "set -euo pipefail; a | tee b": "set -o pipefail",
		"shopt -s globstar; ls **": "shopt", "[ a = b ]": "", "test a = b": "", ". ./x": "", "[ \"a==b\" ]": "", "echo [[ == source": "",
		"source() { . \"$1\"; }; source ./x": "", "if (set -o pipefail) 2>&-; then set -o pipefail; fi; a | tee b": "", "set -eu; a": "",
		"((a > 1))": "((…))", "for i in {1..3}; do a; done": "{1..3}", "echo '{1..3}' \"((\"": "", "( (a); b )": "", "echo $((1))": "",
		"[[ a && b ]]": "[[", "awk '$1 == 2' f": "", "bash -c 'source x; [[ a ]]'": "",
	} {
		probe, want := "command -v '"+word+"'", ""
		switch {
		case strings.HasPrefix(word, "=="):
			probe = "[ a == a ]"
		case strings.HasPrefix(word, "set"):
			probe = word
		case strings.HasPrefix(word, "(("):
			probe = "((1))"
		case strings.HasPrefix(word, "{"):
			probe = "set -- {1..2}; [ $# = 2 ]"
		}
		if word != "" && exec.Command("/bin/sh", "-c", probe).Run() != nil {
			want = "which does not know " + word + ": write "
		}
		got := Fault(line)
		assert.Contains(t, got, want, line)
		assert.Equal(t, want == "", got == "", "%s: %s", line, got)
	}
}

// TestHidesInPowerShell: a cmdlet that prints what it has found ends well, whatever that is.
func TestHidesInPowerShell(t *testing.T) {
	for _, line := range []string{"Test-Path dist", "Select-String -Quiet 1.0.0 CHANGELOG.md", "(select-string x f)"} {
		assert.Contains(t, HidesInPowerShell(line), "if (-not (...)) { exit 1 }", line)
	}
	for _, line := range []string{"if (-not (Test-Path dist)) { exit 1 }", "npm test", "Test-Path dist; exit 1 - [int](Test-Path dist)"} {
		assert.Empty(t, HidesInPowerShell(line), line)
	}
}

func TestHides(t *testing.T) {
	for line, want := range map[string]string{
		"pytest | tee log":             "its status is that of tee, the last command of the pipe",
		"make test 2>&1 | tail -20":    "its status is that of tail",
		"cd a && pytest | cat":         "its status is that of cat",
		"make test || true":            "behind || true its status is always 0: leave that out",
		"make test || :":               "behind || : its",
		"make test || exit 0":          "behind || exit 0 its",
		"make test || echo failed":     "behind || echo failed its",
		"make test; exit 0":            "it ends with exit 0, so that its status is always 0",
		"make test\ntrue":              "it ends with true",
		"make test; echo done":         "it ends with echo done",
		"make test &":                  "it ends with &",
		"pytest | tee log; exit $?":    "its status is that of tee",
		"pytest > log; tail log":       "it ends with tail log, whose status is all that counts",
		"make test >log || tail log":   "behind || tail log its status is that of tail",
		"make test || exit 1; echo ok": "", "if ! make test; then exit 1; fi; echo ok": "", "a\n[ $? -eq 0 ] || exit 1\necho ok": "",
		"pytest; exit $?": "", "tail log": "",
		"make test": "", "pytest | grep -q passed": "", "true": "", "exit 0": "", "echo a": "", "a || b": "", "a && true": "",
		"set -e; pytest | tee log":          "its status is that of tee",
		"(make test; true)":                 "it ends with true",
		"{ make test; echo \"a b\"; }":      "it ends with echo \"a b\", so",
		"(pytest || true)":                  "behind || true its",
		"npm test || (exit 0)":              "behind || (exit 0) its",
		"bash -c 'pytest | tee log'":        "its status is that of tee",
		"bash -ec 'pytest | tee log'":       "its status is that of tee",
		"cd a && sh -c 'make; true'":        "it ends with true",
		"if make test; then exit 0; fi":     "an if without else whose commands end with exit 0 has always",
		"bash -o pipefail -c 'a | tee log'": "", "bash -ec 'a; true'": "", "bash -c \"$X\"": "", "bash x.sh -c": "", "if a; then b; fi": "",
		"if a; then true; else exit 1; fi": "", "(cd a && b)": "", "set -eu; pytest; true": "", "A=1": "", "! (a; true)": "it ends with true",
		"set -e; make test; echo done": "", "set -o pipefail; pytest | tee log": "", "a || { echo no; exit 1; }": "", "(a || true) && b": "",
		"if a; then": "", "": "", "a || exit 1": "",
	} {
		got := Hides(line)
		assert.True(t, strings.HasPrefix(got, want), "%s: %s", line, got)
		assert.Equal(t, want == "", got == "", line)
	}
}

// TestEchoOptions: /bin/sh may write them.
func TestEchoOptions(t *testing.T) {
	isBash := exec.Command("/bin/sh", "-c", `[ "$(echo -e a)" = a ]`).Run() == nil
	for line, want := range map[string]bool{"echo -e 'a\\n' | grep a": true, "echo -n a; b": false, "printf -e; b": false} {
		assert.Equal(t, want && !isBash, strings.HasPrefix(Hides(line), "echo -e is for bash, and /bin/sh writes -e, too"), line)
	}
	if exec.Command("/bin/sh", "-c", "set -o pipefail").Run() == nil {
		return
	}
	assert.Contains(t, Fault("set -euo pipefail; a"), "write set -eu, or")
	assert.Contains(t, Fault("set -euo pipefail; a | b"), "write set -eu, and the output of the first command of a pipe to a file, or")
	assert.Contains(t, Fault("set -o pipefail; a"), "write it without that, for there is no pipe, or")
}

// TestFaultsOfWhatAnotherShellGets: bash -c has a script of bash, sh -c one of sh.
func TestFaultsOfWhatAnotherShellGets(t *testing.T) {
	for line, want := range map[string]string{
		"bash -c 'if make; then'":   "in what it gives to bash: shell syntax error at 1:",
		"/bin/sh -ec 'diff <(a) b'": "in what it gives to /bin/sh: shell syntax error at 1:",
		"bash -c 'diff <(a) b'":     "", "bash -c \"$X\"": "", "bash x -c 'if'": "", "python -c 'if'": "",
	} {
		got := Fault(line)
		assert.True(t, strings.HasPrefix(got, want), "%s: %s", line, got)
		assert.Equal(t, want == "", got == "", "%s: %s", line, got)
	}
}
