package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestLook: the commands of a line, as "a b|c d".
func TestLook(t *testing.T) {
	for line, want := range map[string]string{
		``:                               "",
		`git push`:                       "git push",
		`g'i't "pu"sh \a`:                "git push a",
		`A=1 B=2 git push >log 2>&1`:     "git push",
		`a && b || c; d & e | f`:         "a|b|c|d|e|f",
		`if a; then b; else c; fi`:       "a|b|c",
		`f() { a; }; (b; { c; })`:        "a|b|c",
		`echo "$(a b)" <(c)`:             "echo ? ?|a b|c",
		`git $x ${y:-a} "$z"b`:           "git ? a ?b",
		`x=1; git $x`:                    "git ?",
		`ls *.go {a,b} '*' \*`:           "ls ?.go ? * *",
		"cat <<E\n$(a)\nE":               "cat|a",
		`sh -c 'a "b c"' x`:              `sh -c a "b c" x|a b c`,
		"bash <<'E'\na\nE":               "bash|a",
		`eval a "b c"`:                   "eval a b c|a b c",
		`echo a # b`:                     "echo a",
		`print ${(f)x}; git push`:        "print ?|git push", // zsh
		`time -p a; ! b; coproc c`:       "a|b|c",
		`[ -f a ] && [[ -n $(b) ]]`:      "[ -f a ]|b",
		`sudo bash -xc 'a' _; bash a.sh`: "sudo bash -xc a _|a|bash a.sh",
	} {
		r, err := Look(line)
		require.NoError(t, err, line)
		var got []string
		for _, words := range r.Commands {
			got = append(got, strings.ReplaceAll(strings.Join(words, " "), Unknown, "?"))
		}
		assert.Equal(t, want, strings.Join(got, "|"), line)
	}
}

// TestLookTellsWhatItCannotParse: then what the line has may be run, and so may what comes before.
func TestLookTellsWhatItCannotParse(t *testing.T) {
	deep := "git pull"
	for range maxHanded + 1 {
		deep = "sh -c " + Quote(deep)
	}
	nested := func(begin, end string) string {
		return strings.Repeat(begin, maxNested+1) + "git pull" + strings.Repeat(end, maxNested+1)
	}
	for _, line := range []string{nested("( ", ")"), nested("{ ", "; }"), nested("a $(", ")"), nested("a <(", ")"),
		`git pull "`, `(((git pull`, `sh -c 'git pull "'`, "git pull " + strings.Repeat("a ", maxLine), deep,
		strings.Repeat(`sh -c "$(echo `, 4000) + "git pull" + strings.Repeat(`)"`, 4000)} {
		r, err := Look(line)
		require.ErrorIs(t, err, errSyntax)
		require.True(t, r.MayRun([]string{"git", "pull"}), "%.80s", line)
		require.False(t, r.MayRun([]string{"git", "push"}), "%.80s", line)
	}
}

// TestMayRunFindsEveryWrapping: whatever is put around a command, a line with it is the command or may run it.
func TestMayRunFindsEveryWrapping(t *testing.T) {
	wrappings := []func(string) string{
		func(s string) string { return "sh -c " + Quote(s) },
		func(s string) string { return "eval " + Quote(s) },
		func(s string) string { return "bash <<'E'\n" + s + "\nE" },
		func(s string) string { return "f() { " + s + "\n}; f" },
		func(s string) string { return "echo " + Quote(s) + " | sh" },
		func(s string) string { return "x=" + Quote(s) + "; $x" },
		func(s string) string { return "x=$(" + s + "\n)" },
		func(s string) string { return "trap " + Quote(s) + " EXIT" },
		func(s string) string { return "python3 -c " + Quote("import os; os.system("+Quote(s)+")") },
		func(s string) string { return "cd a && (" + s + "\n)" },
		func(s string) string { return "ssh host " + Quote(s) },
		func(s string) string { return "sed " + Quote("1e "+s) + " a" },
		func(s string) string { return "awk " + Quote(`BEGIN { system("`+s+`") }`) },
		func(s string) string { return "cat <<'E' | sudo bash\n" + s + "\nE" },
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"git push", `git "push" origin`, "git -C a push", "env git push", `g\it p''ush`}).Draw(t, "line")
		for range rapid.IntRange(0, 3).Draw(t, "wrappings") {
			line = rapid.SampledFrom(wrappings).Draw(t, "wrapping")(line)
		}
		r, err := Look(line)
		if err != nil {
			return // it is refused for that
		}
		isIt := false
		for _, words := range r.Commands {
			isIt = isIt || strings.HasPrefix(strings.Join(words, " "), "git push")
		}
		assert.True(t, isIt || r.MayRun([]string{"git", "push"}), "%q", line)
		assert.False(t, !r.computed && r.MayRun([]string{"svn", "commit"}), "%q", line)
	})
}

// TestPlainLines: only of a list of plain commands it is certain what Claude Code finds in it.
func TestPlainLines(t *testing.T) {
	for line, want := range map[string]bool{
		`git status && ls -l "a b" | wc -l; make >log 2>&1`: true,
		`echo $x`:                          false,
		`ls *.go`:                          false,
		`>log make`:                        false,
		`make &`:                           false,
		`A=1 make`:                         false,
		`for i in a; do make; done`:        false,
		`[ -f a ]`:                         false,
		`echo {a,b}`:                       false,
		"git status \\\n-s":                false,
		`cat <<< x`:                        false,
		`echo "$(make)"`:                   false,
		`echo ` + strings.Repeat("x", 1e4): false,
	} {
		r, err := Look(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, r.Plain, "%.40s", line)
	}
}
