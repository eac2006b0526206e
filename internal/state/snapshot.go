package state

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/txn"
)

// A snapshot is the essence of the evidence up to a place in its file, so that an update
// need not read the file from its beginning: its cost does not grow with the session. It is
// a state file of its own, the first line of which says to which place it goes:
//
//	fsmtx-snapshot 1 OFFSET MARK SUM
//
// MARK is the checksum of the last bytes before OFFSET, by which a file that was replaced is
// recognised, and SUM that of OFFSET, MARK and the lines of evidence that follow. A snapshot
// with a wrong sum is ignored. It is not synced: without it the file is read.
const (
	snapshotHead = "fsmtx-snapshot 1 %d %08x "
	markBytes    = 64       // before OFFSET
	maxTail      = 32 << 10 // bytes after OFFSET, above which a new snapshot is made
)

// parseSnapshot returns the evidence of a snapshot, and the place to which it goes. ok is
// false if it is not valid.
func parseSnapshot(data []byte) (all []Evidence, offset int64, mark uint32, ok bool) {
	head, lines, found := bytes.Cut(data, []byte("\n"))
	if !found {
		return nil, 0, 0, false
	}
	var sum uint32
	if n, err := fmt.Sscanf(string(head), snapshotHead+"%08x", &offset, &mark, &sum); n != 3 || err != nil || offset < 0 {
		return nil, 0, 0, false
	}
	if sum != snapshotSum(offset, mark, lines) {
		return nil, 0, 0, false
	}
	all, _ = parseEvidence(lines) // the sum of all of them is right
	return all, offset, mark, true
}

func snapshotSum(offset int64, mark uint32, lines []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(fmt.Appendf(nil, snapshotHead, offset, mark)), crc32.IEEETable, lines)
}

func encodeSnapshot(all []Evidence, offset int64, mark uint32) ([]byte, error) {
	lines, err := linesOf(all)
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, snapshotHead+"%08x\n", offset, mark, snapshotSum(offset, mark, lines)), lines...), nil
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
	lines, readErr := st.linesIn(src, whole, err != nil || slices.Contains(names, SnapshotFile))
	trouble(readErr)
	s.tellForged(EvidenceFile, lines.wrong)
	s.read, s.size, s.tail, s.end = s.counting(lines.all), lines.size, lines.tail, lines.end
	s.Evidence = s.read
	s.noPending = err == nil && !slices.Contains(names, PendingFile)
	if slices.Contains(names, MovingFile) {
		if s.Moving, err = readMoving(src, st.List.Dir); err != nil {
			s.Troubles = append(s.Troubles, err)
		}
	}
	for _, name := range names {
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

// readLines reads the lines of the file with the evidence; unless it is whole, those of the snapshot and what follows it.
func readLines(src Source, whole, snapshot bool) (l knownLines, err error) {
	if !whole && snapshot {
		if l, ok := readSnapshot(src); ok {
			return l, nil
		}
	}
	data, err := src.ReadStateFrom(EvidenceFile, 0)
	l.whole = true
	l.all, l.wrong = parseEvidence(data)
	return l.upTo(0, data), err
}

// readSnapshot reads the snapshot and the evidence after it. ok is false if the file has to be read from its beginning.
func readSnapshot(src Source) (l knownLines, ok bool) {
	data, err := src.ReadState(SnapshotFile)
	if err != nil {
		return l, false
	}
	all, offset, mark, ok := parseSnapshot(data)
	if !ok || offset < markBytes {
		return l, false
	}
	tail, err := src.ReadStateFrom(EvidenceFile, offset-markBytes)
	if err != nil || len(tail) < markBytes || crc32.ChecksumIEEE(tail[:markBytes]) != mark {
		return l, false
	}
	l.all, l.wrong = parseEvidence(tail[markBytes:])
	l.all = append(all, l.all...)
	return l.upTo(offset, tail[markBytes:]), true
}

// upTo returns the lines with what is known of the file, of which the bytes from offset on were read.
func (l knownLines) upTo(offset int64, tail []byte) knownLines {
	l.size, l.tail = offset+int64(len(tail)), len(tail)
	l.end = bytes.Clone(tail[max(0, len(tail)-markBytes):])
	return l
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
		if err := dir.OverwriteState(name, nil); err != nil {
			return err
		}
	}
	s.late, s.lateFiles = nil, nil
	return nil
}

// writeSnapshot makes a new snapshot if the evidence after the last one has grown. An error
// is ignored: without a snapshot the file is read.
func (s *State) writeSnapshot(dir *txn.Dir) {
	if s.tail <= maxTail || len(s.end) < markBytes || len(s.late) > 0 {
		return
	}
	if text, err := encodeSnapshot(essence(s.read), s.size, crc32.ChecksumIEEE(s.end)); err == nil {
		_ = dir.OverwriteState(SnapshotFile, text)
	}
}
