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
	earlier bool // a transaction of the same life, whose file and entry are not durable yet
	prepare bool // the transaction raises a mark before it changes D
	restore int  // files that an earlier transaction has deleted and this one restores
	limits  limits
}

// full is large enough for the transactions that sync every file. Of a whole record's, more is
// pending at a time, and trial.run takes fewer states of each step.
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
	{name: "delete with a mark", prepare: true, files: map[string]int{"1.json": 0, "2.json": 1}, limits: full},
	{name: "fifty files", files: map[string]int{"1.json": 0, "2.json": 1}, creates: 50, limits: limits{exhaustive: 8, samples: 2}},
}

// usual returns the limits without -every: a few hundred states of a workload.
func (l limits) usual() limits {
	if every() {
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
	staged    bool // every file is staged and synced, as in a large transaction
	late      bool // the names in D are synced by the next Open
	update    bool // the client updates a created task before the recovery
	again     int  // number of recoveries that are still to be cut themselves
	first     bool // it ends at the first violation
}

const listPath = "tasks/list"

// run tries every power cut of the workload, and every power cut of up to again recoveries
// from them. The model ignores the syncs for which dropped, if not nil, returns true.
func (tr *trial) run() *trial {
	t := tr.t
	if !tr.staged && !every() {
		tr.limits.exhaustive, tr.limits.samples = min(tr.limits.exhaustive, 64), min(tr.limits.samples, 16)
	}
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
	if tr.late {
		require.NoError(t, tr.open(home, files).Close())
		look(faultfs.Step{})
	}
	return tr
}

func (tr *trial) open(home string, files vfs.FS) *txn.Dir {
	dir, err := txn.Open(context.Background(), filepath.Join(home, listPath), append(tr.form(), txn.WithFS(files))...)
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
	if tr.workload.prepare {
		c.Prepare = func(files vfs.FS, dir, scratch string) error {
			return files.WriteFile(filepath.Join(dir, mark), scratch, []byte("7"), 0o644)
		}
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
	var opts []txn.Option
	if tr.late {
		opts = tr.form()
	}
	dir, err := txn.Open(context.Background(), list, opts...)
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
	if tr.earlier {
		d.unsync(listPath+"/90.json", true)
		tr.unsyncEntry(d, path.Join(path.Dir(listPath), ".list.fsmtx"))
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

// unsyncEntry makes pending what happened after the sync of the earlier transaction's record.
func (tr *trial) unsyncEntry(d *disk, s string) {
	done, err := filepath.Glob(filepath.Join(tr.base, "home", s, "done-*"))
	require.NoError(tr.t, err)
	entry := path.Join(s, filepath.Base(done[0]))
	if !tr.late {
		d.unremove(entry, "settling")
		return
	}
	d.unsync(listPath+"/90.json", false)
	d.unsync(entry, false)
	d.unrename(s, "settling", "journal")
}

// The phases of a transaction. Each allows recovery other results.
const (
	begun    = iota // D is unchanged, and nothing can complete the transaction
	recorded        // its journal may be on the disk
	touched         // a file of D is changed
	acked           // the transaction has returned
)

// phase returns the phase that the step begins.
func (tr *trial) phase(home string, s faultfs.Step) int {
	list := filepath.Join(home, listPath)
	switch {
	case s.Op == "link" && filepath.Dir(s.To) == list || s.Op == "remove" && filepath.Dir(s.Path) == list:
		return touched
	case s.Op == "rename" && isRecord(s.To):
		return recorded
	}
	return begun
}

// form returns the options of the trial's transaction.
func (tr *trial) form() []txn.Option {
	switch {
	case tr.staged:
		return []txn.Option{txn.WithRecordLimit(0)}
	case tr.late:
		return []txn.Option{txn.WithLateSync()}
	}
	return nil
}

// allowed returns what recovery may make of the state in home. With a whole record, D is
// changed once the record is durable, and from then on only the state after will do.
func (tr *trial) allowed(home string, now int) verdict {
	cut := contents(tr.t, home)
	left := between(cut, tr.before)
	untouched := func(got map[string]string) bool {
		return left(got) && (!tr.earlier || got["90.json"] == tr.before["90.json"]) // which was acknowledged
	}
	switch {
	case now == acked, now == touched && !tr.staged:
		return equalTo(tr.after)
	case now == touched:
		return equalTo(tr.before, tr.after)
	case now == recorded && !tr.staged:
		return func(got map[string]string) bool { return tr.completed(cut, got) || untouched(got) }
	}
	return untouched
}

// completed reports whether got is the state after, but for files that stay and that the power cut
// has taken: the client never synced them, nor the directory in which they were.
func (tr *trial) completed(left, got map[string]string) bool {
	want := maps.Clone(tr.after)
	for name := range want {
		if _, stays := tr.before[name]; stays && name != record && left[name] == "" && got[name] == "" {
			delete(want, name)
		}
	}
	return maps.Equal(got, want)
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
	home, err := os.MkdirTemp(tr.base, "state-")
	require.NoError(tr.t, err)
	defer os.RemoveAll(home)
	require.NoError(tr.t, c.build(home))
	allowed := tr.allowed(home, now)
	halfway := now == touched && interrupted(home) && !maps.Equal(contents(tr.t, home), tr.before)
	if halfway && tr.again > 0 {
		tr.again--
		tr.recoverAgain(home, allowed)
	}
	if halfway && tr.update {
		allowed = tr.writeInto(home)
	}
	tr.recoverOnce(home, allowed, &tr.result)
}

func (tr *trial) ended() bool {
	return tr.first && tr.result.violations+tr.recovered.violations > 0
}

// writeInto updates a task that the interrupted transaction had created, as the client may.
// A completion must leave the update in D. A rollback must still remove the task, and must
// keep the update in conflicts/.
func (tr *trial) writeInto(home string) verdict {
	const update = "updated by the client"
	name := filepath.Join(home, listPath, "100.json")
	if _, err := os.Stat(name); err != nil {
		if tr.staged {
			return equalTo(tr.before)
		}
		return equalTo(tr.after)
	}
	require.NoError(tr.t, os.WriteFile(name, []byte(update), 0o644))
	if !tr.staged {
		updated := maps.Clone(tr.after)
		updated["100.json"] = update
		return equalTo(updated)
	}
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
			if got[name] != text && before[name] != got[name] { // unless a record of before has restored its bytes
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
	return slices.ContainsFunc([]string{"journal", "committing"}, func(name string) bool {
		return exists(filepath.Join(home, "tasks/.list.fsmtx", name))
	})
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
	if tr.workload.prepare {
		if _, err := os.Stat(filepath.Join(home, listPath, mark)); err != nil && got[record] != "" {
			o.violate("recovered without the mark to %v", got)
		}
	}
	if !allowed(got) {
		o.violate("recovered to %v", got)
	}
	if interrupted(home) || exists(filepath.Join(home, "tasks/.list.fsmtx/settling")) {
		o.violate("the journal is still there")
	}
}

// recoverAgain tries every power cut of the recovery of the state in home, on a copy.
func (tr *trial) recoverAgain(home string, allowed verdict) {
	d, err := load(home)
	require.NoError(tr.t, err)
	copied, err := os.MkdirTemp(tr.base, "copy-")
	require.NoError(tr.t, err)
	defer os.RemoveAll(copied)
	require.NoError(tr.t, d.build(copied))
	seen := map[[32]byte]bool{}
	look := func(faultfs.Step) {
		d.cuts(tr.limits.again(), tr.rng, func(c *disk) {
			tr.recovered.states++
			if key := c.key(); !seen[key] && !tr.ended() {
				seen[key] = true
				tr.recovered.distinct++
				state, err := os.MkdirTemp(tr.base, "again-")
				require.NoError(tr.t, err)
				defer os.RemoveAll(state)
				require.NoError(tr.t, c.build(state))
				tr.recoverOnce(state, allowed, &tr.recovered)
			}
		})
	}
	_, err = txn.Recover(context.Background(), filepath.Join(copied, listPath), txn.WithFS(recorder(vfs.OS{}, copied, d, tr.inRecover, look)))
	if err != nil {
		return // counted where the state itself is recovered
	}
	look(faultfs.Step{})
}

// mark is the file that the transaction of a workload writes before it changes D.
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

// TestPowerLossKeepsALaterUpdate has the client update a created task between the
// power cut and the recovery.
func TestPowerLossKeepsALaterUpdate(t *testing.T) {
	for _, load := range workloads[:4] {
		load.limits = load.limits.usual()
		for i, form := range []string{"record", "late", "staged"} {
			tr := (&trial{workload: load, t: t, staged: i == 2, late: i == 1, update: true}).run()
			assert.Zero(t, tr.result.violations, "%s, %s: %s", load.name, form, tr.result.first)
		}
	}
}

func TestPowerLossAtEveryStepIsRecovered(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "form\tworkload\tstates\tdistinct\tviolations\tof recovery: states\tdistinct\tviolations")
	for i := range 3 * len(workloads) {
		load, form := workloads[i/3], []string{"record", "late", "staged"}[i%3]
		staged, late := form == "staged", form == "late"
		again := 300 / (10 + load.creates)
		load.limits = load.limits.usual()
		if !every() {
			load.creates = min(load.creates, 12)
			again /= 6
		}
		if !staged && !every() {
			again /= 4 // a recovery that completes has many more states than one that rolls back
		}
		tr := (&trial{workload: load, t: t, staged: staged, late: late, again: again}).run()
		assert.Zero(t, tr.result.violations, "%s, %s: %s", form, load.name, tr.result.first)
		assert.Zero(t, tr.recovered.violations, "%s, %s: in a second power cut: %s", form, load.name, tr.recovered.first)
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", form, load.name, tr.result.states, tr.result.distinct, tr.result.violations,
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
