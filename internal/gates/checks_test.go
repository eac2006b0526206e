package gates

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// await waits until a file of the project exists.
func (l *list) await(name string) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { _, err := os.Stat(filepath.Join(l.project, name)); return err == nil }, 20*time.Second,
		time.Millisecond)
}

// waitingCheck returns a check that creates the file started and waits for the file until.
func waitingCheck(started, until string) *workflow.Check {
	return &workflow.Check{Run: fmt.Sprintf("echo %[1]s says %[1]s; touch %[1]s; until test -f %[2]s; do sleep 0.01; done", started,
		until), Timeout: 30}
}

// Each check waits for the other to run. So no lock is held while a check runs; and the
// outputs and records of the two are kept apart.
func TestChecksOfTwoStepsRunAtTheSameTime(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: waitingCheck("a", "b")}, workflow.Step{Check: waitingCheck("b", "a")})
	l.set(1, workflow.InProgress)
	l.set(2, workflow.InProgress)
	var all sync.WaitGroup
	for id := range int64(2) {
		all.Go(func() {
			v := l.ask(id+1, workflow.Completed)
			assert.True(t, v.Allowed(), v.Reason)
			l.set(id+1, workflow.Completed)
		})
	}
	all.Wait()
	s := l.state()
	require.Empty(t, s.Pending)
	require.Equal(t, 2, s.DoneCount())
	for _, e := range s.Evidence {
		if e.Repeats() {
			continue
		}
		name := string(rune('a' + e.Step - 1))
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(name+" says "+name+"\n"))), e.Check.SHA256)
	}
}

// While a check runs, its step is not done. Neither another call for the same step nor a
// lock that cannot be had changes that.
func TestPendingIsNotDone(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: waitingCheck("begun", "go")}, workflow.Step{BlockedBy: []int64{1}}, workflow.Step{})
	l.allows(1, workflow.InProgress)
	verdict := make(chan Verdict)
	go func() { verdict <- l.ask(1, workflow.Completed) }()
	l.await("begun")

	require.Contains(t, l.denies(1, workflow.Completed), `is being completed by another call, whose check is running: wait until it ends`)
	require.Contains(t, l.denies(1, workflow.Pending), `wait until it ends`)
	for range state.MaxRepeats {
		assert.Regexp(t, `wait until it ends$`, l.denies(1, workflow.Completed), "a person is not needed for that")
	}
	require.Contains(t, l.denies(2, workflow.InProgress), `The check of #1 "Step 1" is running in another call`)
	l.allows(3, workflow.InProgress)
	require.Equal(t, "checking", l.state().Word(l.state().Step(1)))

	held, err := l.List.Open(t.Context())
	require.NoError(t, err)
	impatient := *l
	frame := *l.Frame
	frame.List.Wait = time.Millisecond
	impatient.Frame = &frame
	require.Contains(t, impatient.denies(1, workflow.Completed), "wait until it ends")
	require.Contains(t, impatient.denies(2, workflow.InProgress), "is running in another call")
	require.Equal(t, Verdict{Decision: state.Allow, Step: 3, Why: "in order"}, impatient.ask(3, workflow.Completed),
		"only the record is delayed")
	require.Equal(t, state.Deny, impatient.ask(3, workflow.Deleted).Decision)
	require.NoError(t, held.Close())

	l.write("go", "")
	v := <-verdict
	require.True(t, v.Allowed(), v.Reason)
	l.set(1, workflow.Completed)
	l.allows(2, workflow.InProgress)
	require.Empty(t, l.state().Pending)
}

// A blocker may be reopened while the check of a step is running.
func TestTheOrderIsEvaluatedAgainAfterACheck(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}, Check: waitingCheck("begun", "go")})
	l.allows(1, workflow.Completed)
	verdict := make(chan Verdict)
	go func() { verdict <- l.ask(2, workflow.Completed) }()
	l.await("begun")
	_, err := l.Reopen(t.Context(), 1, "it was wrong", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	l.write("go", "")
	v := <-verdict
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, `#1 "Step 1" must be done first`)
}

// While one call runs the check of an unverified step, other calls do not.
func TestAnUnverifiedStepIsCheckedByOneCall(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: waitingCheck("begun", "go")}, workflow.Step{}, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
	l.set(1, workflow.Completed)
	verdict := make(chan Verdict)
	go func() { verdict <- l.ask(2, workflow.InProgress) }()
	l.await("begun")
	l.allows(3, workflow.InProgress)
	require.Contains(t, l.denies(4, workflow.InProgress), `The check of #1 "Step 1" is running in another call`)
	l.set(1, workflow.InProgress) // reopened by another program
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
		l := hydrated(t, workflow.Step{})
		s, err := txn.StateDir(l.List.Dir)
		require.NoError(t, err)
		hydrate(t, l.List.Dir, l.project, []workflow.Step{{ID: 5,
			Check: &workflow.Check{Run: "chmod 0777 " + s + "; exit " + code, Timeout: 10}}})
		v := l.ask(5, workflow.Completed)
		require.Equal(t, decision, v.Decision)
		require.Equal(t, code == "0", strings.Contains(v.Trouble, "the decision about #5 is not on record: "), v.Trouble)
	}
}

func TestRecordsOfDeadProcessesAreIgnored(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{}, workflow.Step{}, workflow.Step{})
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	mine := state.StartOf(os.Getpid())
	require.NotEmpty(t, mine)
	text, err := json.Marshal([]state.Pending{
		{Step: 1, PID: dead.Process.Pid, Start: mine},
		{Step: 2, PID: os.Getpid(), Start: "of another process with this id"},
		{Step: 3, PID: os.Getpid(), Start: mine},
		{Step: 4, PID: -1, Start: mine},
	})
	require.NoError(t, err)
	dir, err := l.List.Open(t.Context())
	require.NoError(t, err)
	require.NoError(t, dir.WriteState(state.PendingFile, text))
	require.NoError(t, dir.Close())
	for id, held := range map[int64]bool{1: false, 2: false, 3: true, 4: false} {
		require.Equal(t, !held, l.do(id, workflow.Completed).Allowed(), id)
	}
}

func TestAnInterruptedCheckDenies(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: waitingCheck("begun", "never")})
	interrupted, interrupt := context.WithCancel(t.Context())
	l.Interruptible = func(context.Context) (context.Context, context.CancelFunc) { return interrupted, func() {} }
	go func() {
		l.await("begun")
		interrupt()
	}()
	require.Equal(t, `#1 "Step 1" is not completed: its check was interrupted before it ended: `+waitingCheck("begun", "never").Run+
		"\nComplete the step again to run it anew", l.denies(1, workflow.Completed))
	require.Empty(t, l.state().Pending)
	require.Equal(t, state.Deny, l.state().Evidence[0].Verdict)
	require.Equal(t, -1, l.state().Evidence[0].Check.Exit)
}

// TestAnInterruptedCheckLeadsNowhere: only a check that ended can make a step end as failed.
func TestAnInterruptedCheckLeadsNowhere(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}, Check: waitingCheck("begun", "never"),
		Outcomes: []workflow.Outcome{{Name: "failed", Back: 1, Max: 1}}})
	require.True(t, l.end(1, "").Allowed())
	interrupted, interrupt := context.WithCancel(t.Context())
	l.Interruptible = func(context.Context) (context.Context, context.CancelFunc) { return interrupted, func() {} }
	go func() {
		l.await("begun")
		interrupt()
	}()
	require.Contains(t, l.end(2, "").Reason, "its check was interrupted")
	require.True(t, l.state().Step(1).Done(), "it is not open again")
	require.Equal(t, 1, l.state().Step(2).Round)
}

func TestACheckIsKilledWithItsChildrenAtItsLimit(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: "sh -c 'echo $$ > child.tmp; mv child.tmp child; exec sleep 300' & wait",
		Timeout: 0.3}})
	for len(l.denies(1, workflow.Completed)) > 0 {
		if _, err := os.Stat(filepath.Join(l.project, "child")); err == nil {
			break // on a busy machine the limit may come before the child
		}
	}
	pid, err := os.ReadFile(filepath.Join(l.project, "child"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := exec.Command("ps", "-o", "stat=", "-p", strings.TrimSpace(string(pid))).Output()
		return err != nil || strings.HasPrefix(strings.TrimSpace(string(stat)), "Z")
	}, 10*time.Second, 10*time.Millisecond)
}

func TestTheSameDenialThreeTimes(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: "cat out 2>/dev/null; exit 1", Timeout: 10}},
		workflow.Step{BlockedBy: []int64{1}}, workflow.Step{})
	const repeated = "This is the same refusal for the "
	require.NotContains(t, l.denies(1, workflow.Completed), repeated)
	require.NotContains(t, l.denies(1, workflow.Completed), repeated)
	require.NotContains(t, l.denies(2, workflow.Completed), repeated, "a denial of another step")
	require.Contains(t, l.denies(1, workflow.Completed), repeated+"3rd time: stop trying, and ask the person what to do")
	require.Contains(t, l.denies(1, workflow.Completed), repeated+"4th time")
	l.write("out", "another output, such as the time")
	require.Contains(t, l.denies(1, workflow.Completed), repeated+"5th time")
	l.allows(3, workflow.InProgress)
	require.NotContains(t, l.denies(1, workflow.Completed), repeated, "something has changed")

	l = hydrated(t, workflow.Step{Outcomes: []workflow.Outcome{{Name: "yes"}, {Name: "no"}}})
	for _, word := range []string{"", "maybe", "", "perhaps", "perhaps"} {
		require.NotContains(t, l.end(1, word).Reason, repeated, "the reasons differ")
	}
	require.Contains(t, l.end(1, "perhaps").Reason, repeated)
}

func TestChecksThatExceedTheLimitOfTheCall(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: "true", Timeout: 60}},
		workflow.Step{Check: &workflow.Check{Run: "true", Timeout: 60}},
		workflow.Step{Check: &workflow.Check{Run: "true", Timeout: 60}})
	l.Limit = callMargin + 50*time.Second
	l.set(1, workflow.Completed)
	l.set(2, workflow.Completed)
	require.Contains(t, l.denies(3, workflow.InProgress),
		`the check of #1 "Step 1" may take 1m0s, but the time limit of the hook that runs it leaves only`)
	l.Limit = callMargin + 100*time.Second // what is left when the first has ended decides about the second
	l.allows(3, workflow.InProgress)
	l.allows(3, workflow.Completed)
}

func TestACheckRunsInItsDirectory(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: `test "$(pwd -P)" = "$(cd "$P/app" && pwd -P)" || exit 9; read x && exit 8; ` +
		`echo out; echo err >&2; exit 7`,
		Timeout: 20, Dir: "app"}})
	l.Env = append(os.Environ(), "P="+l.project)
	l.write("app/x", "")
	require.Contains(t, l.denies(1, workflow.Completed), "(exit status 7): ")
	require.Contains(t, l.denies(1, workflow.Completed), "\nout\nerr\n")
}

// TestACheckThatCannotRunSendsNothingBack: it is no failure of the work, and the person is told what is missing.
func TestACheckThatCannotRunSendsNothingBack(t *testing.T) {
	for check, why := range map[string]string{
		`"no-such-program --x"`:               "no-such-program",
		`"./data.txt"`:                        "data.txt",
		`{"run": "true", "dir": "not/there"}`: "not/there",
	} {
		l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Build", "check": `+check+`, "outcomes": {"failed": {"back": 1, "max": 1}}}]}`)
		require.NoError(t, os.WriteFile(filepath.Join(l.project, "data.txt"), nil, 0o644))
		for range 2 { // or the one round would be used
			v := l.end(1, "")
			require.Equal(t, state.Deny, v.Decision, "%s: %+v", check, v)
			require.Nil(t, v.Turn)
			require.Contains(t, v.Reason, "cannot run")
			require.Contains(t, v.Reason, why)
			require.Contains(t, v.Trouble, `the check of #1 "Build" cannot run`)
			require.Contains(t, v.Trouble, why)
		}
		require.Equal(t, 1, l.state().Step(1).Round)
	}
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Build", "check": "exit 1", "outcomes": {"failed": {"back": 1, "max": 1}}}]}`)
	v := l.end(1, "")
	require.NotNil(t, v.Turn)
	require.Empty(t, v.Trouble)
}
