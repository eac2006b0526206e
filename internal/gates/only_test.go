package gates

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/state"
)

// TestOptions: whether Bash(rm -rf *) covers a line.
func TestOptions(t *testing.T) {
	list := listings(t, "/p", "Bash(rm -rf *)")
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
		{"Grep(src/**)", "Grep", project + "/src/a.go", false}, // not a tool whose rules are about paths
		{"mcp__github__*", "mcp__github__create_pr", "", true},
		{"mcp__github__*", "mcp__gitlab__create_pr", "", false},
		{"WebFetch", "WebFetch", "", true},
		{"Bash", "Monitor", "", false}, // no command
	} {
		rule, ok := permission.Parse(c.rule)
		require.True(t, ok)
		list := []listing{{recorded(project), c.rule, rule}}
		x := ToolCall{Tool: c.tool, Path: c.path, Cwd: project}
		assert.Equal(t, c.want, len(x.covered(list)) > 0, "%s %s %s", c.rule, c.tool, c.path)
	}
}

func push(use string) ToolCall { return ToolCall{Tool: "Bash", Line: "git push", Use: use} }

// call makes a call that no other one of the same message can let through.
func (l *list) call(x ToolCall) Verdict { return l.Call(context.Background(), x) }

func released(t tb) *list {
	return hydrated(t, `{"subject": "Review"}`, `{"subject": "Open the pull request", "blockedBy": [1], "only": ["Bash(git push *)"]}`,
		`{"blockedBy": [2]}`)
}

func TestCallsBelongToSteps(t *testing.T) {
	l := released(t)
	require.Equal(t, Verdict{}, l.call(bash("git status")))
	require.NoFileExists(t, l.stateFile(state.EvidenceFile))
	v := l.call(push(""))
	require.Equal(t, state.Deny, v.Decision)
	require.Equal(t, `git push belongs to #2 "Open the pull request", which waits for #1 "Review". Ready now: #1 "Review".`+"\n"+
		`A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' `+
		`--because "..." --list s1`, v.Reason)
	l.allows(1, completed)
	require.Contains(t, l.call(push("")).Reason, "which is not in progress: start it first. Ready now: #2")
	require.Contains(t, l.call(push("")).Reason, "for the 3rd time: stop trying, and ask the person")
	l.begin(2)
	require.Equal(t, state.Allow, l.call(push("")).Decision)
	l.allows(2, completed)
	v = l.call(push(""))
	require.Contains(t, v.Reason, `which is done. Ready now: #3`)
	require.NotContains(t, v.Reason, "time")
	l.allows(3, completed)
	require.Equal(t, Verdict{}, Verdict{Trouble: l.call(push("")).Trouble}, "the workflow is over")
	calls := l.state().Calls
	require.Len(t, calls, 5)
	for i, want := range []state.Decision{state.Deny, state.Deny, state.Deny, state.Allow, state.Deny} {
		require.Equal(t, []any{want, "Bash(git push *)", state.ByCall}, []any{calls[i].Verdict, calls[i].Rule, calls[i].By.How})
	}
}

func TestAPersonLetsOneCallThrough(t *testing.T) {
	l := released(t)
	by := state.By{Who: state.ThePerson, How: state.AtTerminal}
	_, err := l.Permit(t.Context(), "Bash(npm publish *)", "now", by)
	require.ErrorIs(t, err, errNoRule)
	require.ErrorContains(t, err, "They list Bash(git push *)")
	owners, err := l.Permit(t.Context(), "Bash(git push *)", "now", by)
	require.NoError(t, err)
	require.Equal(t, int64(2), owners[0].ID)
	require.Equal(t, Verdict{}, l.call(bash("git status")), "uses nothing up")
	v := l.call(ToolCall{Tool: "Bash", Line: "git push; git push -f", Use: "toolu_1"})
	require.Equal(t, state.Allow, v.Decision, "%s", v.Reason)
	require.Equal(t, state.Allow, l.call(push("toolu_1")).Decision, "the same call, by a second registration of the hook")
	require.Equal(t, state.Deny, l.call(push("toolu_2")).Decision, "it is used up")
	require.Equal(t, state.Deny, l.call(push("")).Decision)
	calls := l.state().Calls
	require.Equal(t, []any{state.Permitted, "now", state.ThePerson, "s1", calls[1].Permit},
		[]any{calls[0].Verdict, calls[0].Why, calls[0].By.Who, calls[0].By.Session, calls[0].Permit})
	require.Len(t, calls, 4, "the same call is on record once")

	// a narrower rule, for exactly this call; in another session
	by.Session = "theirs"
	_, err = l.Permit(t.Context(), "Bash(git push origin main)", "now", by)
	require.NoError(t, err)
	require.Equal(t, state.Deny, l.call(bash("git push origin other")).Decision)
	require.Equal(t, state.Allow, l.call(bash("git push origin main")).Decision)
	calls = l.state().Calls
	used := calls[len(calls)-1]
	require.Equal(t, []any{state.Allow, "Bash(git push origin main)"}, []any{used.Verdict, used.Rule},
		"the yes that was used, not the step's")
	require.Equal(t, "theirs", calls[len(calls)-3].By.Session)
	require.Equal(t, state.Deny, l.call(bash("git push origin main")).Decision)

	l.allows(1, completed)
	l.begin(2)
	_, err = l.Permit(t.Context(), "Bash(git push *)", "now", by)
	require.ErrorIs(t, err, errNotRefused)
}

// TestOneMessage: a call waits for the start of its step in the same message.
func TestOneMessage(t *testing.T) {
	l := released(t)
	l.allows(1, completed)
	done := make(chan Verdict)
	go func() { done <- l.beside().call(push("toolu_b")) }()
	l.begin(2)
	require.Equal(t, state.Allow, (<-done).Decision)
}

func TestCallsAreFreeAgain(t *testing.T) {
	free := func(l *list) bool { return l.call(push("")).Decision == "" || l.call(push("")).Decision == state.Allow }
	for name, c := range map[string]struct {
		change func(*list)
		free   bool
	}{
		"nothing happens": {func(*list) {}, false},
		"it is ended": {func(l *list) {
			_, err := l.End(t.Context(), 1, "enough", state.By{Who: state.ThePerson})
			require.NoError(t, err)
		}, true},
		"it is skipped":            {func(l *list) { l.past(Past{Step: 2, WithBlockers: true}) }, true},
		"it is skipped and opened": {func(l *list) { l.past(Past{Step: 2, WithBlockers: true}); l.reopen(2) }, false},
		"it is stopped":            {func(l *list) { l.past(Past{Step: 1, Done: true, Outcome: "drop"}) }, true},
		"it is gone from the list": {func(l *list) { l.remove(2) }, true},
		"it is undone":             {func(l *list) { l.remove(1, 2, 3) }, true},
		"a script starts it early": {func(l *list) { l.set(2, inProgress) }, false},
	} {
		l := hydrated(t, `{"subject": "Review", "outcomes": {"done": {}, "drop": {"stop": true}}}`,
			`{"blockedBy": [1], "only": ["Bash(git push *)"]}`, `{"blockedBy": [2]}`)
		c.change(l)
		require.Equal(t, c.free, free(l), name)
	}
}

// TestTwoOwners: a call is let through if one of the steps that list it is in progress, and a line
// needs a step for each of its commands.
func TestTwoOwners(t *testing.T) {
	l := hydrated(t, `{"only": ["Bash(git push *)"]}`, `{"only": ["Bash(git *)", "Bash(npm publish)"]}`)
	require.Contains(t, l.call(push("")).Reason,
		`git push belongs to #1 "Step 1", which is not in progress: start it first; and to #2 "Step 2", which`)
	l.begin(1)
	require.Equal(t, state.Allow, l.call(push("")).Decision)
	require.Equal(t, state.Deny, l.call(bash("git status")).Decision)
	require.Equal(t, state.Deny, l.call(bash("git push && npm publish")).Decision)
	l.begin(2)
	require.Equal(t, state.Allow, l.call(bash("git push && npm publish")).Decision)
}

// TestOwnCommandsStayPossible: a step that lists every command leaves those of this program, with
// which the agent works on the steps.
func TestOwnCommandsStayPossible(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1], "only": ["Bash", "Write"]}`)
	require.Equal(t, Verdict{}, l.call(bash("fsmtx start 1 && /opt/bin/fsmtx complete 1")))
	require.Contains(t, l.call(bash("fsmtx start 1; ls")).Reason, "ls belongs to #2")
	require.Contains(t, l.call(ToolCall{Tool: "Monitor", Line: "tail -f x"}).Reason, "tail -f x belongs to #2")
	require.Contains(t, l.call(ToolCall{Tool: "Write", Path: "/x/y"}).Reason, "Write of /x/y belongs to #2")
	require.Contains(t, l.call(bash("(((")).Reason, "this line runs it (shell syntax error at 1:3: ")
	for _, line := range []string{"ls", "pwd", "date"} {
		require.NotContains(t, l.call(bash(line)).Reason, "time", "it is another call")
	}
}

// linesOfFile returns the lines of a file in testdata/only, in which ⏎ stands for a line feed.
func linesOfFile(t *testing.T, name string) (lines []string) {
	data, err := os.ReadFile("testdata/only/" + name)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "# Lines") {
			lines = append(lines, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	return lines
}

// TestSpellings: no way to write a command that a rule covers gets past it, and of the lines that run something else only two are
// refused.
func TestSpellings(t *testing.T) {
	list := listings(t, "/p", "Bash(git push *)", "Bash(npm publish:*)", "Bash(make publish *)", "Bash(kubectl delete *)",
		"Bash(./deploy.sh *)")
	covered := func(line string) bool { return len(ToolCall{Tool: "Bash", Line: line}.covered(list)) > 0 }
	lines, innocent := linesOfFile(t, "spellings.txt"), linesOfFile(t, "innocent.txt")
	require.Greater(t, len(lines), 210)
	require.Greater(t, len(innocent), 90)
	for _, line := range lines {
		assert.True(t, covered(line), "passes: %s", line)
	}
	refused := slices.DeleteFunc(innocent, func(line string) bool { return !covered(line) })
	assert.Equal(t, []string{"find . -name deploy.sh", `npm test && echo "next: git push" >> notes.md`}, refused)
}

// TestWhyACallIsRefused: in each state of the steps that list it.
func TestWhyACallIsRefused(t *testing.T) {
	only := []string{"Bash(git push *)"}
	l := hydrated(t, `{"subject": "Review", "outcomes": ["yes", "no"]}`,
		`{"subject": "Push", "blockedBy": [1], "when": {"1": "yes"}, "only": `+q(only)+`}`,
		`{"subject": "Again", "blockedBy": [1, 2], "check": "true", "only": `+q(only)+`}`, `{"subject": "End", "blockedBy": [3]}`)
	const hint = "\nA person can let one such call through, in a terminal outside the client: " +
		`fsmtx step allow 'Bash(git push *)' --because "..." --list s1`
	refused := func(step int64, times int, why string) {
		t.Helper()
		v := l.call(push(""))
		e := l.state().Calls[len(l.state().Calls)-1]
		assert.Equal(t, []any{step, state.Deny, step, times, "only: git push"}, []any{v.Step, v.Decision, e.Step, e.Times, v.Why})
		repeated := map[int]string{3: ".\nThis is the same refusal for the 3rd time: stop trying, and ask the person what to do",
			4: ".\nThis is the same refusal for the 4th time: stop trying, and ask the person what to do"}[times]
		assert.Equal(t, why+"."+hint+repeated, v.Reason)
	}
	const waits = `git push belongs to #2 "Push", which waits for #1 "Review"; and to #3 "Again", ` +
		`which waits for #1 "Review" and #2 "Push". Ready now: #1 "Review"`
	const third = `git push belongs to #2 "Push", which is not needed: #1 ended as no; and to #3 "Again", `
	for _, times := range []int{0, 2, 3} {
		refused(2, times, waits)
	}
	l.end(1, "no")
	refused(3, 0, third+`which is not in progress: start it first. Ready now: #3 "Again"`)
	mine := state.Pending{Step: 3, Call: "x", PID: os.Getpid(), Start: caller.StartOf(os.Getpid())}
	own, err := json.Marshal(state.Memory{Pending: []state.Pending{mine}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.stateFile(state.SessionFile), own, 0o600))
	refused(3, 2, third+`whose check is running. Checking: #3 "Again"`)
	require.NoError(t, os.Remove(l.stateFile(state.SessionFile)))
	l.ended(3)
	refused(2, 4, third+`which is done. Ready now: #4 "End"`)

	l = hydrated(t, `{"blockedBy": [3], "only": `+q(only)+`}`, `{"only": `+q(only)+`}`, `{}`)
	assert.EqualValues(t, 2, l.call(push("")).Step, "which can be started")

	l = hydrated(t, slices.Repeat([]string{`{"only": ` + q(only) + `}`}, message.MaxNamed+2)...)
	l.allows(1, completed)
	reason := l.call(push("")).Reason
	assert.Contains(t, reason, `#10 "Step 10", which is not in progress: start it first; and to 2 more.`)
	assert.Contains(t, reason, `git push belongs to #1 "Step 1", which is done; and to #2`)
}

// TestRulesInAMessage: each once.
func TestRulesInAMessage(t *testing.T) {
	permit := func(l *list, rule string) error {
		_, err := l.Permit(t.Context(), rule, "x", state.By{})
		return err
	}
	l := hydrated(t, `{"only": ["Bash(a *)", "WebFetch"]}`, `{"only": ["Bash(a *)"]}`)
	assert.EqualError(t, permit(l, "Bash(b)"), "Bash(b): no step of this task list lists such calls. They list Bash(a *) and WebFetch")
	assert.EqualError(t, permit(hydrated(t, `{}`), "Bash(b)"), "Bash(b): no step of this task list lists such calls")
	l = hydrated(t, `{"only": ["Write(src/**)"]}`, `{"only": ["Bash(git push *)"]}`, `{"only": ["Bash(git *)"]}`)
	assert.NoError(t, permit(l, "Write("+l.project+"/src/x)"), "a path of one file")
	assert.ErrorIs(t, permit(l, "Write(src/*/x)"), errNoRule, "it is not known whether all of them are covered")
	l.skip(1)
	assert.EqualError(t, permit(l, "Write(src/**)"),
		"Write(src/**): these calls are not refused now: the workflow is over, or the step was skipped")
	assert.Equal(t, "", RuleFault("Bash(a)"))
	assert.NotEqual(t, "", RuleFault("Bash("))

	// The rule that is named is of a step that is not done, if another step that lists such calls is.
	l.skip(2)
	assert.Contains(t, l.call(bash("git push x")).Reason, "fsmtx step allow 'Bash(git *)'")
	assert.NoError(t, permit(l, "Bash(git *)"))
}

// TestWhatIsPutRight: each thing that a program changes in a task's file, and what the person reads.
func TestWhatIsPutRight(t *testing.T) {
	const task = `{"id":"2","subject":"Test","description":"How.","status":"pending","blocks":[],"blockedBy":["1"],` +
		`"metadata":{"fsm":"release","mine":1}}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"subject":"Test"`, `"subject":"Rest"`, "subject"},
		{`"description":"How."`, `"description":"No."`, "description"},
		{`["1"]`, `[]`, "blockedBy"},
		{`["1"]`, `["1","3"]`, "blockedBy"},
		{`"fsm":"release"`, `"fsm":"other"`, "metadata"},
		{`"fsm":"release",`, ``, "metadata"},
		{`"mine":1`, `"mine":1,"_internal":true`, "metadata"},
		{`{"fsm":"release","mine":1}`, `[]`, "metadata"},
		{`"subject":"Test","description":"How."`, `"subject":"","description":""`, "subject and description"},
	} {
		l := hydrated(t, `{"subject": "Build"}`, `{"subject": "Test", "description": "How.", "blockedBy": [1]}`, `{"subject": "Other"}`)
		l.put(2, strings.Replace(task, c.old, c.new, 1))
		// what could not be put right in time is at the next update
		trouble := message.Join(l.ask(1, inProgress).Trouble, l.ask(1, completed).Trouble)
		if c.want != "" {
			c.want = `the task of #2 "Test" had been changed behind its workflow, and was put right: ` + c.want
		}
		assert.Equal(t, c.want, string(trouble), c.new)
		if !strings.HasPrefix(c.old, `"fsm":"release",`) && !strings.HasPrefix(c.old, `{"fsm"`) {
			assert.JSONEq(t, task, l.text(2), c.new)
		}
	}
	l := hydrated(t, `{"subject": "A"}`, `{"subject": "B"}`)
	l.rewrite(1, `{"subject": "x", "status": "pending"}`)
	l.rewrite(2, `{"subject": "x", "status": "pending"}`)
	assert.Equal(t, `the task of #1 "A" had been changed behind its workflow, and was put right: subject
the task of #2 "B" had been changed behind its workflow, and was put right: subject`, string(l.ask(1, inProgress).Trouble))
}

// TestAnOverdueStepThatHolds is not the end of the decision: the target has to pass its own gates.
func TestAnOverdueStepThatHolds(t *testing.T) {
	l := hydrated(t, `{"produces": ["a"]}`, `{"produces": ["b"]}`, `{"blockedBy": [1, 2], "ready": ["c"]}`)
	l.write("a", "x")
	l.set(1, completed)
	l.set(2, completed)
	assert.Contains(t, l.denies(3, inProgress), `#2 "Step 2" was completed past the hooks and does not pass its gates, so no other `+
		`step is let through. #2 "Step 2" cannot be completed: it needs b`)
	l.write("b", "x")
	assert.Contains(t, l.denies(3, inProgress), `#3 "Step 3" cannot be started: it needs c`)
	l.write("c", "x")
	l.begin(3)
}

// TestAStateThatCannotBeRead: the steps are those of the list, and that is said.
func TestAStateThatCannotBeRead(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`)
	require.NoError(t, os.RemoveAll(state.StateDir(l.List.Dir)))
	require.NoError(t, os.WriteFile(state.StateDir(l.List.Dir), nil, 0o600))
	for _, load := range []func() (*state.State, error){
		func() (*state.State, error) { return state.Load(t.Context(), l.List.Dir) },
		func() (*state.State, error) { return state.LoadNow(t.Context(), l.List.Dir) },
	} {
		s, err := load()
		require.NoError(t, err)
		require.Equal(t, ids(1), ready(s))
		assert.Len(t, s.Troubles, 1)
		assert.False(t, s.Interrupted)
	}
	v := l.ask(2, inProgress)
	assert.Equal(t, state.Deny, v.Decision, "%+v", v)
}

// TestACallIsRefusedWhenTheTimeIsOver: the start of its step was let through, and something else may have stopped it. The
// client ends the hook soon, so it cannot wait longer; nor can it for the lock of the list.
func TestACallIsRefusedWhenTheTimeIsOver(t *testing.T) {
	l := released(t)
	l.begin(1)
	l.allows(1, completed)
	require.True(t, l.ask(2, inProgress).Allowed())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := l.Call(ctx, push("toolu_1"))
	assert.Equal(t, state.Deny, v.Decision, v.Trouble)
	assert.Contains(t, v.Reason, "which is not in progress: start it first")
}

// listings returns rules, each listed by a step of its own of a workflow in that directory.
func listings(t *testing.T, dir string, rules ...string) (list []listing) {
	for i, text := range rules {
		rule, ok := permission.Parse(text)
		require.True(t, ok)
		list = append(list, listing{recorded(dir), text, rule})
		list[i].step.ID = int64(i + 1)
	}
	return list
}

// recorded is a step of a workflow in that directory.
func recorded(dir string) *state.RecordedStep {
	w := planned(`{}`)
	w.Dir = dir
	return &state.RecordedStep{Step: &w.Steps[0], Workflow: &w}
}

// TestLines: whether lines of a shell are covered by one rule and by another.
func TestLines(t *testing.T) {
	list, lines := listings(t, "/p", "Bash(git push *)", "Bash(npm publish:*)"), linesOfFile(t, "lines.txt")
	require.Greater(t, len(lines), 160)
	for _, line := range append(lines, "nn ", "yn git push "+strings.Repeat("a", 200<<10)) {
		answers, line, _ := strings.Cut(line, " ")
		got := [2]byte{'n', 'n'}
		for _, p := range (ToolCall{Tool: "Bash", Line: line}).covered(list) {
			for _, l := range p.listed {
				got[l.step.ID-1] = 'y'
			}
		}
		assert.Equal(t, answers, string(got[:]), "%.100s", line)
	}
}

func bash(line string) ToolCall { return ToolCall{Tool: "Bash", Line: line} }
