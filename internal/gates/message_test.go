package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

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
		v := c.Update(c.t.Context(), Update{Task: message.Itoa(id), Status: status, Use: use})
		assert.Equal(c.t, want, v.Decision, "#%d %s: %s", id, status, v.Reason)
		if v.Allowed() {
			c.mu.Lock() // the client changes one task at a time
			defer c.mu.Unlock()
			c.set(id, status)
		}
	})
}

// TestCallsOfOneMessageWaitForEachOther: complete a step and start the next, in one message,
// three in a row, in any order, with a check in between.
func TestCallsOfOneMessageWaitForEachOther(t *testing.T) {
	c := &fakeClient{list: hydrated(t, workflow.Step{Check: &workflow.Check{Run: "sleep 0.4", Timeout: 20}},
		workflow.Step{BlockedBy: []int64{1}},
		workflow.Step{BlockedBy: []int64{2}}, workflow.Step{BlockedBy: []int64{3}})}
	c.call(4, workflow.InProgress, state.Allow)
	c.call(3, workflow.Completed, state.Allow)
	c.call(2, workflow.Completed, state.Allow)
	c.call(1, workflow.Completed, state.Allow)
	c.calls.Wait()
	s := c.state()
	require.Equal(t, 3, s.DoneCount())
	require.Equal(t, workflow.InProgress, s.Step(4).Status)
	require.Empty(t, s.Pending)
	for _, e := range s.Evidence {
		require.True(t, e.Lets(), "no refusal is on record")
	}
}

// TestEnforcementOfAStartAndACompletion: a step is completed, and the next one started and completed, in any order of the hooks, and
// while the check of the latter runs.
func TestEnforcementOfAStartAndACompletion(t *testing.T) {
	type made struct {
		id     int64
		status string
	}
	message := []made{{1, workflow.Completed}, {2, workflow.InProgress}, {2, workflow.Completed}}
	for _, slow := range []string{"true", "sleep 0.4"} {
		for _, outcomes := range []bool{false, true} {
			for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				t.Run(fmt.Sprint(slow, outcomes, order), func(t *testing.T) {
					t.Parallel()
					first, second := workflow.Step{Check: &workflow.Check{Run: slow, Timeout: 20}}, workflow.Step{BlockedBy: []int64{1},
						Check: &workflow.Check{Run: slow, Timeout: 20}}
					if outcomes {
						second.Outcomes = []workflow.Outcome{{Name: "done"}, {Name: "again", Back: 1, Max: 1}}
					}
					c := &fakeClient{list: hydrated(t, first, second)}
					for _, n := range order {
						c.call(message[n].id, message[n].status, state.Allow)
					}
					c.calls.Wait()
					s := c.state()
					require.Equal(t, 2, s.DoneCount())
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

// TestAStartOfAStepThatIsOpenAgain: what has completed it was another round.
func TestAStartOfAStepThatIsOpenAgain(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1},
		Outcomes: []workflow.Outcome{{Name: "done"}, {Name: "again", Back: 1, Max: 1}}})
	l.Began = time.Now()
	require.True(t, l.end(1, "").Allowed())
	require.True(t, l.end(2, "again").Allowed())
	require.True(t, l.Update(t.Context(), Update{Task: "1", Status: workflow.InProgress, Use: "toolu_1"}).Allowed())
}

// TestAWaitEndsWithTheDenialOfTheOther: what does not go through is not waited for.
func TestAWaitEndsWithTheDenialOfTheOther(t *testing.T) {
	c := &fakeClient{list: hydrated(t, workflow.Step{Check: &workflow.Check{Run: "sleep 0.4; exit 1", Timeout: 20}},
		workflow.Step{BlockedBy: []int64{1}},
		workflow.Step{BlockedBy: []int64{2}})}
	c.call(3, workflow.InProgress, state.Deny)
	c.call(2, workflow.Completed, state.Deny)
	c.call(1, workflow.Completed, state.Deny)
	c.calls.Wait()
	require.Empty(t, c.state().Pending)
}

func TestWorthWaiting(t *testing.T) {
	s := stateOf(stepLine{id: 1, status: workflow.Pending}, stepLine{id: 2, status: workflow.Pending, after: []int64{1}})
	for name, w := range map[string]struct {
		waited time.Duration
		use    string
		state  func(*state.State)
		want   bool
	}{
		"nothing is on record yet":      {waited: grace - 1, use: "u", want: true},
		"nothing is on record":          {waited: grace, use: "u"},
		"it is not a call of a message": {waited: 0},
		"its check is running": {waited: patience - 1, use: "u",
			state: func(s *state.State) { s.Pending = []state.Pending{{Step: 1}} }, want: true},
		"it waits, too": {waited: grace, use: "u",
			state: func(s *state.State) { s.Pending = []state.Pending{{Step: 1, Waiting: true}} }, want: true},
		"its check is running for too long": {waited: patience, use: "u", state: func(s *state.State) { s.Pending = []state.Pending{{Step: 1}} }},
		"it was let through": {waited: grace, use: "u",
			state: func(s *state.State) { ago(s, time.Second, 1, workflow.Completed, state.Allow) }, want: true},
		"it was let through and never came": {waited: grace, use: "u",
			state: func(s *state.State) { ago(s, time.Minute, 1, workflow.Completed, state.Allow) }},
		"it was let through before the clock": {waited: grace, use: "u",
			state: func(s *state.State) { ago(s, -time.Hour, 1, workflow.Completed, state.Allow) }},
		"a person is asked": {waited: grace, use: "u",
			state: func(s *state.State) { ago(s, 0, 1, workflow.Completed, state.Ask) }},
		"it was refused": {waited: grace, use: "u",
			state: func(s *state.State) { ago(s, 0, 1, workflow.Completed, state.Deny) }},
	} {
		t.Run(name, func(t *testing.T) {
			now := *s
			if w.state != nil {
				w.state(&now)
			}
			c := &call{Frame: &Frame{}, update: Update{Use: w.use}, begun: now.Time.Add(-w.waited)}
			require.Equal(t, w.want, c.isWorthWaiting(&now, now.Step(2)))
		})
	}
}

// TestARefusedApprovalIsNoYes: the file is completed by a script afterwards.
func TestARefusedApprovalIsNoYes(t *testing.T) {
	l := hydrated(t, workflow.Step{Approval: "Publish?"}, workflow.Step{BlockedBy: []int64{1}})
	for n, want := range []string{"\nWithout a yes ", "\nWithout a yes ", "\nThis was asked 3 times, and nobody said yes. Stop trying. ",
		"\nThis was asked 4 times"} {
		v := l.ask(1, workflow.Completed)
		require.Equal(t, state.Ask, v.Decision)
		require.Contains(t, v.Reason, want, n)
	}
	l.set(1, workflow.Completed)
	require.False(t, l.state().Step(1).Done())
	require.Contains(t, l.denies2(2, workflow.InProgress), `#1 "Step 1" was completed without the approval that it needs`)
	l.set(1, workflow.InProgress)
	require.Equal(t, state.Ask, l.ask(1, workflow.Completed).Decision)
	require.Equal(t, Verdict{Step: 1}, l.Completed(t.Context(), Update{Task: "1", Status: workflow.Completed}))
	l.set(1, workflow.Completed)
	l.allows(2, workflow.InProgress)
}

// TestAnOldQuestionIsNoYes: after the question the step was refused for another reason. If the
// fakeClient then completes it without a hook before, nobody has been asked about that.
func TestAnOldQuestionIsNoYes(t *testing.T) {
	l := hydrated(t, workflow.Step{Approval: "Publish?", Produces: []string{"out"}})
	l.write("out", "x")
	require.Equal(t, state.Ask, l.ask(1, workflow.Completed).Decision)
	require.NoError(t, os.Remove(filepath.Join(l.project, "out")))
	l.denies(1, workflow.Completed)
	l.write("out", "x")
	v := l.Completed(t.Context(), Update{Task: "1", Status: workflow.Completed})
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, "needs the approval of a person, who cannot be asked here")
}

// denies2 is denies for a step that is denied because of another one.
func (l *list) denies2(id int64, status string) string {
	l.t.Helper()
	v := l.do(id, status)
	require.Equal(l.t, state.Deny, v.Decision, "%+v", v)
	return v.Reason
}

// TestGatesLookInTheWorkTreeOfTheAgent: a file is there, and a check fails, in the linked
// work tree in which the agent is.
func TestGatesLookInTheWorkTreeOfTheAgent(t *testing.T) {
	l := hydrated(t, workflow.Step{Produces: []string{"out"}},
		workflow.Step{Check: &workflow.Check{Run: "test ! -e broken", Timeout: 20, Dir: "app"}})
	tree := func(root, git, pointer string) string {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "app"), 0o755))
		if pointer != "" {
			require.NoError(t, os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: "+pointer+"\n"), 0o644))
			require.NoError(t, os.MkdirAll(pointer, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(pointer, "commondir"), []byte(git+"\n"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(pointer, "gitdir"), []byte(filepath.Join(root, ".git")+"\n"), 0o644))
		}
		return root
	}
	root := filepath.Dir(l.project)
	git := filepath.Join(l.project, ".git")
	require.NoError(t, os.MkdirAll(git, 0o755))
	tree(l.project, "", "")
	linked := tree(filepath.Join(root, "linked"), "../..", filepath.Join(git, "worktrees", "linked"))
	other := tree(filepath.Join(root, "other"), "../..", filepath.Join(root, "elsewhere", ".git", "worktrees", "other"))
	// A .git file names the repository, which does not know that tree.
	forged := tree(filepath.Join(root, "forged"), git, filepath.Join(root, "made", "worktrees", "forged"))
	borrowed := tree(filepath.Join(root, "borrowed"), "../..", filepath.Join(git, "worktrees", "borrowed"))
	require.NoError(t, os.WriteFile(filepath.Join(git, "worktrees", "borrowed", "gitdir"), []byte(filepath.Join(linked, ".git")+"\n"), 0o644))
	for _, dir := range []string{linked, forged, borrowed} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "out"), []byte("x"), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(linked, "app", "broken"), nil, 0o644))
	in := func(id int64, cwd string) Verdict {
		return l.Update(t.Context(), Update{Task: message.Itoa(id), Status: workflow.Completed, Cwd: cwd})
	}
	for _, cwd := range []string{"", l.project, root, other, forged, borrowed, filepath.Join(root, "gone")} {
		v := in(1, cwd)
		require.Equal(t, state.Deny, v.Decision, cwd)
		require.Contains(t, v.Reason, "it needs out, which is missing or empty in "+l.project)
	}
	last := func() state.Evidence { all := l.state().Evidence; return all[len(all)-1] }
	require.Empty(t, last().Tree)
	require.Equal(t, state.Allow, in(1, filepath.Join(linked, "app")).Decision)
	require.Equal(t, linked, last().Tree)
	require.Equal(t, state.Allow, in(2, l.project).Decision)
	require.Empty(t, last().Tree)
	v := in(2, linked)
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, "\nIt ran in "+filepath.Join(linked, "app"))
	require.Equal(t, filepath.Join(linked, "app"), last().Check.Dir)
	require.Equal(t, linked, last().Tree)
}

// TestCheckEnv: a check gets the variables that it names, and no others.
func TestCheckEnv(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: `test -z "$KEY" && test "$KEPT" = yes`, Timeout: 20,
		Env: &[]string{"PATH", "KEPT"}}},
		workflow.Step{Check: &workflow.Check{Run: `test -n "$KEY"`, Timeout: 20}},
		workflow.Step{Check: &workflow.Check{Run: `test -z "$KEY$KEPT"`, Timeout: 20, Env: &[]string{}}})
	l.Env = append(os.Environ(), "KEY=secret", "KEPT=yes")
	for id := range int64(3) {
		l.allows(id+1, workflow.Completed)
	}
}
