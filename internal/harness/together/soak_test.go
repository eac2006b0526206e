//go:build together

package together_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// soak is a list on which everything happens at once. What each process reports is kept,
// and compared at the end with the list's history and the steps' evidence.
type soak struct {
	*world
	ledger *sharedLedger
	over   chan struct{} // closed when the client has done its work

	mu       sync.Mutex
	outcomes []outcome
	undone   []int64 // numbers of undone hydrations
	denied   map[string]bool
	asked    map[string]bool // agents that asked the gates
	counts   map[string]int
}

// TestEverythingAtOnce lets hydrations, undos, steps, recoveries and the client's own
// library work on one list, with kills, signals, clocks that are wrong by years and full
// disks, for the time in FSMTX_TOGETHER (default 10s).
func TestEverythingAtOnce(t *testing.T) {
	launch, end := nodeClient(t), time.Now().Add(span(t))
	seed, totals := uint64(time.Now().UnixNano()), map[string]int{}
	for n := uint64(0); n == 0 || time.Now().Before(end) && !t.Failed(); n++ {
		t.Run("round", func(t *testing.T) {
			s := &soak{world: worldIn(t, t.TempDir()), ledger: newLedger(), over: make(chan struct{}), denied: map[string]bool{},
				asked: map[string]bool{}, counts: totals}
			s.run(t, launch, seed+n)
			assert.Empty(t, s.violations(t), "seed %d", seed+n)
		})
		totals["rounds"]++
	}
	for _, what := range worlds.Names(totals) {
		fmt.Printf("%7d %s\n", totals[what], what)
	}
}

func (s *soak) run(t *testing.T, launch launcher, seed uint64) {
	for n := range manualTasks {
		s.addManualTask(t, n+1)
	}
	shared := s.createShared(t, launch, s.ledger)
	var all sync.WaitGroup
	actor := func(stream uint64, act func(t *testing.T, rng *rand.Rand)) {
		rng := rand.New(rand.NewPCG(seed, stream))
		all.Go(func() {
			for !s.isOver() {
				act(t, rng)
			}
		})
	}
	for n := range uint64(3) {
		actor(10+n, s.hydrate)
	}
	actor(20, s.undo)
	actor(30, s.step)
	actor(40, s.recoverOnce)
	client := &worker{
		running: s.startClient(t, launch), rng: rand.New(rand.NewPCG(seed, 1)), ledger: s.ledger, shared: shared,
		first: true, dies: true, staleLocks: true,
	}
	client.work(60)
	close(s.over)
	all.Wait()
	s.world.recover(t)
	s.atOtherTimes(t, client.rng)
	s.count("tasks created by the client", len(s.ledger.given))
}

func (s *soak) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func (s *soak) count(what string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what] += n
}

// wholeHistory is a length of the history that no round exceeds.
const wholeHistory = 1000

// hydrate calls a hook: undisturbed, killed, on a full disk, or with a wrong clock.
func (s *soak) hydrate(t *testing.T, rng *rand.Rand) {
	c := randomCallBesideClients(rng)
	c.history = wholeHistory
	how := ""
	switch p := rng.IntN(10); {
	case p < 2:
		c.script = killedAtRandom(rng)
	case p < 3:
		c.script, how = &script{FullAt: 1 + rng.IntN(80)}, "hydrations with a full disk"
	case p < 5:
		// Less than the age at which a lock is stale: to a clock that is further off all locks
		// are stale.
		c.clock, c.timeout = sinceStart()+time.Duration(rng.IntN(6)-3)*time.Second, 2*time.Second
		how = "hydrations with a clock that is seconds off"
	}
	h := s.start(t, c)
	h.send()
	if c.script == nil && c.clock == 0 && rng.IntN(3) == 0 {
		sendSoon(h.cmd.Process, rng)
	}
	o := h.wait(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes = append(s.outcomes, o)
	if how != "" {
		s.counts[how]++
	}
	switch {
	case o.signal != 0:
		s.counts["hydrations killed"]++
	case o.code != 0:
		s.counts["hydrations refused or rolled back"]++
	case len(o.created) > 0:
		s.counts["hydrations done"]++
	}
}

// sinceStart is what call.clock is for the real time.
func sinceStart() time.Duration { return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) }

// atOtherTimes hydrates with clocks that are wrong by years, while no other process runs.
func (s *soak) atOtherTimes(t *testing.T, rng *rand.Rand) {
	for range 4 {
		years := time.Duration(1+rng.IntN(60)) * 365 * 24 * time.Hour
		o := s.world.run(t, call{skill: "three", clock: years, history: wholeHistory})
		s.outcomes = append(s.outcomes, o)
		s.count("hydrations with a clock that is years off", 1)
	}
}

// sendSoon sends a signal at a random moment of a short run.
func sendSoon(p *os.Process, rng *rand.Rand) {
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	moment := time.NewTimer(time.Duration(rng.Int64N(int64(60 * time.Millisecond))))
	<-moment.C
	_ = p.Signal(signals[rng.IntN(len(signals))])
}

// program runs fsmtx. In one of oneOf calls, at random, it sends it a signal.
func (s *soak) program(t *testing.T, rng *rand.Rand, oneOf int, stdin string, args ...string) (stdout string, code int) {
	c := exec.Command(program.Path(t), args...)
	c.Env = []string{"HOME=" + s.Dir, raceOptions}
	var out bytes.Buffer
	c.Stdin, c.Stdout = strings.NewReader(stdin), &out
	if err := c.Start(); err != nil {
		t.Error(err)
		return "", -1
	}
	if rng.IntN(oneOf) == 0 {
		sendSoon(c.Process, rng)
	}
	err := c.Wait()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.Sys().(syscall.WaitStatus).Signaled() {
		s.count(args[0]+" killed", 1)
	} else if err != nil && !ok {
		t.Error(err)
	}
	return out.String(), c.ProcessState.ExitCode()
}

// undo undoes the last hydration while no client deletes: a client that deletes may lower
// the high-water mark, and then give the number of a task again that the undo removes.
func (s *soak) undo(t *testing.T, rng *rand.Rand) {
	args := []string{"undo", "--list", worlds.ListID, "--json"}
	if rng.IntN(2) == 0 {
		args = append(args, "--force")
	}
	s.ledger.oneDelete.Lock()
	out, code := s.program(t, rng, 4, "", args...)
	s.ledger.oneDelete.Unlock()
	if code != 0 {
		return
	}
	var did struct {
		Hydration struct {
			Number int64 `json:"number"`
		} `json:"hydration"`
	}
	if err := json.Unmarshal([]byte(out), &did); err != nil {
		t.Errorf("undo printed %q: %v", out, err)
	}
	s.count("hydrations taken back", 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undone = append(s.undone, did.Hydration.Number)
}

// step asks the gates about a random task, each time as another agent.
func (s *soak) step(t *testing.T, rng *rand.Rand) {
	names := s.names()
	if len(names) == 0 {
		return
	}
	task := worlds.TaskNumber(names[rng.IntN(len(names))])
	s.mu.Lock()
	agent := "agent-" + strconv.Itoa(len(s.asked))
	s.asked[agent] = true
	s.mu.Unlock()
	event := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":%q,"cwd":%q,"tool_name":"TaskUpdate","agent_id":%q,`+
		`"tool_input":{"taskId":"%d","status":%q}}`,
		worlds.ListID, s.Dir, agent, task, []string{"in_progress", "completed"}[rng.IntN(2)])
	switch _, code := s.program(t, rng, 6, event, "hook"); code {
	case 0:
		s.count("steps let through", 1)
	case 2:
		s.count("steps refused", 1)
		s.mu.Lock()
		s.denied[agent] = true
		s.mu.Unlock()
	}
}

// recoverOnce runs fsmtx recover and fsmtx status.
func (s *soak) recoverOnce(t *testing.T, rng *rand.Rand) {
	_, _ = s.program(t, rng, 4, "", "recover", "--list", worlds.ListID)
	s.count("recoveries", 1)
	_, _ = s.program(t, rng, 1000, "", "status", "--list", worlds.ListID)
}

// entry is a change of the list as "fsmtx log --json" prints it.
type entry struct {
	Number  int64       `json:"number"`
	ID      string      `json:"id"`
	Created loggedTasks `json:"created"`
	Deleted loggedTasks `json:"deleted"`
	Undoes  int64       `json:"undoes"`
}

type loggedTasks []struct {
	ID string `json:"id"`
}

// names returns the sorted names of the tasks' files.
func (all loggedTasks) names() (names []string) {
	for _, t := range all {
		names = append(names, t.ID+".json")
	}
	slices.Sort(names)
	return names
}

// entries returns the history, oldest first.
func (s *soak) entries(t *testing.T) (all []entry) {
	out, code := s.program(t, rand.New(rand.NewPCG(0, 0)), 1<<40, "", "log", "--list", worlds.ListID, "--json")
	require.Zero(t, code, out)
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// violations compares the list, its history, the evidence and what the processes
// reported with one another. Each violation is one line.
func (s *soak) violations(t *testing.T) (found []string) {
	all := s.entries(t)
	after := s.Tasks(t)
	clients := &history{before: map[string]worlds.File{}, after: after, ledger: s.ledger.ledger}
	found = append(found, clients.lostWrites()...)
	found = append(found, s.notReplayed(all, after)...)
	found = append(found, s.unlikeTheHistory(all)...)
	found = append(found, s.unlikeTheEvidence(t)...)
	found = append(found, s.failed()...)
	found = append(found, s.leftovers(t)...)
	if out, code := s.program(t, rand.New(rand.NewPCG(0, 0)), 1<<40, "", "recover", "--list", worlds.ListID); code != 0 ||
		!strings.Contains(out, "clean") {
		found = append(found, "recover after a recovery: "+out)
	}
	s.counts["changes in the histories"] += len(all)
	return found
}

// notReplayed replays the history and returns what is inconsistent. The numbers must be
// consecutive. Each change must delete tasks that exist and create tasks that do not. No
// number may be given twice, not even to the client. The tasks at the end must be in the
// list, unless the client has deleted them.
func (s *soak) notReplayed(all []entry, after map[string]worlds.File) (found []string) {
	now, given := map[string]bool{}, map[string]bool{}
	for _, id := range s.ledger.given {
		given[worlds.TaskName(id)] = true
	}
	for i, e := range all {
		if e.Number != int64(i+1) {
			found = append(found, fmt.Sprintf("change %d of the history has the number %d", i+1, e.Number))
		}
		for _, name := range e.Deleted.names() {
			if !now[name] {
				found = append(found, fmt.Sprintf("change %d deleted %s, which was not there", e.Number, name))
			}
			delete(now, name)
		}
		for _, name := range e.Created.names() {
			if now[name] || e.Undoes == 0 && given[name] {
				found = append(found, fmt.Sprintf("change %d created %s, which was there before", e.Number, name))
			}
			now[name], given[name] = true, true
		}
	}
	h := &history{ledger: s.ledger.ledger}
	mayBeGone := h.deletedByClient()
	for name := range now {
		if _, there := after[name]; !there && !mayBeGone[name] {
			found = append(found, name+" is missing by the history")
		}
	}
	for name, f := range after {
		if v, err := parseTask(f); err == nil && v.Metadata.FSM != nil && !now[name] {
			found = append(found, name+" is in the list and not in the history")
		}
	}
	return found
}

// unlikeTheHistory compares the outcomes with the history. An acknowledged change must be in
// it once, a refused or rolled back one must not, and the others must come from processes
// that were killed.
func (s *soak) unlikeTheHistory(all []entry) (found []string) {
	open := map[string]int{} // entries by what they did
	undone := map[int64]bool{}
	key := func(created, deleted []string) string {
		return fmt.Sprint(slices.Sorted(slices.Values(created)), slices.Sorted(slices.Values(deleted)))
	}
	for _, e := range all {
		if e.Undoes != 0 {
			undone[e.Undoes] = true
			continue
		}
		open[key(e.Created.names(), e.Deleted.names())]++
	}
	unacknowledged := 0
	for _, o := range s.outcomes {
		switch k := key(o.created, o.deleted); {
		case !o.committed && (o.signal != 0 || strings.Contains(o.stderr, "unknown")):
			unacknowledged++
		case !o.committed || len(o.created)+len(o.deleted) == 0:
		case open[k] == 0:
			found = append(found, fmt.Sprintf("acknowledged and not in the history: %s", o))
		default:
			open[k]--
		}
	}
	left := 0
	for k, n := range open {
		if left += n; left > unacknowledged {
			found = append(found, fmt.Sprintf("in the history and of no process: %s", k))
		}
	}
	for _, n := range s.undone {
		if !undone[n] {
			found = append(found, fmt.Sprintf("hydration %d was taken back, and no change of the history says so", n))
		}
	}
	return found
}

// unlikeTheEvidence compares the refusals with the evidence. Each refusal must be in it, no
// line may be there twice, and each line must be of an agent that asked, or say that the list
// shows a completion: its task was let through, and a client has deleted it since. A process that
// is killed may leave a part of a line. What a process that could not have the lock has decided
// is in a file of its own until the next step is judged.
func (s *soak) unlikeTheEvidence(t *testing.T) (found []string) {
	files, err := filepath.Glob(filepath.Join(s.StateDir(), "late.*"))
	require.NoError(t, err)
	var text strings.Builder
	for _, path := range append(files, filepath.Join(s.StateDir(), "steps.jsonl")) {
		data, err := os.ReadFile(path)
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
		}
		text.Write(data)
	}
	s.counts["files of evidence that wait for the lock"] += len(files)
	lines := map[string]int{}
	for line := range strings.Lines(text.String()) {
		var e struct {
			Agent   string         `json:"agent"`
			Verdict state.Decision `json:"verdict"`
		}
		switch err := json.Unmarshal([]byte(line), &e); {
		case err != nil:
			s.counts["torn lines of evidence"]++
		case e.Agent == "" && e.Verdict == state.Reached:
			s.counts["completions that the list shows"]++
		default:
			lines[e.Agent]++
		}
	}
	for agent, n := range lines {
		if n > 1 || !s.asked[agent] {
			found = append(found, fmt.Sprintf("%q is in the evidence %d times, and asked: %v", agent, n, s.asked[agent]))
		}
	}
	for agent := range s.denied {
		if lines[agent] == 0 {
			found = append(found, agent+" was refused, and the evidence does not say so")
		}
	}
	s.counts["lines of evidence"] += len(slices.Collect(maps.Keys(lines)))
	return found
}

// failed finds hydrations that failed without a reason.
func (s *soak) failed() (found []string) {
	for _, o := range s.outcomes {
		switch full := o.script != nil && o.script.FullAt > 0; {
		case o.code == 0 || o.signal != 0 || o.refused() || o.interrupted():
		case full && strings.Contains(o.stderr, "no space left on device"):
		case o.timeout != 0 && strings.Contains(o.stderr, "gave up waiting"): // its clock runs while it waits
		case o.clock != 0 && strings.Contains(o.stderr, "a clock was set back"): // to this clock the lock of a dead client never gets old
		case strings.Contains(o.stderr, "signal received"):
		default:
			found = append(found, fmt.Sprintf("a hydration failed: %s", o))
		}
	}
	return found
}

// TestTheSoakFindsWhatIsWrong makes one change at a time to the result of a round in which
// everything went well. The checks must find it.
func TestTheSoakFindsWhatIsWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for what, spoil := range map[string]func(s *soak){
		"":                                    func(s *soak) { s.withoutLock(t) },
		"4.json is missing by the history":    func(s *soak) { require.NoError(t, os.Remove(s.InList("4.json"))) },
		"in the list and not in the history":  func(s *soak) { s.copy(t, s.InList("4.json"), s.InList("9.json")) },
		"the history has the number":          func(s *soak) { require.NoError(t, os.Remove(s.done(t)[0])) },
		"which was there before":              func(s *soak) { s.ledger.given = append(s.ledger.given, 4) },
		"acknowledged and not in the history": func(s *soak) { s.outcomes = append(s.outcomes, s.outcomes[0]) },
		"in the history and of no process":    func(s *soak) { s.outcomes = s.outcomes[1:] },
		"no change of the history says so":    func(s *soak) { s.undone = append(s.undone, 1) },
		"in the evidence 2 times":             func(s *soak) { s.evidenceTwice(t) },
		"the evidence does not say so":        func(s *soak) { s.denied["nobody"] = true },
		"asked: false":                        func(s *soak) { clear(s.asked) },
		"created by a client, is lost":        func(s *soak) { s.ledger.tasks[99] = &clientTask{} },
		"a hydration failed":                  func(s *soak) { s.outcomes = append(s.outcomes, outcome{code: 2}) },
		"a journal is left to recover":        func(s *soak) { s.copy(t, s.done(t)[0], filepath.Join(s.StateDir(), "journal")) },
	} {
		s := &soak{world: newWorld(t), ledger: newLedger(), denied: map[string]bool{}, asked: map[string]bool{}, counts: map[string]int{}}
		s.addManualTask(t, 1)
		for _, skill := range []string{"three", "five"} {
			s.outcomes = append(s.outcomes, s.world.run(t, call{skill: skill, history: wholeHistory}))
		}
		out, code := s.program(t, rng, 1<<40, "", "undo", "--list", worlds.ListID, "--json")
		require.Zero(t, code, out)
		s.undone = append(s.undone, 2)
		for len(s.denied) == 0 {
			s.step(t, rng)
		}
		spoil(s)
		found := strings.Join(s.violations(t), "\n")
		if what == "" {
			require.Empty(t, found)
		}
		assert.Contains(t, found, what)
	}
}

func (s *soak) copy(t *testing.T, from, to string) {
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

// done returns the journals of the committed changes, oldest first.
func (s *soak) done(t *testing.T) []string {
	all, err := filepath.Glob(filepath.Join(s.StateDir(), "done-*"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// withoutLock moves the evidence to where a process writes it that cannot have the lock.
func (s *soak) withoutLock(t *testing.T) {
	require.NoError(t, os.Rename(filepath.Join(s.StateDir(), "steps.jsonl"), filepath.Join(s.StateDir(), "late.x")))
}

func (s *soak) evidenceTwice(t *testing.T) {
	path := filepath.Join(s.StateDir(), "steps.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(data, data...), 0o600))
}

// hookArguments are the arguments of a hook at another time.
var hookArguments []string

func init() { roles[atAnotherTime] = runAtAnotherTime }

// runAtAnotherTime makes m.Run run only TestHookAtAnotherTime: only a test can have a
// simulated clock (testing/synctest).
func runAtAnotherTime() {
	hookArguments = os.Args[1:]
	os.Args = []string{os.Args[0], "-test.run=^TestHookAtAnotherTime$"}
	// Notify starts a goroutine. Inside the test it would keep the clock from advancing.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
}

// TestHookAtAnotherTime runs the program with a clock that is set to FSMTX_TEST_CLOCK. The
// clock stands still while the program works, and jumps ahead when it only waits.
func TestHookAtAnotherTime(t *testing.T) {
	text := os.Getenv(clockVariable)
	if text == "" {
		t.Skip("skipped: this is what TestEverythingAtOnce starts")
	}
	since, err := time.ParseDuration(text)
	require.NoError(t, err)
	synctest.Test(t, func(*testing.T) {
		time.Sleep(since)
		os.Exit(tools.Main(hookArguments, callers.Played()))
	})
}
