package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCall(t *testing.T) {
	for line, want := range map[string][]string{
		`fsmtx hydrate`:                  {"fsmtx", "hydrate"},
		`"/a b/fsmtx" hydrate --x='1 2'`: {"/a b/fsmtx", "hydrate", "--x=1 2"},
		`./a\ b.sh`:                      {"./a b.sh"},
		`"$HOME/bin/fsmtx" hydrate`:      {"$HOME/bin/fsmtx", "hydrate"},
		`${HOME}/bin/fsmtx hydrate`:      {"$HOME/bin/fsmtx", "hydrate"},
		`~/bin/fsmtx hydrate`:            {"$HOME/bin/fsmtx", "hydrate"},
		"a 'b\nc'":                       {"a", "b\nc"},
		"a b 2>&1":                       {"a", "b"},
		"a b >&2 # c\n# d":               {"a", "b"},
	} {
		words, ok := Call(line)
		require.True(t, ok, line)
		require.Equal(t, want, words, line)
	}
	for _, line := range []string{
		``, `# comment`, `a 2>&1 >f`, `a 2>&3`, `a >&f`, `a <&1`, `a; b`,
		`a;`, `a | b`, `a && b`, `a > f`, `a &`, `! a`, `A=1 a`, `a $B`, `a "$B"`, `a *.go`, `a {b,c}`,
		`a ~`, `(a)`, `$(a)`, "`a`", `a "unclosed`, "a\nb", `a $'b'`, `if a; then b; fi`, strings.Repeat("a", maxLine+1),
	} {
		words, ok := Call(line)
		require.False(t, ok, "%s: %q", line, words)
	}
}

func TestFirstCommand(t *testing.T) {
	for line, want := range map[string]string{
		`A=1 env -u FOO ./ok.sh | b`: "env -u FOO ./ok.sh",
		`./a\ b.sh && c`:             "./a b.sh",
		"# comment\n./a.sh":          "./a.sh",
		"cat <<E\n./x.sh\nE":         "cat",
		`! a b; c`:                   "a b",
		`A=1; b`:                     "",
		`if a; then b; fi`:           "",
		`(a)`:                        "",
		`f() { a; }; f`:              "",
		`# comment`:                  "",
		``:                           "",
	} {
		s, err := Parse(line)
		require.NoError(t, err, line)
		var texts []string
		for _, w := range s.FirstCommand() {
			text, known := w.Literal()
			require.True(t, known, line)
			texts = append(texts, text)
		}
		require.Equal(t, want, strings.Join(texts, " "), line)
	}
	require.Empty(t, Script{}.FirstCommand())
}

func TestSyntaxErrorsHaveAPosition(t *testing.T) {
	_, err := Parse("a\né )")
	require.ErrorIs(t, err, errSyntax)
	require.ErrorContains(t, err, "shell syntax error at 2:3: ")
	_, err = Parse(strings.Repeat("(", maxLine+1))
	require.ErrorIs(t, err, errSyntax)
}

// one returns a lookup that knows one variable.
func one(name, value string) func(string) (string, bool) {
	return func(n string) (string, bool) { return value, n == name }
}

func TestExpand(t *testing.T) {
	for line, want := range map[string]string{
		`$DIR/h`:                             `'/a b'/h`,
		`${DIR}/h`:                           `'/a b'/h`,
		`"$DIR/h"`:                           `"$DIR/h"`,
		`'$DIR/h'`:                           `'/a b/h'`,
		`'${DIR}$DIR$D'`:                     `'/a b/a b$D'`,
		`\$DIR`:                              `\$DIR`,
		`$DIRECTORY`:                         `$DIRECTORY`,
		`${DIR:-x}`:                          `${DIR:-x}`,
		`${X:-$DIR}`:                         `${X:-'/a b'}`,
		`"${X:-$DIR}"`:                       `"${X:-$DIR}"`,
		`"$(cat $DIR/h)"`:                    `"$(cat '/a b'/h)"`,
		`"$(cat "$DIR/h")" $DIR`:             `"$(cat "$DIR/h")" '/a b'`,
		"`cat $DIR`":                         "`cat '/a b'`",
		"true # don't\n$DIR":                 "true # don't\n'/a b'",
		"true # $DIR":                        "true # $DIR",
		`a#'b' $DIR`:                         `a#'b' '/a b'`,
		"cat <<E\n$DIR\nE":                   "cat <<E\n$DIR\nE",
		"cat <<'E'; x $DIR\n$DIR\nE\ny $DIR": "cat <<'E'; x '/a b'\n$DIR\nE\ny '/a b'",
		`cat <<<$DIR`:                        `cat <<<'/a b'`,
		`echo "it's" $DIR`:                   `echo "it's" '/a b'`,
		`(cd $DIR); echo ")" $D`:             `(cd '/a b'); echo ")" $D`,
		`echo $(($DIR + 1))`:                 `echo $(($DIR + 1))`,
		`case $DIR in a) x;; esac`:           `case '/a b' in a) x;; esac`,
		`$'$DIR'`:                            `$'$DIR'`,
		`echo $`:                             `echo $`,
		`echo \`:                             `echo \`,
		`$DIR ( "`:                           `$DIR ( "`,
	} {
		require.Equal(t, want, Expand(line, one("DIR", "/a b")), line)
	}
}

// TestExpandedValueIsOneWord: for any value, the shell gets the value and executes no part
// of it.
func TestExpandedValueIsOneWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOfN(rapid.SampledFrom([]rune("a '\"$`;&|(){}#\\*\n\t~!=é")), 0, 12, -1).Draw(t, "value")
		line := Expand("printf '%s|' $V '$V' \"$V\" ${V} \"$(printf %s $V)\" \"`printf %s $V`\" \"`printf %s '$V'`\" x$V", one("V", value))
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Env = []string{"V=" + value}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %v\n%s", line, err, out)
		substituted := strings.TrimRight(value, "\n") // command substitution removes them
		want := strings.Join([]string{value, value, value, value, substituted, substituted, substituted, "x" + value}, "|") + "|"
		require.Equal(t, want, string(out), "%s\nwant %q\ngot  %q", line, want, out)
	})
}

// TestCallAgreesWithTheShell compares a literal word with the argument that sh passes.
func TestCallAgreesWithTheShell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("ab/'\"\\ .=#")), 1, 10, -1).Draw(t, "word")
		words, ok := Call("printf %s x" + word)
		if !ok || len(words) != 3 {
			t.Skip("not one word")
		}
		out, err := exec.Command("/bin/sh", "-c", "printf %s x"+word).CombinedOutput()
		require.NoError(t, err, "%q: %v", word, err)
		require.Equal(t, words[2], string(out), "%q: sh %q, Call %q", word, out, words[2])
	})
}

// FuzzExpand checks that a line without known variables is unchanged, and that no line
// makes the parser panic.
func FuzzExpand(f *testing.F) {
	for _, line := range []string{`a "$B" '$C' $(d "` + "`e`" + `") <<F; g $((h + ${i[j]}))` + "\nF\n", `case $a in b) ;; esac`,
		`[[ $a =~ $b ]]`, "\xff", `'$V`, "$V\x00"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		require.Equal(t, line, Expand(line, none))
		Expand(line, func(string) (string, bool) { return "'\"`$\\\n", true })
		if s, err := Parse(line); err == nil {
			for _, w := range s.FirstCommand() {
				w.Literal()
			}
		}
		Call(line)
		if r, err := Look(line); err == nil && len(r.Commands) > 0 && r.Commands[0][0] != "" {
			r.MayRun(r.Commands[0])
		}
	})
}

// TestProgram: what a line runs first, if that is a program of PATH.
func TestProgram(t *testing.T) {
	for line, want := range map[string]string{"npm test": "npm", "cd web && CI=1 npm test": "npm", "! grep -q x y": "grep",
		"time pytest -q | tail":            "pytest",
		"set -e; export A=1; go vet ./...": "go", "(make)": "make", "if git diff --quiet; then exit 1; fi": "git",
		"./gradlew test": "", "$HOME/bin/x": "", "test -f x && npm test": "", ". venv/bin/activate && pytest": "", "command -v npm || npm i": "",
		"source ~/.nvm/nvm.sh; npm test": "", "": "", "true": "", "eval x": "", `"$X" y`: ""} {
		s, err := Parse(line)
		require.NoError(t, err)
		require.Equal(t, want, s.Program(), line)
	}
}
