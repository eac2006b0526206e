package gates

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestLines: whether lines of a shell are covered by Bash(git push *) and by Bash(npm publish:*).
func TestLines(t *testing.T) {
	var list []listing
	for _, text := range []string{"Bash(git push *)", "Bash(npm publish:*)"} {
		rule, ok := permission.Parse(text)
		require.True(t, ok)
		list = append(list, listing{&state.RecordedStep{Step: &workflow.Step{ID: 1}, Workflow: &workflow.Workflow{Dir: "/p"}}, text, rule})
	}
	for _, c := range []struct{ answers, line string }{
		{"yn", "git push"},
		{"yn", "git push origin main"},
		{"yn", "git  push   origin"},
		{"yn", "git\tpush"},
		{"nn", "git"},
		{"nn", "gitk push"},
		{"nn", "git pushx"},
		{"nn", "git pull"},
		{"yn", "git -C x push"},
		{"yn", "git -c a=b --git-dir=.git --no-pager push -f"},
		{"yn", "git --git-dir .git --work-tree . push"},
		{"nn", "git -C push status"},
		{"nn", "git --no-pager log push"},
		{"nn", "git commit -m push"},
		{"yn", "/usr/bin/git push"},
		{"yn", "./git push"},
		{"yn", "'git' push"},
		{"yn", `g'i't pu\sh`},
		{"nn", "echo git push"},
		{"nn", `echo "git push"`},
		{"nn", `echo 'x; git push'`},
		{"nn", `echo x \; git push`},
		{"yn", `echo \" ; git push`},
		{"yn", `echo 'don'"'"'t' ; git push`},
		{"nn", "# git push"},
		{"nn", "echo x # git push"},
		{"yn", "echo x # don't\ngit push"},
		{"yn", "true#x; git push"},
		{"yn", "cd x && git push"},
		{"yn", "cd x || git push"},
		{"yn", "cd x;git push"},
		{"yn", "sleep 1 & git push"},
		{"yn", "git push &"},
		{"yn", "yes | git push"},
		{"yn", "git push 2>&1 | tee log"},
		{"yn", ">log git push"},
		{"yn", "! git push"},
		{"yn", "time -p git push"},
		{"yn", "time { git push; }"},
		{"yn", "( (git push) )"},
		{"yn", "{ echo x; }; git push"},
		{"yn", "if true; then echo x; elif git push; then echo y; fi"},
		{"nn", "if true; then echo x; fi"},
		{"yn", "until git push; do sleep 1; done"},
		{"yn", `for i in 1 2; do git push "$i"; done`},
		{"yn", `for i in "$(git push)"; do echo x; done`},
		{"yn", "case $x in *) git push;; esac"},
		{"yn", "[[ -n $(git push) ]] && echo x"},
		{"yn", "p() { git push; }; p"},
		{"yn", "x=`git push`"},
		{"yn", `echo "$(cd a && git push)"`},
		{"yn", "diff <(git push) y"},
		{"yn", "A=1 B=2 git push"},
		{"yn", "GIT_SSH_COMMAND='ssh -i k' git push"},
		{"nn", "cat <<E\ngit push\nE"},
		{"nn", "cat <<'E'\n$(git push)\nE"},
		{"yn", "cat <<E\n$(git push)\nE"},
		{"yn", "bash <<'E'\nset -e\ngit push\nE"},
		{"yn", "bash <<<'git push'"},
		{"yn", "sh -c 'git push'"},
		{"yn", `bash -lc "cd a && git push"`},
		{"yn", `bash -c "sh -c 'git push'"`},
		{"nn", "sh push.sh"},
		{"yn", "env A=1 git push"},
		{"yn", "command git push"},
		{"yn", "nice -n 3 git push"},
		{"yn", "nohup git push >f"},
		{"yn", "timeout 60 git push"},
		{"yn", "timeout 60 echo git push"},
		{"yn", "sudo -u me git push"},
		{"yn", "exec git push"},
		{"yn", "eval 'git push'"},
		{"yn", "xargs -n1 git push < remotes"},
		{"yn", `find . -maxdepth 0 -exec git push \;`},
		{"yn", "x=push; git $x origin"},
		{"yn", "git $x"}, // computed
		{"yn", "x=push; git ${x}"},
		{"yn", `cd a && x=push && git "$x"`},
		{"yn", "x=pull; x=push; git $x"},
		{"yn", "if true; then x=push; git $x; fi"},
		{"yn", "(x=push; git $x)"},
		{"yn", "x=pu; x+=sh; git $x"},
		{"yn", "a=push; x=$a; git $x"},
		{"yn", "x=push sh -c 'git $x'"},
		{"yn", "for x in pull push; do git $x; done"},
		{"yy", "for c in 'npm ci' 'git push'; do eval \"$c\"; done"},
		{"yy", "for c in 'git push'; do $c; done"},
		{"yy", `CMD="git push"; $CMD origin`},
		{"yy", `CMD="git push"; eval $CMD`},
		{"nn", `CMD="git push"; echo $CMD`},
		{"nn", "for x in push; do git log $x; done"},
		{"yn", "git ${x:-push}"},
		{"yn", "$SUDO git push"}, // often empty
		{"yn", "git $flags push$x"},
		{"yn", "git $flags log push"},
		{"yn", `g() { git "$@"; }; g push origin`},
		{"yn", `log() { echo "$@"; }; log git push`},
		{"yy", `run() { echo "+ $*"; "$@"; }; run git push`},
		{"yn", "echo push | xargs -I{} git {}"},
		{"yn", "echo push | xargs -IX sh -c 'git X'"},
		{"yy", "printf 'git push\\0' | xargs -0 sh -c"},
		{"yn", "git branch | xargs -I{} echo git push {}"},
		{"yy", "echo git push | cat | sh"},
		{"yy", "echo git push | time sh"},
		{"yy", "echo git push | if true; then sh; fi"},
		{"yy", `printf 'git\x20push' | sh`},
		{"yy", `bash -c $'git push; echo don\'t'`},
		{"yy", "sudo bash <(echo git push)"},
		{"yn", "command . <(echo git push)"},
		{"yn", "su -c'git push' me"},
		{"yn", "runuser -u me git push"},
		{"yn", "watch --interval 5 git push"},
		{"yn", "strace -o f --output f git push"},
		{"yn", "gnice -n 5 git push"},
		{"yy", "echo git push | { cat | sh; }"},
		{"yy", "echo git push | (cat) | cat - | sh"},
		{"yn", "{ sh; } <<< 'git push'"},
		{"yn", "for i in 1; do bash; done <<E\ngit push\nE"},
		{"yy", "x='git push'; bash <<< \"$x\""},
		{"yn", "echo git push | bash -c sh"},
		{"yy", "bash -c 'cat | sh' <<< 'git push'"},
		{"yy", "echo git push | eval sh"},
		{"yy", "f() { cat | sh; }; f <<< 'git push'"},
		{"yy", "echo git push > >(sh)"},
		{"yy", "tee >(sh) <<< 'git push'"},
		{"yn", "sudo -i <<'E'\ngit push\nE"},
		{"yn", "su - me <<< 'git push'"},
		{"nn", "echo git push | { cat | grep push; }"},
		{"yn", "echo git push > >(cat); sh f"},
		{"yy", "{ echo git push; } > f; echo | sh"},
		{"yn", "echo git push | xargs"},
		{"yn", `f() { git "${1}"; }; f push`},
		{"yn", `f() { git ${2:-pull}; }; f a push`},
		{"yn", `f() { : "${1:?}"; git "${@:1}"; }; f push`},
		{"yy", `f() { shift; "$@"; }; f a git push`},
		{"yy", `f() { "$@"; }; f git push; f() { echo "$@"; }`},
		{"yn", `f() { for x; do git $x; done; }; f pull push`},
		{"yn", `f() { sh -c 'git "$1"' _ "$1"; }; f push`},
		{"yy", `f() { echo "git $*" | sh; }; f push`},
		{"yy", `f() { sh -c "$*"; }; f git push`},
		{"yy", `sh -c '${0} ${1}' git push`},
		{"yn", `bash -s push <<< 'git $1'`},
		{"yn", `f() { shift; echo "$@"; }; f a git push`},
		{"nn", `f() { git log "$1"; }; f push`},
		{"yn", "setarch -R git push"},
		{"yn", "setarch i686 -R git push"},
		{"yn", "x86_64 git push"},
		{"yn", "nsenter -t 1 git push"},
		{"yn", "choom -n 0 -- git push"},
		{"yn", "sg group -c 'git push'"},
		{"yn", "sg group 'git push'"},
		{"yn", "env x='git push' sh -c '$x'"},
		{"yn", "A[0]=1 git push"},
		{"yn", "A[0]=1 B=2 git push"},
		{"yn", "A[0]=1 echo git push"},
		{"yn", "linux64 git push"},
		{"yn", "setpriv --reuid 1 git push"},
		{"yn", "alias p='git push'"},
		{"nn", "p"}, // an alias
		{"yn", "python3 -c 'import os; os.system(\"git push\")'"},
		{"yn", "git config alias.p push"},
		{"ny", "npm publish"},
		{"ny", "npm publish --tag next"},
		{"ny", "npm --silent publish"},
		{"ny", "npm --prefix a publish"},
		{"ny", "npm run publish"},
		{"yy", "git push && npm publish"},
		{"yn", `git push "`}, // not closed: no shell runs it, but the client's may be another one
		{"nn", `git pull "`},
		{"yn", "((( git push"},
		{"yn", "git push " + strings.Repeat("a", 200<<10)},
		{"nn", ""},
	} {
		got := [2]byte{'n', 'n'}
		for _, p := range (ToolCall{Tool: "Bash", Line: c.line}).covered(list) {
			for _, l := range p.listed {
				got[map[string]int{list[0].text: 0, list[1].text: 1}[l.text]] = 'y'
			}
		}
		assert.Equal(t, c.answers, string(got[:]), "%.100s", c.line)
	}
}

// TestOptions: whether Bash(rm -rf *) covers a line.
func TestOptions(t *testing.T) {
	rule, ok := permission.Parse("Bash(rm -rf *)")
	require.True(t, ok)
	list := []listing{{&state.RecordedStep{Step: &workflow.Step{}, Workflow: &workflow.Workflow{Dir: "/p"}}, "Bash(rm -rf *)", rule}}
	for line, want := range map[string]bool{
		"rm -rf x": true, "rm -rf -- x": true, "rm -v -rf x": true, "rm -- x": false, "rm -r x": false,
		"rm -- -rf x": true, // a file, but that is not looked into
	} {
		assert.Equal(t, want, len(ToolCall{Tool: "Bash", Line: line}.covered(list)) > 0, line)
	}
}

// TestPaths: whether a file is covered by a rule. The project is a link to real; in it src is a
// directory, link a link to it, out a link to a directory elsewhere, and file a link to src/a.go.
func TestPaths(t *testing.T) {
	root := t.TempDir()
	project := filepath.Join(root, "project")
	for _, dir := range []string{"real/src/sub", "real/docs", "elsewhere"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for link, to := range map[string]string{"project": "real", "real/link": "src", "real/out": "../elsewhere", "real/file": "src/a.go",
		"elsewhere/in": "../real/src", "real/dangling": "src/new.go"} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, link)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "real/src/a.go"), nil, 0o644))
	t.Setenv("HOME", root)
	for _, c := range []struct {
		rule, tool, path string
		want             bool
	}{
		{"Write(src/**)", "Write", project + "/src/a.go", true},
		{"Write(src/**)", "Write", project + "/src/sub/new.go", true},
		{"Write(src/**)", "Write", "src/a.go", true},
		{"Write(src/**)", "Write", root + "/real/src/a.go", true},
		{"Write(src/**)", "Write", project + "/docs/../src/a.go", true},
		{"Write(src/**)", "Write", project + "/src/../docs/a.md", false},
		{"Write(src/**)", "Write", project + "/link/a.go", true},
		{"Write(src/**)", "Write", project + "/out/in/a.go", true},
		{"Write(src/**)", "Write", project + "/file", true},
		{"Write(src/**)", "Write", project + "/dangling", true},
		{"Write(src/**)", "Write", project + "/SRC/A.GO", true},
		{"Write(src/**)", "Write", project + "/srcs/a.go", false},
		{"Write(src/**)", "Write", root + "/elsewhere/src/a.go", false},
		{"Write(src/**)", "Edit", project + "/src/a.go", false},
		{"Write(src/**)", "Read", project + "/src/a.go", false},
		{"Write(link/**)", "Write", project + "/src/a.go", true},
		{"Write(file)", "Write", project + "/src/a.go", true},
		{"Write(out/**)", "Write", root + "/elsewhere/x", true},
		{"Write(/src/*.go)", "Write", project + "/src/a.go", true},
		{"Write(/src/*.go)", "Write", project + "/src/sub/a.go", false},
		{"Write(./src)", "Write", project + "/src/sub/a.go", true},
		{"Write(*.go)", "Write", project + "/src/sub/a.go", true},
		{"Write(*.go)", "Write", root + "/elsewhere/a.go", false},
		{"Write(~/elsewhere/**)", "Write", project + "/out/x", true},
		{"Write(//etc/*)", "Write", "/etc/hosts", true},
		{"Write(//etc/*)", "Write", "/tmp/../etc/hosts", true},
		{"Write", "Write", "/anything", true},
		{"Edit(src/**)", "Write", project + "/src/a.go", true},
		{"Edit(src/**)", "Edit", project + "/src/a.go", true},
		{"Edit(src/**)", "MultiEdit", project + "/src/a.go", true},
		{"Edit(src/**)", "NotebookEdit", project + "/src/a.ipynb", true},
		{"Edit(src/**)", "Read", project + "/src/a.go", false},
		{"NotebookEdit(*.ipynb)", "NotebookEdit", project + "/a.ipynb", true},
		{"NotebookEdit(*.ipynb)", "Write", project + "/a.ipynb", false},
		{"Read(docs/**)", "Read", project + "/docs/a", true},
		{"Bash(src/**)", "Write", project + "/src/a.go", false},
		{"mcp__github__*", "mcp__github__create_pr", "", true},
		{"mcp__github__*", "mcp__gitlab__create_pr", "", false},
		{"WebFetch", "WebFetch", "", true},
		{"Bash", "Monitor", "", false}, // no command
	} {
		rule, ok := permission.Parse(c.rule)
		require.True(t, ok)
		list := []listing{{&state.RecordedStep{Step: &workflow.Step{}, Workflow: &workflow.Workflow{Dir: project}}, c.rule, rule}}
		x := ToolCall{Tool: c.tool, Path: c.path, Cwd: project}
		assert.Equal(t, c.want, len(x.covered(list)) > 0, "%s %s %s", c.rule, c.tool, c.path)
	}
}

func push(use string) ToolCall { return ToolCall{Tool: "Bash", Line: "git push", Use: use} }

// call makes a call that no other one of the same message can let through.
func (l *list) call(x ToolCall) Verdict { return l.Call(context.Background(), x) }

func released(t *testing.T) *list {
	return hydrated(t, workflow.Step{Subject: "Review"}, workflow.Step{Subject: "Open the pull request", BlockedBy: []int64{1},
		Only: []string{"Bash(git push *)"}}, workflow.Step{BlockedBy: []int64{2}})
}

func TestCallsBelongToSteps(t *testing.T) {
	l := released(t)
	require.Equal(t, Verdict{}, l.call(ToolCall{Tool: "Bash", Line: "git status"}))
	require.NoFileExists(t, filepath.Join(stateDirOf(l.Frame), "steps.jsonl"))
	v := l.call(push(""))
	require.Equal(t, state.Deny, v.Decision)
	require.Equal(t, `git push belongs to #2 "Open the pull request", which waits for #1 "Review". Ready: #1 "Review".`+"\n"+
		`A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' `+
		`--because "..." --session s1`, v.Reason)
	l.allows(1, workflow.Completed)
	l.set(1, workflow.Completed)
	require.Contains(t, l.call(push("")).Reason, "which is not in progress: start it first. Ready: #2")
	require.Contains(t, l.call(push("")).Reason, "for the 3rd time: stop trying, and ask the person")
	l.allows(2, workflow.InProgress)
	l.set(2, workflow.InProgress)
	require.Equal(t, state.Allow, l.call(push("")).Decision)
	l.allows(2, workflow.Completed)
	l.set(2, workflow.Completed)
	v = l.call(push(""))
	require.Contains(t, v.Reason, `which is done. Ready: #3`)
	require.NotContains(t, v.Reason, "time")
	l.allows(3, workflow.Completed)
	l.set(3, workflow.Completed)
	require.Equal(t, Verdict{}, Verdict{Trouble: l.call(push("")).Trouble}, "the workflow is over")
	s, err := state.Load(context.Background(), l.List.Dir)
	require.NoError(t, err)
	require.Len(t, s.Calls, 5)
	for i, want := range []state.Decision{state.Deny, state.Deny, state.Deny, state.Allow, state.Deny} {
		require.Equal(t, want, s.Calls[i].Verdict)
		require.Equal(t, "Bash(git push *)", s.Calls[i].Rule)
		require.Equal(t, state.ByCall, s.Calls[i].By.How)
	}
}

func TestAPersonLetsOneCallThrough(t *testing.T) {
	l := released(t)
	by := state.By{Who: state.ThePerson, How: state.AtTerminal}
	_, err := l.Permit(context.Background(), "Bash(npm publish *)", "now", by)
	require.ErrorIs(t, err, errNoRule)
	require.ErrorContains(t, err, "They list Bash(git push *)")
	owners, err := l.Permit(context.Background(), "Bash(git push *)", "now", by)
	require.NoError(t, err)
	require.Equal(t, int64(2), owners[0].ID)
	require.Equal(t, Verdict{}, l.call(ToolCall{Tool: "Bash", Line: "git status"}), "uses nothing up")
	v := l.call(ToolCall{Tool: "Bash", Line: "git push; git push -f", Use: "toolu_1"})
	require.Equal(t, state.Allow, v.Decision, "%s", v.Reason)
	require.Equal(t, state.Allow, l.call(push("toolu_1")).Decision, "the same call, by a second registration of the hook")
	require.Equal(t, state.Deny, l.call(push("toolu_2")).Decision, "it is used up")
	require.Equal(t, state.Deny, l.call(push("")).Decision)
	s, err := state.Load(context.Background(), l.List.Dir)
	require.NoError(t, err)
	require.Equal(t, state.Permitted, s.Calls[0].Verdict)
	require.Equal(t, "allow: now", s.Calls[0].Why)
	require.Equal(t, state.ThePerson, s.Calls[0].By.Who)
	require.Equal(t, s.Calls[0].Permit, s.Calls[1].Permit)
	require.Len(t, s.Calls, 4, "the same call is on record once")

	// a narrower rule, for exactly this call
	_, err = l.Permit(context.Background(), "Bash(git push origin main)", "now", by)
	require.NoError(t, err)
	require.Equal(t, state.Deny, l.call(ToolCall{Tool: "Bash", Line: "git push origin other"}).Decision)
	require.Equal(t, state.Allow, l.call(ToolCall{Tool: "Bash", Line: "git push origin main"}).Decision)
	s, err = state.Load(context.Background(), l.List.Dir)
	require.NoError(t, err)
	used := s.Calls[len(s.Calls)-1]
	require.Equal(t, state.Allow, used.Verdict)
	require.Equal(t, "Bash(git push origin main)", used.Rule, "the yes that was used, and not the step's rule")
	require.Equal(t, state.Deny, l.call(ToolCall{Tool: "Bash", Line: "git push origin main"}).Decision)

	l.allows(1, workflow.Completed)
	l.set(1, workflow.Completed)
	l.allows(2, workflow.InProgress)
	l.set(2, workflow.InProgress)
	_, err = l.Permit(context.Background(), "Bash(git push *)", "now", by)
	require.ErrorIs(t, err, errNotRefused)
}

// TestOneMessage: a call waits for the start of its step in the same message.
func TestOneMessage(t *testing.T) {
	l := released(t)
	l.allows(1, workflow.Completed)
	l.set(1, workflow.Completed)
	done := make(chan Verdict)
	go func() { done <- l.call(push("toolu_b")) }()
	l.allows(2, workflow.InProgress)
	l.set(2, workflow.InProgress)
	require.Equal(t, state.Allow, (<-done).Decision)
}

func TestCallsAreFreeAgain(t *testing.T) {
	steps := []workflow.Step{{Subject: "Review", Outcomes: []workflow.Outcome{{Name: "done"}, {Name: "drop", Stop: true}}},
		{BlockedBy: []int64{1}, Only: []string{"Bash(git push *)"}}, {BlockedBy: []int64{2}}}
	free := func(l *list) bool { return l.call(push("")).Decision == "" || l.call(push("")).Decision == state.Allow }
	for name, end := range map[string]func(*list){
		"ended": func(l *list) {
			_, err := l.End(context.Background(), 1, "enough", state.By{Who: state.ThePerson})
			require.NoError(t, err)
		},
		"skipped": func(l *list) {
			_, err := l.GoPast(context.Background(), Past{Step: 2, Because: "by hand", WithBlockers: true}, state.By{Who: state.ThePerson})
			require.NoError(t, err)
		},
		"stopped": func(l *list) {
			_, err := l.GoPast(context.Background(), Past{Step: 1, Done: true, Outcome: "drop", Because: "enough"}, state.By{Who: state.ThePerson})
			require.NoError(t, err)
		},
		"gone from the list": func(l *list) { require.NoError(t, os.Remove(filepath.Join(l.List.Dir, "2.json"))) },
		"undone": func(l *list) {
			for _, id := range []string{"1", "2", "3"} {
				require.NoError(t, os.Remove(filepath.Join(l.List.Dir, id+".json")))
			}
		},
	} {
		l := hydrated(t, steps...)
		require.False(t, free(l), name)
		end(l)
		require.True(t, free(l), name)
	}
	l := hydrated(t, steps...)
	_, err := l.GoPast(context.Background(), Past{Step: 2, Because: "by hand", WithBlockers: true}, state.By{Who: state.ThePerson})
	require.NoError(t, err)
	_, err = l.Reopen(context.Background(), 2, "again", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	require.False(t, free(l), "reopened")
	// a script writes that the step is in progress, before its turn
	l = hydrated(t, steps...)
	l.set(2, workflow.InProgress)
	require.False(t, free(l))
}

// TestTwoOwners: a call is let through if one of the steps that list it is in progress, and a line
// needs a step for each of its commands.
func TestTwoOwners(t *testing.T) {
	l := hydrated(t, workflow.Step{Only: []string{"Bash(git push *)"}}, workflow.Step{Only: []string{"Bash(git *)", "Bash(npm publish)"}})
	require.Contains(t, l.call(push("")).Reason,
		`git push belongs to #1 "Step 1", which is not in progress: start it first; and to #2 "Step 2", which`)
	l.allows(1, workflow.InProgress)
	l.set(1, workflow.InProgress)
	require.Equal(t, state.Allow, l.call(push("")).Decision)
	require.Equal(t, state.Deny, l.call(ToolCall{Tool: "Bash", Line: "git status"}).Decision)
	require.Equal(t, state.Deny, l.call(ToolCall{Tool: "Bash", Line: "git push && npm publish"}).Decision)
	l.allows(2, workflow.InProgress)
	l.set(2, workflow.InProgress)
	require.Equal(t, state.Allow, l.call(ToolCall{Tool: "Bash", Line: "git push && npm publish"}).Decision)
}

// TestOwnCommandsStayPossible: a step that lists every command leaves those of this program, with
// which the agent works on the steps.
func TestOwnCommandsStayPossible(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}, Only: []string{"Bash", "Write"}})
	require.Equal(t, Verdict{}, l.call(ToolCall{Tool: "Bash", Line: "fsmtx start 1 && /opt/bin/fsmtx complete 1"}))
	require.Contains(t, l.call(ToolCall{Tool: "Bash", Line: "fsmtx start 1; ls"}).Reason, "ls belongs to #2")
	require.Contains(t, l.call(ToolCall{Tool: "Monitor", Line: "tail -f x"}).Reason, "tail -f x belongs to #2")
	require.Contains(t, l.call(ToolCall{Tool: "Write", Path: "/x/y"}).Reason, "Write of /x/y belongs to #2")
	require.Contains(t, l.call(ToolCall{Tool: "Bash", Line: "((("}).Reason, "this line runs it (shell syntax error at 1:3: ")
	for _, line := range []string{"ls", "pwd", "date"} {
		require.NotContains(t, l.call(ToolCall{Tool: "Bash", Line: line}).Reason, "time", "it is another call")
	}
}

// TestACallIsToldHowToAllowWhatIsRefused: by a rule of a step that is not done, if another step that lists such calls is.
func TestACallIsToldHowToAllowWhatIsRefused(t *testing.T) {
	l := hydrated(t, workflow.Step{Only: []string{"Bash(git push *)"}}, workflow.Step{Only: []string{"Bash(git *)"}})
	_, err := l.GoPast(t.Context(), Past{Step: 1, Because: "x"}, state.By{})
	require.NoError(t, err)
	v := l.call(ToolCall{Tool: "Bash", Line: "git push x"})
	require.Equal(t, state.Deny, v.Decision)
	assert.Contains(t, v.Reason, "fsmtx step allow 'Bash(git *)'")
	_, err = l.Permit(t.Context(), "Bash(git *)", "x", state.By{})
	assert.NoError(t, err)
}
