//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// dieInTransition makes the named transition of the workflow below home, and kills this
// process ahead of the nth step.
func dieInTransition(home, name string, n int) {
	w := openFlow(home)
	w.files = faultfs.Kill(vfs.OS{}, n)
	transitions[slices.IndexFunc(transitions, func(tr transition) bool { return tr.name == name })].act(w)
}

// chosen returns the transitions that the flag -of chooses, and logs how long each took if all
// of it is tried: that is hours.
func chosen(t *testing.T) iter.Seq[transition] {
	names := regexp.MustCompile(*of)
	return func(yield func(transition) bool) {
		for _, tr := range transitions {
			if !names.MatchString(tr.name) {
				continue
			}
			began := time.Now()
			if !yield(tr) {
				return
			}
			if *every {
				t.Logf("%s: %v", tr.name, time.Since(began).Round(time.Second))
			}
		}
	}
}

// sampled returns a stride for a test that tries every case only with -every.
func sampled(stride int) int {
	if *every {
		return 1
	}
	return stride
}

// sampled is the same for the crashes of a transition. A change of the list has three times as
// many steps.
func (tr transition) sampled(stride int) int {
	if tr.spec != "" || tr.isList {
		stride *= 8
	}
	return sampled(stride)
}

// tried is a transition whose crashes are tried: the workflow before it, which each case
// copies, and the states before and after it.
type tried struct {
	transition
	t      testing.TB
	base   string
	before *flow
	want   []string // the states before and after
}

func (tr transition) prepare(t testing.TB) *tried {
	x := &tried{transition: tr, t: t, base: worlds.MemoryDir(t)}
	x.before = newFlow(t, x.base, tr.spec)
	tr.before(t, x.before)
	first, s, err := x.before.stateOf()
	require.NoError(t, err)
	if !strings.Contains(tr.name, "script") {
		require.Empty(t, x.before.shows(s, nil))
	}
	after := x.before.copy(t)
	tr.act(after)
	last, s, err := after.stateOf()
	require.NoError(t, err)
	require.NotEqual(t, first, last, "the transition changes nothing")
	require.Empty(t, after.shows(s, nil))
	x.want = []string{first, last}
	if tr.half != nil {
		half := x.before.copy(t)
		tr.half(half)
		between, _, err := half.stateOf()
		require.NoError(t, err)
		x.want = []string{first, between, last}
	}
	return x
}

// copy returns a copy of the flow in a home of its own.
func (w *flow) copy(t testing.TB) *flow {
	home, err := os.MkdirTemp(filepath.Dir(w.home), "flow-")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(home, os.DirFS(w.home)))
	require.NoError(t, os.Chmod(filepath.Join(home, "tasks/.list.fsmtx"), 0o700))
	c := openFlow(home)
	require.NoError(t, c.adopt())
	return c
}

// adopt makes the records of locks say which directories they are now, of whose copies they
// are: a death changes no inode. A lock without a record is as old as it is when a machine is
// on again after a power cut.
func (w *flow) adopt() error {
	records, _ := filepath.Glob(filepath.Join(filepath.Dir(w.dir()), "."+filepath.Base(w.dir())+".fsmtx", "locks/record-*"))
	known := map[string]bool{}
	for _, record := range records {
		data, err := os.ReadFile(record)
		if err != nil {
			return err
		}
		var b strings.Builder
		for line := range strings.Lines(string(data)) {
			fields := strings.Fields(line)
			if len(fields) != 3 {
				continue
			}
			if info, err := os.Lstat(filepath.Join(w.dir(), fields[2])); err == nil {
				known[fields[2]] = true
				fmt.Fprintf(&b, "%d %d %s\n", info.Sys().(*syscall.Stat_t).Ino, info.ModTime().Nanosecond(), fields[2])
			}
		}
		if err := os.WriteFile(record, []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	locks, err := filepath.Glob(filepath.Join(w.dir(), "*.lock"))
	for _, lock := range locks {
		if !known[filepath.Base(lock)] {
			err = errors.Join(err, os.Chtimes(lock, time.Time{}, time.Now().Add(-time.Hour)))
		}
	}
	return err
}

func (w *flow) remove(t testing.TB) { require.NoError(t, os.RemoveAll(w.home)) }

// interrupted returns the input of the call whose hook has not answered, if there is one.
func (w *flow) interrupted() (r request, ok bool) {
	data, err := os.ReadFile(w.call())
	return r, err == nil && json.Unmarshal(data, &r) == nil
}

// goOn tries every event, or one of them, after a crash: as the crash left the list, and if a
// call was interrupted also as the client leaves it that carries the call out, for it goes on
// after the death of a hook. want has the states that the workflow may be in.
func (x *tried) goOn(crashed *flow, want []string, n int, about string) (cases int) {
	cases, err := x.tryOn(crashed, want, n)
	require.NoError(x.t, err, "%s, %s", x.name, about)
	return cases
}

func (x *tried) tryOn(crashed *flow, want []string, n int) (cases int, err error) {
	call, isCall := crashed.interrupted()
	for event := range next {
		if !*every && event != n%len(next) {
			continue
		}
		for _, carried := range []bool{false, true} {
			if carried && !isCall {
				continue
			}
			w := crashed.copy(x.t)
			unjudged := maps.Clone(crashed.unjudged)
			if carried {
				w.write(call)
				unjudged[call.id] = unjudged[call.id] || x.acting
				if call.id == lastStep {
					continue // nobody carries that out: it is denied
				}
			}
			cases++
			err := w.goesOn(event, want, unjudged)
			if err == nil {
				err = w.goesOn(0, want, nil)
			}
			if err != nil {
				return cases, fmt.Errorf("carried out: %t: %w", carried, err)
			}
			w.remove(x.t)
		}
	}
	return cases, nil
}

// TestTransitionAfterEveryDeath kills fsmtx ahead of each change that a transition makes. The
// next event of any kind finds the state before it or after it, and the list shows that.
func TestTransitionAfterEveryDeath(t *testing.T) {
	deaths, cases := 0, 0
	for tr := range chosen(t) {
		x := tr.prepare(t)
		last := false // the death left the state after the transition
		for n := 0; ; n += tr.sampled(21) {
			w := x.before.copy(t)
			if !w.kill(t, tr.name, n) {
				require.NotZero(t, n, "%s has no steps", tr.name)
				break
			}
			deaths++
			now, _, err := w.stateOf()
			require.NoError(t, err)
			if last {
				require.NotEqual(t, x.want[0], now, "%s: what is on record is forgotten ahead of step %d", tr.name, n)
			}
			last = last || tr.atOnce && now == x.want[len(x.want)-1]
			cases += x.goOn(w, x.want, n, fmt.Sprintf("killed ahead of step %d", n))
			w.remove(t)
		}
	}
	t.Logf("%d transitions, %d deaths, %d events after them", len(transitions), deaths, cases)
}

// kill makes a transition in a process that is killed ahead of step n. It returns false if the
// transition has fewer steps.
func (w *flow) kill(t testing.TB, name string, n int) bool {
	c := exec.Command(os.Args[0])
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "FSMTX_TEST_TRANSITION=" + name,
		"FSMTX_TEST_DIE_AT=" + strconv.Itoa(n), "GORACE=" + os.Getenv("GORACE")}
	out, err := c.CombinedOutput()
	if err == nil {
		return false
	}
	died, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok && died.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL, "%s, step %d: %v: %s", name, n, err, out)
	return true
}

// TestTransitionAfterASecondDeath freezes the disk at each step of the event after a death,
// too. A third event finishes it.
func TestTransitionAfterASecondDeath(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	cases := 0
	for tr := range chosen(t) {
		if tr.acting {
			continue // the record of a running check is that of a dead process only
		}
		x := tr.prepare(t)
		for n := 0; ; n += tr.sampled(43) {
			w := x.before.copy(t)
			taken := 0
			w.files = faultfs.Freeze(vfs.OS{}, n, func(faultfs.Step) { taken++ })
			tr.act(w)
			if taken < n {
				break
			}
			w.files = nil
			for m := 0; ; m += tr.sampled(8) {
				again := w.copy(t)
				taken := 0
				again.files = faultfs.Freeze(vfs.OS{}, m, func(faultfs.Step) { taken++ })
				event := rng.IntN(len(next) - 1) // recover has no file system of its own
				_ = next[event].happens(again)
				again.files = nil
				cases += x.goOn(again, x.want, n+m, fmt.Sprintf("frozen at step %d, then at step %d of %s", n, m, next[event].name))
				again.remove(t)
				if taken < m {
					break
				}
			}
			w.remove(t)
		}
	}
	t.Logf("%d events after two deaths", cases)
}

var transitionFaults = []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EACCES, syscall.EROFS, syscall.EMFILE, syscall.EINTR,
	syscall.ENOENT, syscall.ELOOP, syscall.EEXIST, syscall.ESTALE}

// onFaults makes a transition on copies, in each of which one call to the file system fails.
func (x *tried) onFaults(errno syscall.Errno, stride int, act func(w *flow)) iter.Seq2[string, *flow] {
	return func(yield func(about string, w *flow) bool) {
		for n := 0; ; n += stride {
			w := x.before.copy(x.t)
			var failed *faultfs.Step
			w.files = faultfs.Fail(vfs.OS{}, n, errno, func(s faultfs.Step) { failed = &s })
			act(w)
			w.files = nil
			if failed == nil || !yield(fmt.Sprintf("%v at step %d, %s", errno, n, failed), w) {
				return
			}
			w.remove(x.t)
		}
	}
}

// TestTransitionOnEveryFault makes each call to the file system fail once with each error. The
// client does what it was told.
func TestTransitionOnEveryFault(t *testing.T) {
	faults, tries, cases := transitionFaults, 0, 0
	if !*every {
		faults = faults[:1]
	}
	for tr := range chosen(t) {
		x := tr.prepare(t)
		for _, errno := range faults {
			if tr.isList && errno == syscall.ENOENT {
				continue // a person may have removed the record: then there is nothing to keep
			}
			for about, w := range x.onFaults(errno, tr.sampled(41), tr.act) {
				tries++
				cases += x.goOn(w, x.want, tries, about)
			}
		}
	}
	t.Logf("%d faults, %d events after them", tries, cases)
}

// TestTransitionAnswersWhatIsOnRecord: an answer that says that steps are open again is only
// given if that is on record, and so is what the person chose. Else the person is told.
func TestTransitionAnswersWhatIsOnRecord(t *testing.T) {
	for i, answer := range map[int]func(w *flow) (answered, told bool){
		0: func(w *flow) (answered, told bool) {
			v := w.frame().Update(context.Background(), request{3, completed, "changes"}.update())
			return v.Turn != nil, v.Decision == state.Deny || v.Trouble != ""
		},
		4: func(w *flow) (answered, told bool) {
			text, v := w.frame().Chosen(context.Background(), []gates.Choice{{Question: "How does #4 end?",
				Options: []string{"merge", "drop"}, Chosen: "merge"}}, state.ByQuestion, "")
			return text != "", v.Trouble != ""
		},
	} {
		x := transitions[i].prepare(t)
		answered, told := false, false
		for about, w := range x.onFaults(syscall.EIO, 1, func(w *flow) { answered, told = answer(w) }) {
			now, _, err := w.stateOf()
			require.NoError(t, err)
			if answered {
				require.Equal(t, x.want[1], now, about)
			}
			require.True(t, answered || told, "%s: nobody is told", about)
		}
	}
}

// forgetProcesses makes the processes that are at work others than this one: after a power cut
// none of them is left.
func (w *flow) forgetProcesses() error {
	path := filepath.Join(w.home, "tasks/.list.fsmtx/session.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return os.WriteFile(path, regexp.MustCompile(`"start":"[^"]*"`).ReplaceAll(data, []byte(`"start":"1"`)), 0o600)
}

// TestTransitionAfterEveryPowerCut cuts the power at each step of each transition: whatever
// was not synced by then is lost, kept or torn. The client's own writes are durable here,
// because a task that the client has torn is no list that anybody could show.
func TestTransitionAfterEveryPowerCut(t *testing.T) {
	var states, cases atomic.Int64
	t.Run("each", func(t *testing.T) { // at the same time, because much of it is waiting for locks
		for tr := range chosen(t) {
			t.Run(tr.name, func(t *testing.T) {
				t.Parallel()
				c := &cutter{tried: tr.prepare(t), rng: rand.New(rand.NewPCG(9, 10)), seen: map[[32]byte]bool{}, stride: tr.sampled(500)}
				require.NoError(t, c.run(nil))
				states.Add(int64(c.states))
				cases.Add(int64(c.cases))
			})
		}
	})
	t.Logf("%d transitions, %d states after power cuts, %d events after them", len(transitions), states.Load(), cases.Load())
	require.Greater(t, states.Load(), int64(2))
}

// TestTransitionPowerCutsFindAMissingSync: without the sync of the evidence a transition that
// was answered may be forgotten.
func TestTransitionPowerCutsFindAMissingSync(t *testing.T) {
	for tr := range chosen(t) {
		if !tr.atOnce || tr.acting || tr.isList || !*every && tr.spec != "" && tr.name != "an expansion" {
			continue
		}
		c := &cutter{tried: tr.prepare(t), rng: rand.New(rand.NewPCG(9, 10)), seen: map[[32]byte]bool{}, stride: 1 << 30}
		err := c.run(func(s faultfs.Step) bool {
			return s.Op == "sync" && (strings.HasSuffix(s.Path, "steps.jsonl") || strings.Contains(filepath.Base(s.Path), ".steps.jsonl"))
		})
		require.ErrorContains(t, err, "half done", tr.name)
	}
}

// cutter cuts the power of a transition.
type cutter struct {
	*tried
	rng           *rand.Rand
	seen          map[[32]byte]bool
	stride        int // one of so many states is tried, and all that a power cut after the end may leave
	all           int
	states, cases int
}

// run makes the transition, and cuts the power at each step. The model ignores the syncs for
// which dropped, if not nil, returns true.
func (x *cutter) run(dropped func(faultfs.Step) bool) (err error) {
	w := x.before.copy(x.t)
	d, failed := load(w.home)
	require.NoError(x.t, failed)
	want := x.want
	look := func(after string, l limits) {
		d.cuts(l, x.rng, func(c *disk) {
			if err == nil {
				if err = x.examine(w, c, want, after == "its end"); err != nil {
					err = fmt.Errorf("power cut after %s: %w", after, err)
				}
			}
		})
	}
	l := limits{exhaustive: 64, samples: 16}
	if x.stride > 1 {
		l = limits{exhaustive: 4, samples: 1}
	}
	files := recorder(vfs.OS{}, w.home, d, dropped, func(s faultfs.Step) { look(s.String(), l) })
	w.files, w.wrote = files, func(path string, data []byte) {
		in, _ := relative(w.home, path)
		d.apply(faultfs.Step{Op: "overwrite", Path: in, Data: data})
		d.apply(faultfs.Step{Op: "sync", Path: in})
		look("the client's write", l)
	}
	x.act(w)
	if x.atOnce {
		want = want[len(want)-1:] // it was answered, so it stands
	}
	look("its end", limits{})
	return err
}

// examine lets the next events happen after a power cut that leaves this disk.
func (x *cutter) examine(w *flow, c *disk, want []string, end bool) error {
	_, isCall := w.interrupted()
	key := c.key()
	key[0] ^= byte(b2i(isCall) | b2i(end)<<1)
	if x.seen[key] {
		return nil
	}
	x.seen[key] = true
	if x.all++; x.all%x.stride != 0 && !end {
		return nil
	}
	x.states++
	home, err := os.MkdirTemp(x.base, "state-")
	require.NoError(x.t, err)
	require.NoError(x.t, c.build(home))
	cut := openFlow(home)
	defer cut.remove(x.t)
	require.NoError(x.t, cut.forgetProcesses())
	require.NoError(x.t, os.MkdirAll(home+"/project", 0o755))
	_ = os.Remove(cut.call())
	if isCall {
		data, err := os.ReadFile(w.call())
		require.NoError(x.t, err)
		require.NoError(x.t, os.WriteFile(cut.call(), data, 0o600))
	}
	cases, err := x.tryOn(cut, want, x.states)
	x.cases += cases
	return err
}
