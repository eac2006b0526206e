package state

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Known is what was read of a list. An event looks at its list several times, before it has the lock and under it, and reads it once: a
// part is read again only if its files have changed since. What is written under the lock is known without a reading.
//
// It is not safe for concurrent use.
type Known struct {
	list    string // its directory
	dir     string // the state directory
	last    string // the name of the last transaction that record is made of
	record  *OnRecord
	whole   bool                 // record is made of the whole history
	changes []txn.Entry          // the whole history; nil if it is not known
	tasks   map[string]knownTask // by the names of their files
	lines   knownLines
	memory  knownMemory
}

// knownTask is a task as its file has it.
type knownTask struct {
	file fs.FileInfo
	task *tasks.Task
}

// knownLines are lines of evidence, those that do not count too.
type knownLines struct {
	file  fs.FileInfo // nil if nothing is known
	under *txn.Dir    // the list, locked, under whose lock they were read; nil if they were read without
	whole bool        // those of the archives are among them
	all   []Evidence
	wrong int    // how many lines have no checksum or a wrong one
	data  []byte // of the file
}

// known returns what was read of the list by now.
func (st *Store) known() *Known {
	if st.Known == nil || st.Known.list != "" && st.Known.list != st.List.Dir {
		st.Known = new(Known)
	}
	st.Known.list = st.List.Dir
	return st.Known
}

// recorded returns what hydrations have recorded: with whole all of it that the history has, else what is needed now.
func (st *Store) recorded(src Source, whole bool) *OnRecord {
	k := st.known()
	if k.record != nil && len(k.record.Broken) == 0 && (k.whole || !whole) && k.last != "" && k.last == st.lastChange() {
		return k.record
	}
	history, err := st.historyOf(src, whole)
	if err != nil {
		return &OnRecord{Broken: []broken{{err: err}}}
	}
	k.record, k.whole, k.last = recordOf(history), whole, ""
	k.record.Departed.list = st.List.Dir
	if len(history) > 0 {
		k.last = "done-" + history[len(history)-1].ID
	}
	return k.record
}

// History returns the changes of the list that its history keeps. It takes no lock and creates nothing.
//
// Errors: those of txn.ReadHistory.
func (st *Store) History() ([]txn.Entry, error) {
	src, err := txn.OpenReader(st.List.Dir, txn.WithFS(st.List.Files()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return st.historyIn(src)
}

// historyIn is History in src. A change that could not be read is looked for again.
func (st *Store) historyIn(src Source) (all []txn.Entry, err error) {
	k := st.known()
	if n := len(k.changes); n > 0 && "done-"+k.changes[n-1].ID == st.lastChange() {
		return k.changes, nil
	}
	all, err = src.History()
	if k.changes = all; err != nil || slices.ContainsFunc(all, func(e txn.Entry) bool { return e.Err != nil }) {
		k.changes = nil
	}
	return all, err
}

// MayBeIn reports whether a workflow of the list may be one for whose directory is returns true, or is away from that: see AwayText.
// With ever it is also about those that are not in the list any more. Of the record only that is read.
func (st *Store) MayBeIn(is func(*workflow.Workflow) bool, ever bool) bool {
	src, err := txn.OpenReader(st.List.Dir, txn.WithFS(st.List.Files()))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer src.Close()
	history, err := st.historyOf(src, ever)
	return err != nil || slices.ContainsFunc(history, func(e txn.Entry) bool {
		if e.Err != nil || e.Record == "" {
			return e.Err != nil
		}
		all, err := workflow.DirsOf(e.Record)
		return err != nil || slices.ContainsFunc(all, func(w workflow.Workflow) bool { return is(&w) || AwayText(&w) != "" })
	})
}

// historyOf returns the history in src, with whole all of it, else what is needed now.
func (st *Store) historyOf(src Source, whole bool) ([]txn.Entry, error) {
	if whole {
		return st.historyIn(src)
	}
	return src.HistoryFrom(tasks.NeededFrom)
}

// lastChange returns the name of the last transaction in the history, "" if it is not known. What the history has of one never changes.
func (st *Store) lastChange() (name string) {
	entries, err := st.List.Files().ReadDir(st.stateDir())
	if err != nil {
		return ""
	}
	for _, e := range entries { // sorted
		if strings.HasPrefix(e.Name(), "done-") {
			name = e.Name()
		}
	}
	return name
}

// stateDir returns the path of the state directory.
func (st *Store) stateDir() string {
	k := st.known()
	if k.dir == "" {
		k.dir, _ = txn.StateDir(st.List.Dir) // an empty path is that of nothing
	}
	return k.dir
}

// evidenceFile describes the file with the evidence, nil if there is none.
func (st *Store) evidenceFile() fs.FileInfo {
	file, _ := st.List.Files().Lstat(filepath.Join(st.stateDir(), EvidenceFile))
	return file
}

// linesIn returns the lines of evidence in src, with whole all of them.
func (st *Store) linesIn(src Source, whole bool) (knownLines, error) {
	k, file := st.known(), st.evidenceFile()
	under, _ := src.(*txn.Dir)
	if isSame(k.lines.file, file) && (k.lines.whole || !whole) {
		k.lines.under = under
		return k.lines, nil
	}
	read, err := readLines(src, whole)
	if read.file, read.under = file, under; err == nil {
		k.lines = read
	}
	return read, err
}

// wrote adds lines that the file with the evidence has now at its end: under the lock nobody else has changed it. data is all that it has.
func (st *Store) wrote(dir *txn.Dir, all []Evidence, data []byte) {
	l := &st.known().lines
	if l.file != nil && l.under == dir {
		l.file, l.all, l.data = st.evidenceFile(), append(slices.Clip(l.all), all...), data
	}
}

// endOf returns a text that lines can be added to.
func endOf(data []byte) []byte {
	data = slices.Clip(data)
	if len(data) > 0 && data[len(data)-1] != '\n' { // a crash has torn the last line
		data = append(data, '\n')
	}
	return data
}

// isSame reports whether a file is as it was. One to which lines are appended, or that is replaced, is another one then.
func isSame(was, is fs.FileInfo) bool {
	return was != nil && is != nil && vfs.SameFile(was, is) && was.Size() == is.Size() && was.ModTime().Equal(is.ModTime())
}

// clockTick is longer than what a file system's clock takes to go on: a file that was written to less than so long before it was read may
// have been written to afterwards, too, without another time.
const clockTick = 30 * time.Millisecond

// readTasks reads the tasks of these steps in dir, as far as their files have tasks.
func (k *Known) readTasks(dir string, all []*Current) error {
	var names []string
	var rest []*Current
	for _, c := range all {
		name := tasks.Form.Name(message.Itoa(c.ID))
		if was, ok := k.tasks[name]; ok && isSame(was.file, lstat(dir, name)) {
			c.show(was.task)
			continue
		}
		names, rest = append(names, name), append(rest, c)
	}
	if k.tasks == nil {
		k.tasks = map[string]knownTask{}
	}
	before := time.Now().Add(-clockTick)
	return tasks.Form.Each(dir, names, func(i int, data []byte) {
		if rest[i].parse(data) {
			if file := lstat(dir, names[i]); file != nil && file.ModTime().Before(before) {
				k.tasks[names[i]] = knownTask{file, rest[i].File}
			}
		}
	})
}

func lstat(dir, name string) fs.FileInfo {
	file, _ := vfs.OS{}.Lstat(filepath.Join(dir, name))
	return file
}
