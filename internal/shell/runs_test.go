package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRuns: the commands that run something, as "a b|c d".
func TestRuns(t *testing.T) {
	for line, want := range map[string]string{
		``:                                    "",
		`git push`:                            "git push",
		`echo git push | sh`:                  "echo git push|sh|git push",
		`printf 'git %s\n' push | tee | bash`: "printf git %s\\n push|tee|bash|git push",
		`printf '%s %s;' a b c d | sh`:        "printf %s %s; a b c d|sh|a b|c d",
		`{ echo cd a; echo git push; } | sh`:  "echo cd a|echo git push|sh|cd a|git push",
		`(true && echo git push) | { sudo bash; }`:        "true|echo git push|sudo bash|bash|git push",
		`(echo git push) | cat`:                           "echo git push|cat",
		`(true || echo git push) | sh`:                    "true|echo git push|sh|git push",
		`echo -x git push | sh`:                           "echo -x git push|sh|-x git push",
		`sh -c '$3' _ a b 'git push'`:                     "sh -c $3 _ a b git push|git push",
		`bash >(echo git push)`:                           "bash ?|echo git push",
		`bash < <(echo git push)`:                         "bash|git push|echo git push",
		`bash <(echo git push)`:                           "bash /dev/stdin|git push|echo git push",
		`. <(printf 'git push')`:                          ". /dev/stdin|git push|printf git push",
		`cat <(echo git push)`:                            "cat ?|echo git push",
		`bash /dev/fd/0 <<< 'git push'`:                   "bash /dev/fd/0|git push",
		`$(echo git push) a`:                              "git push a|echo git push",
		`git "$(echo pu)sh"`:                              "git push|echo pu",
		`eval "$(echo git push)"`:                         "eval git push|git push|echo git push",
		`echo "$(a; echo git push)"`:                      "echo ?|a|echo git push",
		`$'\147it' $'pu\x73h'`:                            "git push",
		`git commit -m $'don\'t'`:                         "git commit -m don't",
		`eval -- git push`:                                "eval -- git push|git push",
		`trap -- 'git push' EXIT`:                         "trap -- git push EXIT|git push",
		`time -p -- git push`:                             "git push",
		`sh -c '"$@"' _ git push`:                         `sh -c "$@" _ git push|git push`,
		`sh -c 'git "$0" $1' push 'a; b'`:                 `sh -c git "$0" $1 push a; b|git push a; b`,
		`echo push | xargs -n1 git`:                       "echo push|xargs -n1 git|git push",
		`env -a x git push`:                               "env -a x git push|git push",
		`printf 'cd a\ngit push' | sudo bash -s`:          "printf cd a\\ngit push|sudo bash -s|bash -s|cd a|git push",
		"cat <<E | sh\ngit push\nE":                       "cat|sh|git push",
		"bash /dev/stdin <<E\ngit push\nE":                "bash /dev/stdin|git push",
		"source /dev/stdin <<'E'\ngit push\nE":            "source /dev/stdin|git push",
		`echo git push | cat`:                             "echo git push|cat",
		`su - a --command='git push'`:                     "su - a --command=git push|git push",
		`runuser -u a -- git push`:                        "runuser -u a -- git push|git push",
		`script -qc 'git push' /dev/null`:                 "script -qc git push /dev/null|git push",
		`unshare -r git push && systemd-run --wait git x`: "unshare -r git push|git push|systemd-run --wait git x|git x",
		`! git push`:                                      "git push",
		`A=1 B=2 git push`:                                "git push",
		`g'i't "pu"sh`:                                    "git push",
		`\git push`:                                       "git push",
		`$'git' push`:                                     "git push",
		`a && git push || b; c & d | e`:                   "a|git push|b|c|d|e",
		`if a; then b; elif c; then d; else e; fi`:        "a|b|c|d|e",
		`for i in 1 2; do git push; done`:                 "git push",
		`for ((i=0;i<2;i++)); do git push; done`:          "git push",
		`while read x; do git push; done < f`:             "read x|git push",
		`case $x in a) git push;; esac`:                   "git push",
		`{ git push; }`:                                   "git push",
		`(cd a; git push)`:                                "cd a|git push",
		`p() { git push; }; p`:                            "git push|p",
		`function p { git push; }`:                        "git push",
		`echo $(git push)`:                                "echo ?|git push",
		"echo `git push`":                                 "echo ?|git push",
		`x=$(git push)`:                                   "git push",
		`export X=$(git push)`:                            "git push",
		`diff <(git push) b`:                              "diff ? b|git push",
		`echo "a $(git push)"`:                            "echo a ?|git push",
		`[[ -n $(git push) ]]`:                            "git push",
		`echo 'git push'; echo "git push"`:                "echo git push|echo git push",
		`echo a # git push`:                               "echo a",
		"cat <<E\ngit push\nE":                            "cat",
		"cat <<E\n$(git push)\nE":                         "cat|git push",
		"cat <<'E'\n$(git push)\nE":                       "cat",
		"bash <<E\ngit push\nE":                           "bash|git push",
		"bash -s a <<'E'\ngit push\nE":                    "bash -s a|git push",
		`echo git push | sh -es - a`:                      "echo git push|sh -es - a|git push",
		`f() { shift; "$@"; }; f 'git push' ls`:           "shift|?|f git push ls|shift|shift|ls",
		`"/my programs/git" push`:                         "/my programs/git push",
		`bash <<< a <<< 'git push'`:                       "bash|git push",
		`bash <<< "git push"`:                             "bash|git push",
		"bash f <<E\ngit push\nE":                         "bash f",
		`sh -c 'git push'`:                                "sh -c git push|git push",
		`bash -lc "cd a && git push"`:                     "bash -lc cd a && git push|cd a|git push",
		`/bin/bash -e -o pipefail -c 'git push' x`:        "/bin/bash -e -o pipefail -c git push x|git push",
		`bash -euo pipefail -c 'git push'`:                "bash -euo pipefail -c git push|git push",
		`sh -c "sh -c 'git push'"`:                        "sh -c sh -c 'git push'|sh -c git push|git push",
		`sh script.sh 'git push'`:                         "sh script.sh git push",
		`eval git push`:                                   "eval git push|git push",
		`eval "git push"`:                                 "eval git push|git push",
		`env git push`:                                    "env git push|git push",
		`env -i -u A B=1 git push`:                        "env -i -u A B=1 git push|git push",
		`env -S "git push"`:                               "env -S git push|git push",
		`env --split-string="git push"`:                   "env --split-string=git push|git push",
		`env -S'git push'`:                                "env -Sgit push|git push",
		`env -iS 'A=1 git push' "a b"`:                    "env -iS A=1 git push a b|git push a b",
		`env -S git push`:                                 "env -S git push|git push",
		`env -ui -vS git -- push`:                         "env -ui -vS git -- push|git push",
		`env - A=1 git push`:                              "env - A=1 git push|git push",
		`. /dev/stdin <<< 'git push'`:                     ". /dev/stdin|git push",
		`. ./f <<< 'git push'`:                            ". ./f",
		`command -p git push`:                             "command -p git push|git push",
		`command -v git`:                                  "command -v git",
		`exec -a x git push`:                              "exec -a x git push|git push",
		`nice -n 5 git push`:                              "nice -n 5 git push|git push",
		`nice -5 git push`:                                "nice -5 git push|git push",
		`nohup git push &`:                                "nohup git push|git push",
		`timeout 5 git push`:                              "timeout 5 git push|git push",
		`timeout -s KILL --kill-after 3 5s git push`:      "timeout -s KILL --kill-after 3 5s git push|git push",
		`timeout -k3 -- 5 git push`:                       "timeout -k3 -- 5 git push|git push",
		`timeout 5 echo git push`:                         "timeout 5 echo git push|echo git push",
		`time git push`:                                   "git push",
		`time -p git push`:                                "git push",
		`/usr/bin/time -f %e git push`:                    "/usr/bin/time -f %e git push|git push",
		`sudo -u me A=1 -- git push`:                      "sudo -u me A=1 -- git push|git push",
		`sudo -uelvis git push`:                           "sudo -uelvis git push|git push",
		`sudo -l git push`:                                "sudo -l git push",
		`sudo env nice sh -c 'timeout 3 git push'`: "sudo env nice sh -c timeout 3 git push|env nice sh -c timeout 3 git push|nice sh " +
			"-c timeout 3 git push|sh -c timeout 3 git push|timeout 3 git push|git push",
		`echo a | xargs -n 1 -I {} git push {}`: "echo a|xargs -n 1 -I {} git push {}|git push a|git push {}",
		`find . -name x -exec git push \;`:      "find . -name x -exec git push ;|git push",
		`flock /tmp/l git push`:                 "flock /tmp/l git push|git push",
		`flock /tmp/l -c 'git push'`:            "flock /tmp/l -c git push|git push",
		`su me -c 'git push'`:                   "su me -c git push|git push",
		`watch -n 5 git push`:                   "watch -n 5 git push|git push",
		`x=push; git $x`:                        "git ?|git push",
		`x="git push"; sh -c "$x"`:              "sh -c ?|?|sh -c git push|git push",
		`git $x`:                                "git ?",
		`git "$(cat f)"`:                        "git ?|cat f",
		`coproc git push`:                       "git push",
		`trap 'git push' EXIT`:                  "trap git push EXIT|git push",
		`git push >log 2>&1`:                    "git push",
		"git \\\n push":                         "git push",
		`if true; then a; fi; git push`:         "true|a|git push",
		`print ${(f)x}; git push`:               "print ?|git push", // zsh
	} {
		all, err := Runs(line, "/home/me")
		assert.NoError(t, err, line)
		var got []string
		for _, words := range all {
			got = append(got, strings.ReplaceAll(strings.Join(words, " "), Unknown, "?"))
		}
		assert.Equal(t, want, strings.Join(got, "|"), line)
	}
}

// TestRunsWithEachValue: where variables have too many values to look at each with each, each value is looked at.
func TestRunsWithEachValue(t *testing.T) {
	all, err := Runs("for c in a b c push; do for r in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do git $c $r; done; done", "")
	require.NoError(t, err)
	var first, second []string
	for _, words := range all[1:] { // the first one has no values
		first, second = append(first, words[1]), append(second, words[2])
	}
	assert.Subset(t, first, []string{"a", "b", "c", "push"})
	assert.Subset(t, second, []string{"1", "9", "17"})
	assert.Len(t, all, maxWays+1)
}

// TestRunsTellsWhatItCannotParse: and what comes before is found.
func TestRunsTellsWhatItCannotParse(t *testing.T) {
	for _, line := range []string{`git push "`, `(((`, `sh -c 'git push "'`, strings.Repeat("a ", maxLine)} {
		_, err := Runs(line, "")
		require.ErrorIs(t, err, errSyntax, line)
	}
	all, err := Runs(`git push; sh -c '('`, "")
	require.ErrorIs(t, err, errSyntax)
	require.Equal(t, []string{"git", "push"}, all[0])
	deep := "git push"
	for range maxHanded + 1 {
		deep = "sh -c " + Quote(deep)
	}
	_, err = Runs(deep, "")
	require.ErrorIs(t, err, errSyntax)

	// So are lines that give their variables very many values, and pipes that go on for ever.
	many := strings.Repeat("x=a; x=b; y=c; y=d; z=e; z=f; ", 20) + strings.Repeat("git $x $y $z; ", 5000)
	_, err = Runs(many, "")
	require.ErrorIs(t, err, errSyntax)
	_, err = Runs("x='eval $x'; "+strings.Repeat(`x="eval $x; eval $x"; `, 30)+"eval $x", "")
	require.ErrorIs(t, err, errSyntax)

	// Nor is it looked at for ever what is printed many times over, or what is shifted away.
	_, err = Runs("echo git push"+strings.Repeat(" | { cat; cat; cat; }", maxNested)+" | sh", "")
	require.ErrorIs(t, err, errSyntax)
	_, err = Runs(`f() { shift; "$@"; g "$@"; }; g() { shift; f "$@"; }; f `+strings.Repeat("a ", 5000), "")
	require.ErrorIs(t, err, errSyntax)
	_, err = Runs("{ "+strings.Repeat("sh x; ", 1000)+"} <<< "+strings.Repeat("x", 60_000), "")
	require.ErrorIs(t, err, errSyntax)

	// Nobody nests so deep, and the time grows with the cube of the depth.
	line := "git push"
	for range 1000 {
		line = `sh -c "$(echo ` + line + `)"`
	}
	_, err = Runs(line, "")
	require.ErrorIs(t, err, errSyntax)
}
