package state

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// What decisions depend on is in the file with the evidence, and what was decided since it was last archived. All of it is in the archives,
// which nobody reads but whoever shows what was decided: what an event costs does not grow with what was decided before.
//
// Under the lock all that the file has is added to the archive, and synced. Then the file is replaced by what decisions depend on. So
// lines are in both, and some in the archive twice: of equal lines the first counts.
const (
	archivePrefix = "archive." // of the names of archives; letters follow that are in the order of their making
	minArchived   = 16 << 10   // bytes that nobody needs, from which on a file is archived
)

// archived adds data, which is all that the file with the evidence has, to the archive if enough of it is not needed, and returns what is
// to be in the file from now on. If it cannot be archived, that is all of it.
func (st *Store) archived(dir *txn.Dir, data []byte) (stay []byte) {
	if len(data) < minArchived {
		return data
	}
	for _, whole := range []bool{false, true} { // what an undo brings back is needed, too; mostly not even all else is worth it
		r := st.recorded(dir, whole)
		stay = needed(data, func(step int64) bool { return len(r.Broken) > 0 || r.known[message.Itoa(step)].Step != nil })
		if len(data)-len(stay) < max(minArchived, len(stay)) {
			return data
		}
	}
	if addToArchive(dir, bytes.TrimSuffix(data, []byte("\n"))) != nil {
		return data
	}
	return stay
}

// addToArchive adds lines, and syncs them.
func addToArchive(dir *txn.Dir, lines []byte) error {
	s, err := txn.StateDir(dir.Path())
	if err != nil {
		return err
	}
	names, err := dir.StateNames(archivePrefix)
	if err != nil {
		return err
	}
	path := filepath.Join(s, lastArchive(names))
	if err = dir.Files().AppendLine(path, lines); errors.Is(err, vfs.ErrFileTooLarge) {
		path = filepath.Join(s, nextArchive(lastArchive(names)))
		err = dir.Files().AppendLine(path, lines)
	}
	if err == nil {
		err = dir.Files().Sync(path)
	}
	if err != nil {
		return err
	}
	return vfs.SyncDir(dir.Files(), s)
}

func lastArchive(names []string) string {
	if len(names) == 0 {
		return archivePrefix + "a"
	}
	return names[len(names)-1]
}

// nextArchive returns the name that follows: b after a, and za after z.
func nextArchive(name string) string {
	last := len(name) - 1
	if name[last] == 'z' {
		return name + "a"
	}
	return name[:last] + string(name[last]+1)
}

// needed returns the lines on which decisions depend about steps that are known, and those that count for nothing, which is told.
func needed(data []byte, known func(step int64) bool) (stay []byte) {
	var all []Evidence
	lines := slices.Collect(bytes.Lines(data))
	numbers := make([]int, len(lines)) // of what a line says in all, from 1; 0 if it says nothing
	for i, line := range lines {
		if one, _ := parseEvidence(line); len(one) > 0 {
			all = append(all, one...)
			numbers[i] = len(all)
		}
	}
	keep := essential(all)
	for i, line := range lines {
		if n := numbers[i]; n == 0 || keep[n-1] && known(all[n-1].Step) || n > len(all)-lastLines {
			stay = append(stay, line...)
		}
	}
	return stay
}

// lastLines is how many of the last lines stay in any case: the person may not have been told of them yet.
const lastLines = 20

// readLines reads the lines of the file with the evidence, with whole after those of the archives.
func readLines(src Source, whole bool) (l knownLines, err error) {
	if l.data, err = src.ReadState(EvidenceFile); err != nil {
		return l, err
	}
	names, err := src.StateNames(archivePrefix) // after the file, whose lines may have been archived meanwhile
	if l.whole = whole || len(names) == 0 && err == nil; !whole || len(names) == 0 {
		l.all, l.wrong = parseEvidence(l.data)
		return l, err
	}
	var texts [][]byte
	for _, name := range names {
		text, readErr := src.ReadState(name)
		texts, err = append(texts, text), errors.Join(err, readErr)
	}
	seen := map[string]bool{}
	for _, text := range append(texts, l.data) {
		for line := range bytes.Lines(text) {
			if key := strings.TrimSuffix(string(line), "\n"); !seen[key] {
				seen[key] = true
				all, wrong := parseEvidence(line)
				l.all, l.wrong = append(l.all, all...), l.wrong+wrong
			}
		}
	}
	return l, err
}

// readEvidence reads the evidence into s, with whole all of it; and the lines that were written without the lock.
func (st *Store) readEvidence(s *State, src Source, whole bool) {
	trouble := func(err error) {
		if err != nil {
			s.Troubles = append(s.Troubles, fmt.Errorf("the evidence about earlier decisions cannot be read, so gates may be evaluated again: %w",
				err))
		}
	}
	names, err := src.StateNames("")
	trouble(err)
	lines, readErr := st.linesIn(src, whole)
	trouble(readErr)
	s.tellForged(EvidenceFile, lines.wrong)
	s.read = s.counting(s.withKept(lines.all))
	s.Evidence = s.read
	if slices.Contains(names, MovingFile) {
		if s.Moving, err = readMoving(src, st.List.Dir); err != nil {
			s.Troubles = append(s.Troubles, err)
		}
	}
	for _, name := range names {
		if name == missedFile {
			data, err := src.ReadState(name)
			trouble(err)
			s.missed = parseMissed(data)
		}
		if !strings.HasPrefix(name, LatePrefix) {
			continue
		}
		data, err := src.ReadState(name)
		trouble(err)
		s.addLate(name, data)
	}
	slices.SortStableFunc(s.late, func(a, b Evidence) int { return a.Time.Compare(b.Time) })
	all := append(s.Evidence[:len(s.Evidence):len(s.Evidence)], s.late...)
	isCall := func(e Evidence) bool { return e.Rule != "" }
	if !slices.ContainsFunc(all, isCall) {
		s.Evidence = all
		return
	}
	s.Calls = slices.DeleteFunc(slices.Clone(all), func(e Evidence) bool { return !isCall(e) })
	s.Evidence = slices.DeleteFunc(slices.Clone(all), isCall)
}

// withKept adds to lines of evidence about steps that stayed done at a reload, behind each, what it says of the step that came in the
// place of that: how it was done. What opened it again, and lines of a file for which it was done, are nothing of that.
func (s *State) withKept(all []Evidence) []Evidence {
	now := map[int64]int64{}
	for _, w := range s.Workflows() {
		for id, before := range w.Kept {
			for _, n := range before {
				if s.Step(n) == nil {
					now[n] = id
				}
			}
		}
	}
	if len(now) == 0 {
		return all
	}
	var with []Evidence
	for _, e := range all {
		with = append(with, e)
		if id := now[e.Step]; id != 0 && e.Expands == "" && e.Verdict != Reopen && e.Verdict != End && e.Verdict != Permitted {
			e.Step, e.With, e.Reopens, e.NotNeeded, e.kept = id, "", nil, nil, true
			with = append(with, e)
		}
	}
	return with
}

// addLate adds the lines of a file that was written without the lock: they are the newest.
// A crash may have left the file after its lines were merged.
func (s *State) addLate(name string, data []byte) {
	s.lateFiles = append(s.lateFiles, name)
	all, wrong := parseEvidence(data)
	s.tellForged(name, wrong)
	for _, e := range s.counting(all) {
		if !slices.ContainsFunc(s.Evidence, func(o Evidence) bool { return o.Step == e.Step && o.Time.Equal(e.Time) }) {
			s.late = append(s.late, e)
		}
	}
}

// mergeLate appends the evidence that was written without the lock to the file.
func (st *Store) mergeLate(dir *txn.Dir, s *State) error {
	if err := st.append(dir, s.late...); err != nil {
		return err
	}
	for _, name := range s.lateFiles {
		if err := dir.ReplaceState(name, nil); err != nil {
			return err
		}
	}
	s.late, s.lateFiles = nil, nil
	return nil
}
