package shell

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDashFailsOnBashisms runs a line with each construct in dash: it must fail, or print
// something else than bash.
func TestDashFailsOnBashisms(t *testing.T) {
	dash, err := exec.LookPath("dash")
	if err != nil {
		t.Skip("skipped: dash is not installed")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("skipped: bash is not installed")
	}
	for line, want := range map[string]string{
		`[[ -n a ]]; echo $?`:                  "[[ ]]",
		`((1)); echo $?`:                       "(( ))",
		`let x=1; echo $x`:                     "let",
		`declare x=1; echo $x`:                 "declare",
		`typeset x=1; echo $x`:                 "typeset",
		`f() { :; }; export -f f; echo ok`:     "export -f",
		`x=(a b); echo ok`:                     "an array",
		`echo ${x[0]} ok`:                      "an array",
		`x=a; x+=b; echo $x`:                   "+=",
		`cat <(echo a)`:                        "<( )",
		`echo $'a\tb'`:                         "$' '",
		`echo $"a"`:                            `$" "`,
		`x=abc; echo ${x/a/b}`:                 "${x/a/b}",
		`x=abc; echo ${x//a/b}`:                "${x/a/b}",
		`x=abc; echo ${x:0:1}`:                 "${x:0:1}",
		`x=y; y=z; echo ${!x}`:                 "${!x}",
		`x=a; echo ${x^^}`:                     "${x^^}",
		`x=A; echo ${x,,}`:                     "${x,,}",
		`function f { echo a; }; f`:            "function",
		`echo a |& cat`:                        "|&",
		`for ((i=0;i<1;i++)); do echo a; done`: "for (( ))",
		`case a in a) echo a;;& b) ;; esac`:    ";;&",
		`false &> out; echo $?`:                "&>",
		`false &>> out; echo $?`:               "&>>",
		`cat <<< a`:                            "<<<",
		`echo a >& out; cat out`:               ">& file",
		`source ./file; echo ok`:               "source",
		`shopt -s nullglob; echo $?`:           "shopt",
		`x 2>/dev/null; shopt -s a; echo $?`:   "shopt",
		`pushd . >/dev/null; echo $?`:          "pushd",
		`mapfile x </dev/null; echo $?`:        "mapfile",
		`[ a == a ]; echo $?`:                  "== in [",
		`test a == a; echo $?`:                 "== in test",
		`echo -e 'a\tb'`:                       "echo -e",
		`echo a | { read -n 1 x; echo $?; }`:   "read -n",
		`echo a | { read -rd '' x; echo $?; }`: "read -d",
		`printf -v x a; echo $x`:               "printf -v",
		`set -euo pipefail; echo ok`:           "pipefail",
		`trap : ERR; echo $?`:                  "trap … ERR",
	} {
		require.Equal(t, []string{want}, Bashisms(line), line)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(dir+"/file", []byte("echo sourced\n"), 0o644))
		run := func(program string) string {
			c := exec.Command(program, "-c", line)
			c.Dir = dir
			out, _ := c.Output()
			return string(out)
		}
		require.NotEmpty(t, run(bash), line)
		if got := run(dash); got == run(bash) && want != "pipefail" { // newer versions of dash have it
			t.Errorf("%s: dash prints what bash prints: %q", line, got)
		}
	}
}

// TestPlainLinesHaveNoBashisms: dash runs these.
func TestPlainLinesHaveNoBashisms(t *testing.T) {
	for _, line := range []string{
		`[ a = b ] && echo "[[ x ]]"`, `echo '[[ a ]]' "$(cat <<E` + "\n[[ a ]]\nE\n" + `)"`, `bash -c '[[ a == b ]] && x=(1)'`,
		`x=$(jq -r '.a == "b"')`,
		`echo a >&2 2>&1`, `exec 3>&-`, `export A=1`, `local x=1`, `readonly y`, `echo ${x:-a} ${x#a} ${x%%b} ${#x}`, `read -r x`, `set -eu`,
		`trap : EXIT`,
		`case $x in a|b) ;; *) exit 2;; esac`, `f() { echo a; }`, `for i in 1 2; do echo $i; done`, `echo $((1+2))`, `printf '%s\n' a`,
		`echo -n a`, `(((`,
		`trap 'exit 0' 0; shopt -s execfail 2>/dev/null; exec x`,
	} {
		require.Empty(t, Bashisms(line), line)
	}
}
