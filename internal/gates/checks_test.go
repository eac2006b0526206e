package gates

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"

	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/git"
	testfiles "github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// await waits until a file of the project exists.
func (l *list) await(name string) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { _, err := os.Stat(filepath.Join(l.project, name)); return err == nil }, 20*time.Second,
		time.Millisecond)
}

// later requests an update, and returns when its check has begun.
func (l *list) later(id int64, status string) (verdict chan Verdict) {
	l.t.Helper()
	verdict = make(chan Verdict, 1)
	go func() { verdict <- l.beside().ask(id, status) }()
	l.await("begun")
	return verdict
}

// waitingCheck returns a check that creates the file started and waits for the file until.
func waitingCheck(started, until string) string {
	return fmt.Sprintf(`"echo %[1]s says %[1]s; touch %[1]s; until test -f %[2]s; do sleep 0.01; done"`, started, until)
}

// While a check runs, its step is not done. Neither another call for the same step nor a
// lock that cannot be had changes that.
func TestPendingIsNotDone(t *testing.T) {
	l := hydrated(t, `{"check": `+waitingCheck("begun", "go")+`}`, `{"blockedBy": [1]}`, `{}`)
	l.begin(1)
	verdict := l.later(1, completed)

	require.Contains(t, l.denies(1, completed), `is being completed by another call, whose check is running: wait until it ends`)
	require.Contains(t, l.denies(1, pending), `wait until it ends`)
	for range state.MaxRepeats {
		assert.Regexp(t, `wait until it ends$`, l.denies(1, completed), "a person is not needed for that")
	}
	require.Contains(t, l.denies(2, inProgress), `The check of #1 "Step 1" is running in another call`)
	l.begin(3)
	require.Equal(t, state.Checking, l.state().Word(l.state().Step(1)))

	held, err := l.List.Open(t.Context())
	require.NoError(t, err)
	impatient := l.beside()
	impatient.List.Wait = time.Millisecond
	require.Contains(t, impatient.denies(1, completed), "wait until it ends")
	require.Contains(t, impatient.denies(2, inProgress), "is running in another call")
	require.Equal(t, Verdict{Decision: state.Allow, Step: 3}, impatient.ask(3, completed), "only the record is delayed")
	require.Equal(t, state.Deny, impatient.ask(3, workflow.Deleted).Decision)
	require.NoError(t, held.Close())

	l.write("go", "")
	v := <-verdict
	require.True(t, v.Allowed(), v.Reason)
	l.set(1, completed)
	l.begin(2)
	require.Empty(t, l.state().Pending)
}

// A blocker may be reopened while the check of a step is running.
func TestTheOrderIsEvaluatedAgainAfterACheck(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1], "check": `+waitingCheck("begun", "go")+`}`)
	l.allows(1, completed)
	verdict := l.later(2, completed)
	l.reopen(1)
	l.write("go", "")
	v := <-verdict
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, `#1 "Step 1" must be done first`)
}

// While one call runs the check of an unverified step, other calls do not.
func TestAnUnverifiedStepIsCheckedByOneCall(t *testing.T) {
	l := hydrated(t, `{"check": `+waitingCheck("begun", "go")+`}`, `{}`, `{}`, `{"blockedBy": [1]}`)
	l.set(1, completed)
	verdict := l.later(2, inProgress)
	l.begin(3)
	require.Contains(t, l.denies(4, inProgress), `The check of #1 "Step 1" is running in another call`)
	l.set(1, inProgress) // reopened by another program
	l.write("go", "")
	v := <-verdict
	require.True(t, v.Allowed(), v.Reason)
	for _, e := range l.state().Evidence {
		require.NotEqual(t, int64(1), e.Step, "nothing is recorded about a step that was reopened")
	}
}

// A failed check denies even if the result cannot be recorded.
func TestTroubleAfterACheck(t *testing.T) {
	for code, decision := range map[string]state.Decision{"1": state.Deny, "0": state.Allow} {
		l := hydrated(t, `{}`)
		l.hydrate(`{"id": 5, "check": ` + q("chmod 0777 "+l.stateFile("")+"; exit "+code) + `}`)
		v := l.ask(5, completed)
		require.Equal(t, decision, v.Decision)
		require.Equal(t, code == "0", strings.Contains(string(v.Trouble), "the decision about #5 is not on record: "), v.Trouble)
	}
	l := hydrated(t, `{}`)
	l.hydrate(`{"id": 5, "check": ` + q("chmod 0777 "+l.stateFile("")+"; exit 1") + `, "outcomes": {"failed": {"back": 5, "max": 1}}}`)
	require.Contains(t, l.ask(5, completed).Reason, "leads back, but that cannot be recorded")
}

func TestRecordsOfDeadProcessesAreIgnored(t *testing.T) {
	l := hydrated(t, `{}`, `{}`, `{}`, `{}`)
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	mine := caller.StartOf(os.Getpid())
	require.NotEmpty(t, mine)
	text, err := json.Marshal(state.Memory{Pending: []state.Pending{
		{Step: 1, PID: dead.Process.Pid, Start: mine},
		{Step: 2, PID: os.Getpid(), Start: "of another process with this id"},
		{Step: 3, PID: os.Getpid(), Start: mine},
		{Step: 4, PID: -1, Start: mine},
	}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.stateFile(state.SessionFile), text, 0o600))
	for id, held := range map[int64]bool{1: false, 2: false, 3: true, 4: false} {
		require.Equal(t, !held, l.do(id, completed).Allowed(), id)
	}
}

// TestAnInterruptedCheckDenies, and leads nowhere: only a check that ended can make a step end as failed.
func TestAnInterruptedCheckDenies(t *testing.T) {
	for _, outcomes := range []string{`null`, `{"failed": {"back": 1, "max": 1}}`} {
		l := hydrated(t, `{}`, `{"blockedBy": [1], "check": `+waitingCheck("begun", "never")+`, "outcomes": `+outcomes+`}`)
		l.ended(1)
		for range state.MaxRepeats {
			interrupted, interrupt := context.WithCancel(t.Context())
			l.Interruptible = func(context.Context) (context.Context, context.CancelFunc) { return interrupted, func() {} }
			go func() {
				l.await("begun")
				interrupt()
			}()
			require.Equal(t, `#2 "Step 2" is not completed: its check was interrupted before it ended: `+
				strings.Trim(waitingCheck("begun", "never"), `"`)+
				"\nComplete the step again to run it anew", l.denies(2, completed))
			require.Zero(t, l.lastLine().Times, "it has not failed")
			require.NoError(t, os.Remove(filepath.Join(l.project, "begun")))
		}
		s := l.state()
		require.Empty(t, s.Pending)
		require.Equal(t, []any{state.Deny, -1}, []any{l.lastLine().Verdict, l.lastLine().Check.Exit})
		require.Equal(t, []any{true, 1}, []any{s.Step(1).Done(), s.Step(2).Round}, "nothing is open again")
	}
}

func TestACheckEndsAtItsLimit(t *testing.T) {
	l := hydrated(t, `{"check": {"run": "sleep 60", "timeout": 0.1}}`)
	require.Contains(t, l.denies(1, completed), "its check failed (it did not end within 100ms): sleep 60")
}

func TestTheSameDenialThreeTimes(t *testing.T) {
	l := hydrated(t, `{"check": "cat out 2>/dev/null; exit 1"}`, `{"blockedBy": [1]}`, `{}`)
	const repeated = "This is the same refusal for the "
	require.NotContains(t, l.denies(1, completed), repeated)
	require.NotContains(t, l.denies(1, completed), repeated)
	require.NotContains(t, l.denies(2, completed), repeated, "a denial of another step")
	require.Contains(t, l.denies(1, completed), repeated+"3rd time: stop trying, and ask the person what to do")
	require.Contains(t, l.denies(1, completed), repeated+"4th time")
	l.write("out", "another output, such as the time")
	require.Contains(t, l.denies(1, completed), repeated+"5th time")
	l.begin(3)
	require.NotContains(t, l.denies(1, completed), repeated, "something has changed")

	l = hydrated(t, `{"check": "exit 1"}`)
	l.Apply, l.Via.How = true, state.ByMCP
	l.denies(1, completed)
	l.denies(1, completed)
	require.Contains(t, l.denies(1, completed), repeated+"3rd time")

	l = hydrated(t, `{"outcomes": ["yes", "no"]}`)
	for _, word := range []string{"", "maybe", "", "perhaps", "perhaps"} {
		require.NotContains(t, l.end(1, word).Reason, repeated, "the reasons differ")
	}
	require.Contains(t, l.end(1, "perhaps").Reason, repeated)
}

func TestChecksThatExceedTheLimitOfTheCall(t *testing.T) {
	l := hydrated(t, slices.Repeat([]string{`{"check": {"run": "true", "timeout": 60}}`}, 3)...)
	l.Limit = callMargin + 50*time.Second
	l.set(1, completed)
	l.set(2, completed)
	require.Contains(t, l.denies(3, inProgress), `the check of #1 "Step 1" may take 1m0s, but the time limit of the hook that runs it `+
		`leaves only 50s. Tell the person: "fsmtx install" repairs the hook`)
	l.Limit = callMargin + 100*time.Second // what is left when the first has ended decides about the second
	l.begin(3)
	l.allows(3, completed)
}

// TestACheckRunsInItsDirectory, without an input, and with the variables that it names and no others.
func TestACheckRunsInItsDirectory(t *testing.T) {
	l := hydrated(t, `{"check": {"timeout": 20, "dir": "app",
			"run": "test \"$(pwd -P)\" = \"$(cd \"$P/app\" && pwd -P)\" || exit 9; read x && exit 8; echo out; echo err >&2; exit 7"}}`,
		`{"check": {"run": "test -z \"$KEY\" && test \"$KEPT\" = yes", "env": ["PATH", "KEPT"]}}`,
		`{"check": "test -n \"$KEY\""}`, `{"check": {"run": "test -z \"$KEY$KEPT\"", "env": []}}`)
	l.Env = append(os.Environ(), "P="+l.project, "KEY=secret", "KEPT=yes")
	l.write("app/x", "")
	require.Contains(t, l.denies(1, completed), "(exit status 7): ")
	require.Contains(t, l.denies(1, completed), "\nout\nerr\n")
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte("out\nerr\n"))), l.lastLine().Check.SHA256)
	for _, id := range ids(2, 3, 4) {
		l.allows(id, completed)
	}
}

// TestACheckThatCannotRunSendsNothingBack: it is no failure of the work, and the person is told what is missing.
func TestACheckThatCannotRunSendsNothingBack(t *testing.T) {
	for check, why := range map[string]string{
		`"no-such-program --x"`:               "no-such-program",
		`"./data.txt"`:                        "data.txt",
		`{"run": "true", "dir": "not/there"}`: "not/there",
	} {
		l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Build", "check": `+check+`,
			"outcomes": {"failed": {"back": 1, "max": 1}}}]}`)
		l.write("data.txt", "")
		for range 2 { // or the one round would be used
			v := l.end(1, "")
			require.Equal(t, state.Deny, v.Decision, "%s: %+v", check, v)
			require.Nil(t, v.Turn)
			require.Contains(t, v.Reason, "cannot run")
			require.Contains(t, v.Reason, why)
			require.Contains(t, v.Why, "check cannot run: ")
			require.Empty(t, v.Trouble, "the refusal says it, and that the person reads, too")
		}
		require.Equal(t, 1, l.state().Step(1).Round)
	}
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Build", "check": "exit 1", "outcomes": {"failed": {"back": 1, "max": 1}}}]}`)
	v := l.end(1, "")
	require.NotNil(t, v.Turn)
	require.Empty(t, v.Trouble)
}

// TestChecksAreOff: no command is run, the other gates hold, and what a command decides a person has to.
func TestChecksAreOff(t *testing.T) {
	mark := `"touch ran; false"`
	l := hydrated(t, `{"check": `+mark+`}`, `{"produces": ["out"], "check": `+mark+`}`, `{"check": `+mark+`, "approval": "Well?"}`,
		`{"blockedBy": [1, 3], "check": `+mark+`}`, `{"check": `+mark+`, "outcomes": {"again": {"back": 5, "max": 2, "check": `+mark+`}}}`,
		`{"blockedBy": [5], "decides": {"run": `+mark+`}, "outcomes": ["a", "b"]}`,
		`{"set": {"version": {"run": `+mark+`}}}`, `{"each": {"run": `+mark+`}, "do": [{"id": 1, "subject": "S"}]}`)
	l.NoChecks = func() bool { return true }
	l.denies(4, completed)
	l.begin(1)
	v := l.do(1, completed)
	require.True(t, v.Allowed())
	e, _ := l.state().Last(1)
	require.Equal(t, "checks are off", e.Said())
	l.begin(2)
	require.Contains(t, l.denies(2, completed), "out")
	l.write("out", "x")
	l.allows(2, completed)
	l.begin(3)
	v = l.do(3, completed)
	require.Equal(t, state.Ask, v.Decision)
	require.Contains(t, v.Reason, "\n(Its check is not run: checks are off.)")
	l.ended(5)
	require.Contains(t, l.denies(6, completed),
		"commands are not run here (--checks off). A person can say how it ends: fsmtx step done 6 --outcome NAME")
	require.Contains(t, l.denies(7, completed),
		"commands are not run here (--checks off). A person can give it: fsmtx step done 7 --set version=")
	require.Contains(t, l.denies(8, inProgress), "commands are not run here (--checks off)")
	require.NoFileExists(t, l.project+"/ran")
}

// TestPlanMode: no command of a step is run, whatever it is for, and the update that needs one is refused. It is not
// refused for good: outside of plan mode the same update runs it.
func TestPlanMode(t *testing.T) {
	mark := `"touch ran; echo a"`
	two := `["a", "done"]`
	for _, c := range []struct {
		step     string
		to, want string
	}{
		{`{"check": ` + mark + `}`, completed, "its check is not run there"},
		{`{"check": ` + mark + `, "outcomes": ` + two + `}`, completed, "its check is not run there"},
		{`{"decides": {"run": ` + mark + `}, "outcomes": ` + two + `}`, completed, "the command that decides how it ends is not run there"},
		{`{"set": {"version": {"run": ` + mark + `}}, "outcomes": ["done"]}`, completed, "the command that gives version is not run there"},
		{`{"outcomes": ` + two + `, "each": {"run": ` + mark + `}, "do": [{"id": 1, "subject": "S"}]}`, inProgress,
			"the command that prints its lines is not run there"},
	} {
		l := hydrated(t, c.step)
		l.Planning = true
		reason := l.denies(1, c.to)
		require.Contains(t, reason, c.want)
		require.Contains(t, reason, "\nLeave plan mode, then ")
		require.NoFileExists(t, l.project+"/ran")
		l.Planning = false
		l.do(1, c.to)
		require.FileExists(t, l.project+"/ran")
	}
}

// fakeClient makes the calls of one message as the client does: each with its hook, and each
// independently of the others.
type fakeClient struct {
	*list
	calls sync.WaitGroup
	mu    sync.Mutex
	uses  int
}

// call makes one call: it asks the hook and, if that allows it, changes the task. The order
// of calls is that of their numbers only by chance.
func (c *fakeClient) call(id int64, status string, want state.Decision) {
	c.mu.Lock()
	c.uses++
	use := fmt.Sprint("toolu_", c.uses)
	c.mu.Unlock()
	c.calls.Go(func() {
		v := c.beside().Update(c.t.Context(), Update{Task: message.Itoa(id), Status: status, Use: use})
		assert.Equal(c.t, want, v.Decision, "#%d %s: %s", id, status, v.Reason)
		if v.Allowed() {
			c.mu.Lock() // the client changes one task at a time
			defer c.mu.Unlock()
			c.set(id, status)
		}
	})
}

// TestCallsOfOneMessageWaitForEachOther: complete a step and start the next, in one message,
// three in a row, in any order, with a check in between. What does not go through is not waited for.
func TestCallsOfOneMessageWaitForEachOther(t *testing.T) {
	for exit, want := range map[string]state.Decision{"0": state.Allow, "1": state.Deny} {
		c := &fakeClient{list: hydrated(t, `{"check": `+q("sleep 0.4; exit "+exit)+`}`, `{"blockedBy": [1]}`, `{"blockedBy": [2]}`,
			`{"blockedBy": [3]}`)}
		c.call(4, inProgress, want)
		for _, id := range ids(3, 2, 1) {
			c.call(id, completed, want)
		}
		c.calls.Wait()
		s := c.state()
		require.Empty(t, s.Pending)
		require.Equal(t, map[string]int{"0": 3, "1": 0}[exit], s.Count().Done)
		require.Equal(t, exit == "0", s.Step(4).Status == inProgress)
		for _, e := range s.Evidence {
			require.True(t, e.Lets() || exit == "1", "no refusal is on record")
		}
	}
}

// TestEnforcementOfAStartAndACompletion: a step is completed, and the next one started and completed, in any order of the hooks, and
// while the check of the latter runs.
func TestEnforcementOfAStartAndACompletion(t *testing.T) {
	for _, slow := range []string{"true", "sleep 0.4"} {
		for name, outcomes := range map[string]string{"": `null`, "outcomes": `{"done": {}, "again": {"back": 1, "max": 1}}`} {
			for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				t.Run(fmt.Sprint(slow, name, order), func(t *testing.T) {
					t.Parallel()
					c := &fakeClient{list: hydrated(t, `{"check": `+q(slow)+`}`,
						`{"blockedBy": [1], "check": `+q(slow)+`, "outcomes": `+outcomes+`}`)}
					for _, n := range order {
						c.call([]int64{1, 2, 2}[n], []string{completed, inProgress, completed}[n], state.Allow)
					}
					c.calls.Wait()
					s := c.state()
					require.Equal(t, 2, s.Count().Done)
					var changes []string
					for _, e := range s.About(2) {
						require.NotEqual(t, state.Deny, e.Verdict)
						if e.Verdict == state.Allow {
							changes = append(changes, e.From+" to "+e.To)
						}
					}
					require.Equal(t, []string{"pending to in_progress", "in_progress to completed"}, changes)
				})
			}
		}
	}
}

// TestAStartOfAStepThatIsOpenAgain: what has completed it was another round. Of this one it would open what its message has completed.
func TestAStartOfAStepThatIsOpenAgain(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1], "outcomes": {"done": {}, "again": {"back": 1, "max": 1}}}`)
	l.Began = time.Now()
	require.True(t, l.end(1, "").Allowed())
	require.True(t, l.end(2, "again").Allowed())
	start := Update{Task: "1", Status: inProgress, Use: "toolu_1"}
	require.True(t, l.Update(t.Context(), start).Allowed())
	require.True(t, l.ask(1, completed).Allowed())
	start.Use = "toolu_2"
	require.Contains(t, l.Update(t.Context(), start).Reason, "was completed by another call of this message, so it need not be started")
}

// TestWorthWaiting: whether an update of a message waits for the blocker of its step.
func TestWorthWaiting(t *testing.T) {
	for name, w := range map[string]struct {
		waited time.Duration
		change func(*state.State)
		want   bool
	}{
		"nothing is on record yet":            {grace - 1, nil, true},
		"nothing is on record":                {grace, nil, false},
		"it is not a call of a message":       {0, nil, false},
		"its check is running":                {patience - 1, running(false), true},
		"it waits, too":                       {grace, running(true), true},
		"its check is running for too long":   {patience, running(false), false},
		"it was let through":                  {grace, decided(time.Second, 1, completed, state.Allow), true},
		"it was let through and never came":   {grace, decided(time.Minute, 1, completed, state.Allow), false},
		"it was let through before the clock": {grace, decided(-time.Hour, 1, completed, state.Allow), false},
		"a person is asked":                   {grace, decided(0, 1, completed, state.Ask), false},
		"it was refused":                      {grace, decided(0, 1, completed, state.Deny), false},
	} {
		s := stateOf(stepLine{id: 1, status: pending}, stepLine{id: 2, status: pending, after: ids(1)})
		c := &call{Frame: &Frame{}, update: Update{Use: "u"}, begun: s.Time.Add(-w.waited)}
		if w.change != nil {
			w.change(s)
		}
		if name == "it is not a call of a message" {
			c.update.Use = ""
		}
		require.Equal(t, w.want, c.isWorthWaiting(s, s.Step(2)), name)
	}
}

// TestARefusedApprovalIsNoYes: the file is completed by a script afterwards.
func TestARefusedApprovalIsNoYes(t *testing.T) {
	l := hydrated(t, `{"approval": "Publish?"}`, `{"blockedBy": [1]}`)
	for n, want := range []string{"\nWithout a yes ", "\nWithout a yes ",
		"\nIts completion was tried 3 times, and nobody has said yes so far. Without a yes ", "\nIts completion was tried 4 times"} {
		v := l.ask(1, completed)
		require.Equal(t, state.Ask, v.Decision)
		require.Contains(t, v.Reason, want, n)
	}
	l.set(1, completed)
	require.False(t, l.state().Step(1).Done())
	v := l.do(2, inProgress)
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, `#1 "Step 1" was completed without the approval that it needs`)
	l.set(1, inProgress)
	require.Equal(t, state.Ask, l.ask(1, completed).Decision)
	require.Equal(t, Verdict{Step: 1}, l.Completed(t.Context(), Update{Task: "1", Status: completed}))
	l.set(1, completed)
	l.begin(2)
}

// TestAnOldQuestionIsNoYes: after the question the step was refused for another reason. If the
// fakeClient then completes it without a hook before, nobody has been asked about that.
func TestAnOldQuestionIsNoYes(t *testing.T) {
	l := hydrated(t, `{"produces": ["out"], "approval": "Publish?"}`)
	l.write("out", "x")
	require.Equal(t, state.Ask, l.ask(1, completed).Decision)
	require.NoError(t, os.Remove(filepath.Join(l.project, "out")))
	l.denies(1, completed)
	l.write("out", "x")
	v := l.Completed(t.Context(), Update{Task: "1", Status: completed})
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, "needs the approval of a person, who cannot be asked here")
}

// TestGatesLookInTheWorkTreeOfTheAgent: a file is there, and a check fails, in the linked work tree in which the agent is. A tree of
// another repository does not count, nor one that the repository does not know, nor one that has borrowed another's entry.
func TestGatesLookInTheWorkTreeOfTheAgent(t *testing.T) {
	l := hydrated(t, `{"produces": ["out"]}`, `{"check": {"run": "test ! -e broken", "dir": "app"}}`)
	root := filepath.Dir(l.project)
	trees := filepath.Join(l.project, ".git", "worktrees")
	at := func(name string) string { return filepath.Join(root, name) }
	linked := linkedTree(t, at("linked"), filepath.Join(trees, "linked"), "../..", at("linked"))
	other := linkedTree(t, at("other"), at("elsewhere/.git/worktrees/other"), "../..", at("other"))
	forged := linkedTree(t, at("forged"), at("made/worktrees/forged"), filepath.Join(l.project, ".git"), at("forged"))
	borrowed := linkedTree(t, at("borrowed"), filepath.Join(trees, "borrowed"), "../..", linked)
	require.NoError(t, os.WriteFile(filepath.Join(linked, "app", "broken"), nil, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(l.project, "app"), 0o755))
	in := func(id int64, cwd string) Verdict {
		return l.Update(t.Context(), Update{Task: message.Itoa(id), Status: completed, Cwd: cwd})
	}
	for _, cwd := range []string{"", l.project, root, other, forged, borrowed, at("gone")} {
		v := in(1, cwd)
		require.Equal(t, state.Deny, v.Decision, cwd)
		require.Contains(t, v.Reason, "it needs out, which is missing or empty in "+l.project)
	}
	l.Forged = func() bool { return true }
	require.Equal(t, state.Deny, in(1, linked).Decision, "an event that the agent has written could name any tree")
	l.Forged = nil
	for dir, is := range map[string]bool{linked: true, l.project: true, filepath.Join(l.project, "app"): true, root: false, other: false} {
		require.Equal(t, is, IsIn(l.project, dir), dir)
	}
	require.Empty(t, l.lastLine().Tree)
	require.Equal(t, state.Allow, in(1, filepath.Join(linked, "app")).Decision)
	require.Equal(t, linked, l.lastLine().Tree)
	l.set(1, completed)
	require.EqualValues(t, `release: 1 of 2 done: #1 "Step 1"; the gates looked in the work tree `+linked, l.News(t.Context(), false))
	require.Equal(t, state.Allow, in(2, l.project).Decision)
	require.Empty(t, l.lastLine().Tree)
	v := in(2, linked)
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, "\nIt ran in "+filepath.Join(linked, "app"))
	require.Equal(t, []string{filepath.Join(linked, "app"), linked}, []string{l.lastLine().Check.Dir, l.lastLine().Tree})
}

// TestOnWhatACompletionStands: on the files from before the first of its commands ran to after the last one; without one on those of
// that moment. Without a policy it is not looked for.
func TestOnWhatACompletionStands(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Build", "set": {"v": {"run": "echo x | tee a"}}, "check": "echo x > b"},
		{"id": 2, "subject": "Write"}, {"id": 3, "subject": "Tell"}]}`)
	require.NoError(t, exec.CommandContext(t.Context(), "git", "init", "-q", l.project).Run())
	require.True(t, l.ask(2, completed).Allowed())
	require.Nil(t, l.lastLine().Content)
	l.write(git.PolicyFile, "{}")
	l.allows(1, completed)
	trees := l.lastLine().Content.Trees
	require.Len(t, trees, 3)
	l.allows(2, completed)
	require.Equal(t, trees[2:], l.lastLine().Content.Trees)
	_, err := l.End(t.Context(), 3, "enough", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	require.Equal(t, trees[2:], l.lastLine().Content.Trees)
}

// If both a plugin and the settings register the hook, the client starts it twice for one
// update. The second process waits until the first one has decided, and says the same: the
// first one may be killed before it answers.
func TestTwoHooksDecideOneUpdateOnce(t *testing.T) {
	l := hydrated(t, `{"check": "echo >> runs; : > running; read -r answer < go; exit $answer"}`)
	path := func(name string) string { return filepath.Join(l.project, name) }
	for exit, passes := range map[string]bool{"0": true, "3": false} {
		for _, pipe := range []string{"running", "go"} {
			_ = os.Remove(path(pipe))
			require.NoError(t, testfiles.Mkfifo(path(pipe), 0o600))
		}
		first, second, twin := make(chan Verdict), make(chan Verdict), l.beside()
		update := Update{Task: "1", Status: completed, Use: "toolu_" + exit}
		go func() { first <- l.beside().Update(t.Context(), update) }()
		_, err := os.ReadFile(path("running")) // until the check is running
		require.NoError(t, err)
		twin.Began = time.Now()
		go func() { second <- twin.Update(t.Context(), update) }()
		require.Equal(t, state.Deny, l.Update(t.Context(), Update{Task: "1", Status: completed, Use: "toolu_other"}).Decision)

		before := len(l.state().Evidence)
		require.NoError(t, os.WriteFile(path("go"), []byte(exit+"\n"), 0o600))
		v := <-second
		require.Equal(t, []bool{passes, passes}, []bool{(<-first).Allowed(), v.Allowed()}, "the same decision")
		require.Equal(t, !passes, strings.Contains(v.Reason, "its check failed (exit status 3)"), "in the same words")
		require.Len(t, l.state().Evidence, before+1, "only the first one decides")
	}
	ran, err := os.ReadFile(path("runs"))
	require.NoError(t, err)
	require.Equal(t, "\n\n", string(ran))
}

// TestTwoHooksOneAfterTheOtherDecideOnce: the check runs once, one denial is on record, and each hook says the same; the next call is told
// that it is the second.
func TestTwoHooksOneAfterTheOtherDecideOnce(t *testing.T) {
	l := hydrated(t, `{"check": "echo >> runs; echo broken; exit 3"}`, `{"produces": ["out"]}`)
	for n := 1; n <= 3; n++ {
		update := Update{Task: "1", Status: completed, Use: fmt.Sprint("toolu_", n)}
		first := l.Update(t.Context(), update)
		second := l.Update(t.Context(), update)
		require.Equal(t, state.Deny, second.Decision)
		words, _, _ := strings.Cut(first.Reason, "\nA person")
		require.Contains(t, second.Reason, words)
		require.Contains(t, second.Reason, "its check failed (exit status 3)")
		require.Contains(t, second.Reason, "\nbroken\n")
		require.Equal(t, n == 3, strings.Contains(second.Reason, "for the 3rd time"), second.Reason)
		require.Len(t, l.state().Evidence, n)
	}
	ran, err := os.ReadFile(filepath.Join(l.project, "runs"))
	require.NoError(t, err)
	require.Equal(t, "\n\n\n", string(ran))
	late := l.Update(t.Context(), Update{Task: "1", Status: completed, Use: "toolu_2"})
	require.Contains(t, late.Reason, "\nWhat it printed is in the answer of another hook or call. Fix", "that of a later call is in its place")
	require.NotContains(t, late.Reason, "printed nothing")

	update := Update{Task: "2", Status: completed, Use: "toolu_out"}
	require.Equal(t, state.Deny, l.Update(t.Context(), update).Decision)
	l.write("out", "text")
	require.Equal(t, state.Deny, l.Update(t.Context(), update).Decision, "it was decided")
	update.Use = "toolu_again"
	require.True(t, l.Update(t.Context(), update).Allowed())
}

// An outcome that leads back, chosen or by a failing check, uses one round, and each hook sends back: at once or
// one after the other, to a step before or to itself.
func TestTwoHooksSendBackOnce(t *testing.T) {
	for name, step := range map[string]string{
		"to a step before":  `{"blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 3}, "fine": {}}}`,
		"to itself":         `{"blockedBy": [1], "outcomes": {"again": {"back": 2, "max": 3}, "fine": {}}}`,
		"a failing check":   `{"blockedBy": [1], "check": "exit 1", "outcomes": {"failed": {"back": 1, "max": 3}}}`,
		"a check of itself": `{"blockedBy": [1], "check": "exit 1", "outcomes": {"failed": {"back": 2, "max": 3}}}`,
	} {
		for _, atOnce := range []bool{true, false} {
			l := hydrated(t, `{}`, step)
			l.end(1, "")
			u := Update{Task: "2", Status: completed, Use: "toolu_1"}
			if !strings.Contains(step, "check") {
				u.Metadata = []byte(`{"outcome": "again"}`)
			}
			answers := make(chan Verdict, 2)
			for range 2 {
				hook := l.beside()
				if atOnce {
					go func() { answers <- hook.Update(t.Context(), u) }()
				} else {
					answers <- hook.Update(t.Context(), u)
				}
			}
			for range 2 {
				v := <-answers
				require.NotNil(t, v.Turn, "%s, at once %t: %+v", name, atOnce, v)
				require.Contains(t, v.Turn.Text, ", time 1 of 3. ")
			}
			require.Equal(t, 2, l.state().Step(2).Round, name)
		}
	}
}

// TestCallsThatStartAStepExpandItOnce: the second call has read the record before the first has expanded the step.
func TestCallsThatStartAStepExpandItOnce(t *testing.T) {
	for _, late := range []string{inProgress, completed} {
		l := ofSpec(t, migration, "packages.txt", "a\nb")
		l.ended(1)
		c, _ := l.Frame.begin(t.Context(), Update{Task: "2", Status: late, Use: "toolu_2"})
		l.begin(2)
		before := l.all()
		require.Equal(t, late == inProgress, c.run(t.Context()).Allowed(), late)
		require.Equal(t, before, l.all())
	}
}

// TestTheQuestionOfAnOutcomeIsAskedByBothHooks: the hook that is registered twice asks the same twice.
func TestTheQuestionOfAnOutcomeIsAskedByBothHooks(t *testing.T) {
	l := hydrated(t, `{"outcomes": {"ok": {"approval": "Really?"}, "no": {}}}`)
	l.begin(1)
	u := Update{Task: "1", Status: completed, Metadata: []byte(`{"outcome": "ok"}`), Use: "toolu_1"}
	l.Began = time.Now() // of both processes
	one, two := l.Update(t.Context(), u), l.Update(t.Context(), u)
	require.Equal(t, state.Ask, one.Decision)
	assert.Contains(t, one.Reason, "Really?")
	assert.Equal(t, one.Reason, two.Reason)
}

// A file that was there before the workflow is refused once, and then recorded, and the person is told.
func TestAFileIsNew(t *testing.T) {
	for name, file := range map[string]string{
		"array":      `[{"id": 1, "subject": "Write", "produces": ["notes.md", "out/*.md"]}]`,
		"object":     `{"fsm": 2, "steps": [{"id": 1, "subject": "Write", "produces": ["notes.md", "out/*.md"]}]}`,
		"an outcome": `{"fsm": 2, "steps": [{"id": 1, "subject": "Write", "outcomes": {"done": {"produces": ["notes.md", "out/*.md"]}}}]}`,
		"a value": `{"fsm": 2, "vars": {"what": "notes"}, "steps": [{"id": 1, "subject": "Write",
			"produces": ["{what}.md", "out/*.md"]}]}`,
		"with a part": `{"fsm": 2, "steps": [{"id": 2, "subject": "All",
			"do": [{"id": 1, "subject": "Write", "produces": ["notes.md", "out/*.md"]}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := ofSpec(t, file, "notes.md", "of the last release", "out/a.md", "a", "out/b.md", "b")
			id := map[bool]int64{true: 3, false: 1}[name == "with a part"]
			past := time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
			require.NoError(t, os.Chtimes(filepath.Join(l.project, "out/a.md"), past, past), "a time says nothing")
			require.Contains(t, l.denies(id, completed),
				`cannot be completed: notes.md and out/a.md are as they were before the step was worked on. Write what has to be written; `+
					`if nothing has to be, complete the step again: it is recorded and shown as unchanged`)
			l.write("out/b.md", "other")
			v := l.do(id, completed)
			require.True(t, v.Allowed(), "%+v", v)
			require.Contains(t, v.Beside, `"Write" is completed, and notes.md was not changed for it`)
			require.Equal(t, []string{"notes.md"}, l.lastLine().Unchanged)

			l = ofSpec(t, file, "notes.md", "of the last release")
			l.write("notes.md", "of this release")
			l.write("out/c.md", "c")
			l.allows(id, completed)
			require.Empty(t, l.lastLine().Unchanged)
		})
	}
}

// The file of the round before is that of the round before, also where a part or a copy has written it.
func TestAFileIsOfTheRound(t *testing.T) {
	const review = `, {"id": 2, "subject": "Review", "blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`
	for name, c := range map[string]struct {
		first          string
		writes, anew   int64 // the step that writes the file, in the first round and the second
		parts, expands bool
	}{
		"a step": {`"produces": ["notes.md"]`, 1, 1, false, false},
		"a part": {`"do": [{"id": 1, "subject": "Write", "produces": ["notes.md"]}]`, 3, 3, true, false},
		"a copy": {`"each": {"lines": "list"}, "do": [{"id": 1, "subject": "Write", "produces": ["{item}.md"]}]`, 3, 4, true, true},
	} {
		l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "All", `+c.first+`}`+review, "list", "notes")
		if c.expands {
			l.begin(1)
		}
		l.write("notes.md", "first")
		l.ended(c.writes)
		if c.parts {
			l.ended(1)
		}
		require.NotNil(t, l.end(2, "again").Turn, name)
		if c.expands {
			l.begin(1)
		}
		require.Contains(t, l.denies(c.anew, completed), "notes.md is as it was", name)
		l.write("notes.md", "second")
		l.ended(c.anew)
		require.Empty(t, l.lastLine().Unchanged, name)
	}
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "All", "set": {"name": ".*"}, "produces": ["{name}.md"]}`+review,
		"other.md", "x")
	l.write("notes.md", "first")
	require.True(t, l.gives(1, `{"name": "notes"}`).Allowed())
	require.NotNil(t, l.end(2, "again").Turn)
	require.Contains(t, l.gives(1, `{"name": "other"}`).Reason, "other.md is as it was", "of any value")

	l = ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "All", "produces": ["notes.md"]},
		{"id": 2, "subject": "Migrate", "each": {"lines": "list"}, "do": [{"id": 1, "subject": "Write", "produces": ["out/{item}.md"]}]}]}`,
		"notes.md", "old", "list", "a")
	l.begin(2)
	require.Contains(t, l.denies(1, completed), "notes.md is as it was", "the copies of another step are not this one")
}

// A link that leads out of the project does not count, nor does a directory of that kind.
func TestALinkOutOfTheProjectDoesNotCount(t *testing.T) {
	l := ofSpec(t, `[{"id": 1, "subject": "Write", "produces": ["a.md", "d/a.md"]}]`, "real.md", "x")
	outside := t.TempDir()
	file, dir := filepath.Join(l.project, "a.md"), filepath.Join(l.project, "d")
	require.NoError(t, os.WriteFile(filepath.Join(outside, "a.md"), []byte("x"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(outside, "a.md"), file))
	require.NoError(t, os.Symlink(outside, dir))
	require.Contains(t, l.denies(1, completed), `it needs a.md and d/a.md, which are missing or empty in `+l.project+
		`. a.md leads out of it, and does not count. d/a.md leads out of it, and does not count`)
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Symlink(filepath.Join(l.project, "real.md"), file))
	l.write("d/a.md", "x")
	l.allows(1, completed)
}

// The person is told of a list that is empty, or is not the one that a gate has seen, and the line has the count.
func TestAListThatHasChangedIsTold(t *testing.T) {
	const file = `{"fsm": 2, "steps": [{"id": 1, "subject": "List", "check": "test -s list"},
		{"id": 2, "subject": "Migrate", "blockedBy": [1], "each": {"lines": "list"}, "do": [{"id": 1, "subject": "Change {item}"}]}]}`
	for name, c := range map[string]struct{ list, told, why string }{
		"the same": {"a\nb", "", "for 2 items"},
		"other":    {"a", `list has changed since #1 was completed: #2 "Migrate" is done for 1 item of it`, "for 1 item"},
		"empty":    {"\n", `list has changed since #1 was completed: #2 "Migrate" is done for no items of it`, "for no items"},
	} {
		t.Run(name, func(t *testing.T) {
			l := ofSpec(t, file)
			l.write("list", "a\nb")
			require.True(t, l.end(1, "").Allowed())
			l.write("list", c.list)
			v := l.do(2, inProgress)
			require.True(t, v.Allowed(), "%+v", v)
			assert.EqualValues(t, c.told, v.Trouble)
			for id := int64(3); l.state().Step(id) != nil; id++ {
				l.end(id, "")
			}
			require.True(t, l.end(2, "").Allowed())
			about := slices.DeleteFunc(l.state().About(2), func(e state.Evidence) bool { return e.Verdict != state.Allow })
			assert.Equal(t, c.why, about[len(about)-1].Why)
		})
	}
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Migrate", "each": {"run": "true"}}]}`)
	assert.EqualValues(t, `#1 "Migrate" has nothing to be done for: its command has no lines`, l.do(1, completed).Trouble)
}

// TestWhatIsWatchedAndNotKnownIsTold: a check that names too many files passes, and the person is told that nothing is known of them.
func TestWhatIsWatchedAndNotKnownIsTold(t *testing.T) {
	l := hydrated(t, `{"subject": "Test", "check": {"run": "true", "watch": ["*.txt"]}}`)
	dir := l.state().Step(1).Workflow.Dir
	for i := range 1001 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".txt"), []byte("x"), 0o644))
	}
	v := l.do(1, completed)
	require.True(t, v.Allowed(), v.Reason)
	require.Contains(t, v.Beside,
		`#1 "Test" is completed, and of the files on which its check stands nothing is known: more than 1000 files match`)
}

// TestWatchedFilesAreComparedWithTheLastStart: not with those of an earlier round, and a step that is opened again and not started
// with what was there when it was opened.
func TestWatchedFilesAreComparedWithTheLastStart(t *testing.T) {
	l := hydrated(t, `{"subject": "Test", "check": {"run": "true", "watch": ["a_test.go"]}}`,
		`{"subject": "Review", "blockedBy": [1], "outcomes": {"ok": {}, "again": {"back": 1, "max": 3}}}`)
	l.write("a_test.go", "1\n2\n3\n")
	l.begin(1)
	l.allows(1, completed)
	l.write("a_test.go", "1\n2\n")
	l.end(2, "again")
	l.allows(1, completed) // it was so when it was opened again
	l.end(2, "again")
	l.write("a_test.go", "1\n")
	const shorter = "a_test.go shorter; files: 1 before, 1 now; lines: 2 before, 1 now"
	require.Contains(t, l.do(1, completed).Beside, shorter)

	l = ofSpec(t, `[{"id": 1, "subject": "Test", "check": {"run": "true", "watch": ["a_test.go"]}, "approval": "Is it tested?"}]`,
		"a_test.go", "1\n2\n")
	l.begin(1)
	l.write("a_test.go", "1\n")
	v := l.do(1, completed)
	require.Contains(t, v.Reason, "Is it tested?\n(Yes completes the step #1 \"Test\" of release.)\n(Of the files on which its check stands: "+
		shorter+".)\n")
	require.Equal(t, "Is it tested?\n(Of the files on which its check stands: "+shorter+".)", l.lastLine().Question)
}

// decided makes a decision about a step that was made that long ago.
func decided(d time.Duration, step int64, to string, v state.Decision) func(*state.State) {
	return func(s *state.State) { ago(s, d, step, to, v) }
}

// running makes the check of the first step run, or wait.
func running(waiting bool) func(*state.State) {
	return func(s *state.State) { s.Pending = []state.Pending{{Step: 1, Waiting: waiting}} }
}

// TestACallWaitsForItsStep as long as the step may be in progress soon.
func TestACallWaitsForItsStep(t *testing.T) {
	opened := func(s *state.State) { s.Step(1).Status, s.Step(1).Outcome = pending, "" }
	for name, w := range map[string]struct {
		waited time.Duration
		status string // of the step
		change []func(*state.State)
		want   bool
	}{
		"nothing is on record yet":      {grace - 1, pending, nil, true},
		"nothing is on record":          {grace, pending, nil, false},
		"it is not a call of a message": {0, pending, nil, false},
		"its start was let through":     {patience, pending, all(decided(time.Second, 2, inProgress, state.Allow)), true},
		"for too long":                  {patience + 1, pending, all(decided(time.Second, 2, inProgress, state.Allow)), false},
		"and never came":                {grace, pending, all(decided(patience, 2, inProgress, state.Allow)), false},
		"before the clock":              {grace, pending, all(decided(-state.ClockSkew, 2, inProgress, state.Allow)), false},
		"it was completed":              {grace, pending, all(decided(0, 2, completed, state.Allow)), false},
		"it was refused":                {grace, pending, all(decided(0, 2, inProgress, state.Deny)), false},
		"a person is asked":             {grace, pending, all(decided(0, 2, inProgress, state.Ask)), false},
		"it is in progress":             {grace, inProgress, all(decided(0, 2, inProgress, state.Allow)), false},
		"it is done":                    {0, completed, all(func(s *state.State) { s.Step(2).Outcome = machine.Done }), false},
		"it waits":                      {0, pending, all(opened), false},
		"it waits again":                {grace, pending, all(opened, decided(0, 2, inProgress, state.Allow)), false},
		"for one that is completed now": {0, pending, all(opened, running(false)), true},
	} {
		s := stateOf(stepLine{id: 1, status: completed, passed: true}, stepLine{id: 2, status: w.status, after: ids(1)})
		c := &call{Frame: &Frame{}, update: Update{Use: "u"}, begun: s.Time.Add(-w.waited)}
		for _, change := range w.change {
			change(s)
		}
		if name == "it is not a call of a message" {
			c.update.Use = ""
		}
		assert.Equal(t, w.want, c.mayStart(s, []owner{{s.Step(2), "Bash"}}), name)
	}
}

func all(changes ...func(*state.State)) []func(*state.State) { return changes }

// linkedTree makes a linked work tree: its .git names a directory of a repository, which names the repository and the tree.
func linkedTree(t *testing.T, root, pointer, git, named string) string {
	for path, text := range map[string]string{filepath.Join(root, ".git"): "gitdir: " + pointer, filepath.Join(pointer, "commondir"): git,
		filepath.Join(pointer, "gitdir"): filepath.Join(named, ".git"), filepath.Join(root, "app", "x"): "", filepath.Join(root, "out"): "x"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o644))
	}
	return root
}
