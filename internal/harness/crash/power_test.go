//go:build unix

package crash

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// workload is a transaction whose power cuts are all tried.
type workload struct {
	name    string
	absent  bool           // D does not exist before
	files   map[string]int // files in D before: 1 to be deleted, 0 to be kept
	creates int
	history int  // committed transactions before this one
	earlier bool // a transaction before this one, of which the process died before it had tidied S
	mark    bool // the transaction raises a mark
	restore int  // files that an earlier transaction has deleted and this one restores
	limits  limits
}

var full = limits{exhaustive: 512, samples: 96}

var workloads = []workload{
	{name: "into an empty list", creates: 3, limits: full},
	{name: "list absent", absent: true, creates: 3, limits: full},
	{name: "replace one by one", files: map[string]int{"1.json": 0, "2.json": 1}, creates: 1, limits: full},
	{name: "replace three by three", files: map[string]int{"1.json": 0, "2.json": 1, "3.json": 1, "4.json": 1}, creates: 3, limits: full},
	{name: "delete only", files: map[string]int{"1.json": 0, "2.json": 1, "3.json": 1}, limits: full},
	{name: "history full", files: map[string]int{"1.json": 1}, creates: 2, history: txn.DefaultHistory, limits: full},
	{name: "undo", restore: 2, creates: 1, files: map[string]int{"1.json": 0, "2.json": 1}, limits: full},
	{name: "after another", earlier: true, creates: 2, limits: full},
	{name: "replace with a mark", mark: true, creates: 1, files: map[string]int{"1.json": 0, "2.json": 1}, limits: full},
	{name: "fifty files", files: map[string]int{"1.json": 0, "2.json": 1}, creates: 50, limits: limits{exhaustive: 8, samples: 2}},
}

// usual returns the limits without -every: a few hundred states of a workload.
func (l limits) usual() limits {
	if *every {
		return l
	}
	return limits{exhaustive: min(l.exhaustive, 10), samples: min(l.samples, 3)}
}

// again returns the limits for power cuts of recoveries, of which there are many.
func (l limits) again() limits {
	return limits{exhaustive: l.exhaustive / 4, samples: l.samples / 4}
}

// outcome counts the states of a workload.
type outcome struct {
	states, distinct, violations int
	first                        string // the first violation, for the test's message
}

func (o *outcome) add(other outcome) {
	o.states += other.states
	o.distinct += other.distinct
	o.violations += other.violations
}

func (o *outcome) violate(format string, args ...any) {
	if o.violations++; o.first == "" {
		o.first = fmt.Sprintf(format, args...)
	}
}

// trial is a workload in progress.
type trial struct {
	workload
	t         testing.TB
	dropped   func(faultfs.Step) bool
	inRecover func(faultfs.Step) bool // the same for recoveries
	base      string                  // every state is built in a directory of its own below this
	before    map[string]string
	after     map[string]string
	seen      map[[32]byte]bool
	rng       *rand.Rand
	result    outcome
	recovered outcome
	again     int  // number of recoveries that are still to be cut themselves
	first     bool // it ends at the first violation
}

const listPath = "tasks/list"

// run tries every power cut of the workload, and every power cut of up to again recoveries
// from them. The model ignores the syncs for which dropped, if not nil, returns true.
func (tr *trial) run() *trial {
	t := tr.t
	tr.base, tr.seen, tr.rng = worlds.MemoryDir(t), map[[32]byte]bool{}, rand.New(rand.NewPCG(1, 2))
	home := filepath.Join(tr.base, "home")
	change := tr.prepare(home)
	d, err := load(home)
	require.NoError(t, err)
	tr.unsync(d)
	now := begun
	look := func(s faultfs.Step) {
		now = max(now, tr.phase(home, s))
		d.cuts(tr.limits, tr.rng, func(c *disk) { tr.examine(c, now) })
	}
	look(faultfs.Step{})
	files := recorder(vfs.OS{}, home, d, tr.dropped, look)
	dir := tr.open(home, files)
	require.NoError(t, dir.Commit(context.Background(), change))
	now = acked
	look(faultfs.Step{})
	require.NoError(t, dir.Close())
	return tr
}

func (tr *trial) open(home string, files vfs.FS) *txn.Dir {
	dir, err := txn.Open(context.Background(), filepath.Join(home, listPath), txn.WithFS(files))
	require.NoError(tr.t, err)
	return dir
}

// prepare creates the tree before the transaction on the real file system.
func (tr *trial) prepare(home string) txn.Change {
	list := filepath.Join(home, listPath)
	require.NoError(tr.t, os.MkdirAll(filepath.Dir(list), 0o755))
	if !tr.absent {
		require.NoError(tr.t, os.Mkdir(list, 0o755))
	}
	for i := range tr.history {
		tr.commit(list, txn.Change{Creates: []txn.File{{Name: "h.json", Data: []byte("h"), Mode: 0o644}}, Label: fmt.Sprint(i)})
		tr.commit(list, txn.Change{Deletes: []string{"h.json"}})
	}
	c := txn.Change{Record: "the record of these tasks"}
	tr.before, tr.after = map[string]string{}, map[string]string{record: c.Record}
	tr.deleteEarlier(list, &c)
	if tr.earlier {
		first := txn.Change{Creates: []txn.File{{Name: "90.json", Data: []byte("an earlier task"), Mode: 0o644}},
			Record: "the record of the earlier task"}
		tr.commit(list, first)
		tr.before["90.json"], tr.after["90.json"], tr.before[record] = "an earlier task", "an earlier task", first.Record
	}
	if tr.workload.mark {
		require.NoError(tr.t, os.WriteFile(filepath.Join(list, mark), []byte("6"), 0o644))
		c.Mark = &txn.Mark{File: txn.File{Name: mark, Data: []byte("7"), Mode: 0o644},
			Reached: func(now []byte) bool { return string(now) >= "7" }}
	}
	for name, deleted := range tr.files {
		text := "the task in " + name
		require.NoError(tr.t, os.WriteFile(filepath.Join(list, name), []byte(text), 0o644))
		tr.before[name] = text
		if deleted == 1 {
			c.Deletes = append(c.Deletes, name)
		} else {
			tr.after[name] = text
		}
	}
	slices.Sort(c.Deletes)
	for i := range tr.creates {
		name, text := fmt.Sprintf("%d.json", 100+i), fmt.Sprintf("new task %d", i)
		c.Creates = append(c.Creates, txn.File{Name: name, Data: []byte(text), Mode: 0o644})
		tr.after[name] = text
	}
	return c
}

// deleteEarlier commits a transaction that deletes the files that the workload is to
// restore.
func (tr *trial) deleteEarlier(list string, c *txn.Change) {
	if tr.restore == 0 {
		return
	}
	earlier := txn.Change{Record: "the record of the tasks before"}
	tr.before[record] = earlier.Record
	for i := range tr.restore {
		name, text := fmt.Sprintf("%d.json", 50+i), fmt.Sprintf("deleted task %d", i)
		require.NoError(tr.t, os.WriteFile(filepath.Join(list, name), []byte(text), 0o644))
		earlier.Deletes = append(earlier.Deletes, name)
		tr.after[name] = text
	}
	tr.commit(list, earlier)
	history, err := txn.ReadHistory(list)
	require.NoError(tr.t, err)
	for _, name := range earlier.Deletes {
		c.Restores = append(c.Restores, txn.Restore{ID: history[0].ID, Name: name})
	}
}

func (tr *trial) commit(list string, c txn.Change) {
	dir, err := txn.Open(context.Background(), list)
	require.NoError(tr.t, err)
	require.NoError(tr.t, dir.Commit(context.Background(), c))
	require.NoError(tr.t, dir.Close())
}

// unsync makes pending what the client never syncs: the directory of a new list, and
// the bytes of its tasks.
func (tr *trial) unsync(d *disk) {
	if !tr.absent && !tr.earlier && tr.history+tr.restore == 0 {
		d.unsync(listPath, false)
		d.unsync("tasks", false)
	}
	for name, deleted := range tr.files {
		if deleted == 1 {
			d.unsync(listPath+"/"+name, true)
		}
	}
	backups := path.Join(path.Dir(listPath), ".list.fsmtx", "txn-*", "old", "*") // written to since they were deleted
	found, err := filepath.Glob(filepath.Join(tr.base, "home", backups))
	require.NoError(tr.t, err)
	for _, name := range found {
		in, _ := relative(filepath.Join(tr.base, "home"), name)
		if tr.restore > 0 {
			d.unsync(in, true)
		}
	}
}

// The phases of a transaction. Each allows recovery other results.
const (
	begun   = iota // D is unchanged
	touched        // a file of D is changed
	acked          // the transaction has returned
)

// phase returns the phase that the step begins.
func (tr *trial) phase(home string, s faultfs.Step) int {
	list := filepath.Join(home, listPath)
	if s.Op == "link" && filepath.Dir(s.To) == list || s.Op == "remove" && filepath.Dir(s.Path) == list {
		return touched
	}
	return begun
}

// allowed returns what recovery may make of the state in home.
func (tr *trial) allowed(home string, now int) verdict {
	switch now {
	case acked:
		return equalTo(tr.after)
	case touched:
		return equalTo(tr.before, tr.after)
	}
	return between(contents(tr.t, home), tr.before)
}

// examine builds a state, recovers it and compares the result with the contract.
func (tr *trial) examine(c *disk, now int) {
	tr.result.states++
	key := c.key()
	key[0] ^= byte(now)
	if tr.seen[key] || tr.ended() {
		return
	}
	tr.seen[key] = true
	tr.result.distinct++
	halfway := false
	c.built(tr.t, tr.base, func(home string) {
		tr.seeTorn(home)
		allowed := tr.allowed(home, now)
		halfway = now == touched && interrupted(home) && !maps.Equal(contents(tr.t, home), tr.before)
		if halfway && tr.again > 0 {
			tr.again--
			tr.recoverAgain(home, allowed)
		}
		tr.recoverOnce(home, allowed, &tr.result)
	})
	if halfway {
		c.built(tr.t, tr.base, func(home string) { tr.recoverOnce(home, tr.writeInto(home), &tr.result) })
	}
}

// built builds a disk in a directory of its own, for a time.
func (d *disk) built(t require.TestingT, base string, do func(home string)) {
	home, err := os.MkdirTemp(base, "state-")
	require.NoError(t, err)
	defer os.RemoveAll(home)
	require.NoError(t, d.build(home))
	do(home)
}

// seeTorn looks for what a reader must not see before the recovery: a file that the transaction creates
// and that is not whole. The client would delete it for good.
func (tr *trial) seeTorn(home string) {
	for name, text := range contents(tr.t, home) {
		if _, was := tr.before[name]; !was && name != record && text != tr.after[name] {
			tr.result.violate("a reader sees %s as %q", name, text)
		}
	}
}

func (tr *trial) ended() bool {
	return tr.first && tr.result.violations+tr.recovered.violations > 0
}

// writeInto updates a task that the interrupted transaction had created, as the client may.
// The rollback must still remove the task, and must keep the update in conflicts/.
func (tr *trial) writeInto(home string) verdict {
	const update = "updated by the client"
	name := filepath.Join(home, listPath, "100.json")
	if _, err := os.Stat(name); err != nil {
		return equalTo(tr.before)
	}
	require.NoError(tr.t, os.WriteFile(name, []byte(update), 0o644))
	return func(got map[string]string) bool {
		moved, _ := filepath.Glob(filepath.Join(home, "tasks/.list.fsmtx/conflicts/*/100.json"))
		if len(moved) != 1 || !maps.Equal(got, tr.before) {
			return false
		}
		data, err := os.ReadFile(moved[0])
		return err == nil && string(data) == update
	}
}

// verdict reports whether the contract allows what recovery made of D.
type verdict func(got map[string]string) bool

func equalTo(states ...map[string]string) verdict {
	return func(got map[string]string) bool {
		return slices.ContainsFunc(states, func(m map[string]string) bool { return maps.Equal(m, got) })
	}
}

// between is the verdict while the transaction has not changed D. Recovery must keep every
// file that the power cut left, and may restore other files of before from their backups:
// the client never synced them.
func between(left, before map[string]string) verdict {
	return func(got map[string]string) bool {
		for name, text := range left {
			if got[name] != text {
				return false
			}
		}
		for name, text := range got {
			if left[name] != text && before[name] != text {
				return false
			}
		}
		return true
	}
}

func interrupted(home string) bool {
	return exists(filepath.Join(home, "tasks/.list.fsmtx/journal"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (tr *trial) recoverOnce(home string, allowed verdict, o *outcome) {
	_, err := txn.Recover(context.Background(), filepath.Join(home, listPath))
	if err != nil {
		o.violate("recovery fails: %v", err)
		return
	}
	got := contents(tr.t, home)
	if r, err := txn.Recover(context.Background(), filepath.Join(home, listPath)); err != nil || r.Outcome != txn.Clean ||
		!maps.Equal(got, contents(tr.t, home)) {
		o.violate("the second recovery changes %v: %v %v", got, r, err)
	}
	if tr.workload.mark {
		now, err := os.ReadFile(filepath.Join(home, listPath, mark))
		if err == nil && string(now) != "6" && string(now) != "7" || got[record] != "" && string(now) != "7" {
			o.violate("recovered with the mark %q to %v", now, got)
		}
	}
	if !allowed(got) {
		o.violate("recovered to %v", got)
	}
	if interrupted(home) {
		o.violate("the journal is still there")
	}
}

// recoverAgain tries every power cut of the recovery of the state in home, on a copy.
func (tr *trial) recoverAgain(home string, allowed verdict) {
	d, err := load(home)
	require.NoError(tr.t, err)
	d.built(tr.t, tr.base, func(copied string) { tr.cutRecovery(copied, d, allowed) })
}

func (tr *trial) cutRecovery(copied string, d *disk, allowed verdict) {
	seen := map[[32]byte]bool{}
	look := func(faultfs.Step) {
		d.cuts(tr.limits.again(), tr.rng, func(c *disk) {
			tr.recovered.states++
			if key := c.key(); !seen[key] && !tr.ended() {
				seen[key] = true
				tr.recovered.distinct++
				c.built(tr.t, tr.base, func(state string) { tr.recoverOnce(state, allowed, &tr.recovered) })
			}
		})
	}
	files := recorder(vfs.OS{}, copied, d, tr.inRecover, look)
	_, err := txn.Recover(context.Background(), filepath.Join(copied, listPath), txn.WithFS(files))
	if err == nil { // else it is counted where the state itself is recovered
		look(faultfs.Step{})
	}
}

// mark is the file that the transaction of a workload raises before it creates a file.
const mark = "mark"

// record is the key in contents of the last transaction's record: the tasks and the record
// must come from the same transaction.
const record = "record"

// contents returns the files of D, none if D is absent, and the record.
func contents(t testing.TB, home string) map[string]string {
	list := filepath.Join(home, listPath)
	m := map[string]string{}
	history, err := txn.ReadHistory(list)
	require.NoError(t, err)
	if len(history) > 0 && history[len(history)-1].Record != "" {
		m[record] = history[len(history)-1].Record
	}
	entries, err := os.ReadDir(list)
	if os.IsNotExist(err) {
		return m
	}
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() == mark || e.Name() == "."+mark {
			continue // only ever raised, and no part of the state
		}
		data, err := os.ReadFile(filepath.Join(list, e.Name()))
		require.NoError(t, err)
		m[e.Name()] = string(data)
	}
	return m
}

func TestPowerLossAtEveryStepIsRecovered(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "workload\tstates\tdistinct\tviolations\tof recovery: states\tdistinct\tviolations")
	for _, load := range workloads {
		again := 300 / (10 + load.creates)
		load.limits = load.limits.usual()
		if !*every {
			load.creates, again = min(load.creates, 12), again/2
		}
		tr := (&trial{workload: load, t: t, again: again}).run()
		assert.Zero(t, tr.result.violations, "%s: %s", load.name, tr.result.first)
		assert.Zero(t, tr.recovered.violations, "%s: in a second power cut: %s", load.name, tr.recovered.first)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", load.name, tr.result.states, tr.result.distinct, tr.result.violations,
			tr.recovered.states, tr.recovered.distinct, tr.recovered.violations)
	}
	require.NoError(t, w.Flush())
	t.Log("\n" + table.String())
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
