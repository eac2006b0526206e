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
		"awk '$1 == 2' f": "", "bash -c 'source x; [[ a ]]'": "",
	} {
		probe, want := "command -v '"+word+"'", ""
		switch {
		case strings.HasPrefix(word, "=="):
			probe = "[ a == a ]"
		case strings.HasPrefix(word, "set"):
			probe = word
		}
		if word != "" && exec.Command("/bin/sh", "-c", probe).Run() != nil {
			want = "which does not know " + word + ": write "
		}
		got := Fault(line)
		assert.Contains(t, got, want, line)
		assert.Equal(t, want == "", got == "", "%s: %s", line, got)
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
		"set -e; make test; echo done": "", "set -o pipefail; pytest | tee log": "", "a || { echo no; exit 1; }": "", "(a || true) && b": "",
		"if a; then": "", "": "", "a || exit 1": "",
	} {
		got := Hides(line)
		assert.True(t, strings.HasPrefix(got, want), "%s: %s", line, got)
		assert.Equal(t, want == "", got == "", line)
	}
}
