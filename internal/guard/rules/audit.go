package rules

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// transition is a change of phase.
type transition struct{ from, to, mode, session string }

// The parts of an audit line: CHECKPOINT: PLAN → TASKS | session=… | mode=…
const (
	auditMark  = "CHECKPOINT: "
	auditArrow = " → "
	auditEnd   = " | session="
	noPhase    = "UNKNOWN" // the phase before the first one
)

// String returns the audit line without its timestamp.
func (t transition) String() string {
	return auditMark + t.from + auditArrow + t.to + auditEnd + guard.OneLine(cmp.Or(t.session, "unknown")) + " | mode=" +
		cmp.Or(t.mode, "unknown")
}

// auditable replaces the separators of an audit line in a phase, so that the phase can be
// read back from the line.
func auditable(phase string) string {
	return strings.NewReplacer("→", "->", "|", "/").Replace(phase)
}

// auditLog is the audit log beside a state file, locked until release is called.
type auditLog struct {
	path    string
	tail    []byte
	err     error // why the log cannot be used; tail is then empty
	release func()
}

// noAudit returns an audit log that is neither locked nor read.
func noAudit() auditLog { return auditLog{release: func() {}} }

// openAudit locks the log and reads its end. A dry run does not lock it, because locking
// creates the file.
func (c *call) openAudit(path string) auditLog {
	log := auditLog{path: path, release: func() {}}
	if !c.DryRun {
		// Half of LockWait, because H05 may have to wait for the budget's lock too, and the
		// client allows it three seconds.
		release, err := statefile.Hold(path, guard.LockWait/2)
		if err != nil {
			log.err = err
			return log
		}
		log.release = sync.OnceFunc(release)
	}
	tail, err := statefile.Tail(path, auditTail)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.err = err
		return log
	}
	log.tail = tail
	return log
}

// append appends a line for the transition. It returns the error of openAudit if there was
// one.
func (l auditLog) append(timestamp string, step transition) error {
	if l.err != nil {
		return l.err
	}
	line := fmt.Sprintf("%s %s\n", timestamp, step)
	if len(l.tail) > 0 && !bytes.HasSuffix(l.tail, []byte("\n")) {
		line = "\n" + line
	}
	return statefile.Append(l.path, []byte(line))
}

// auditTail bounds what is read from the end of a log, in bytes. People may write into the
// audit log too, but hardly half a megabyte between two changes of phase.
const auditTail = 512 << 10

// lastPhase returns the phase after the last transition in a log, noPhase if there is none.
func lastPhase(log []byte) string {
	lines := bytes.Split(log, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if phase, ok := phaseOf(string(lines[i])); ok {
			return phase
		}
	}
	return noPhase
}

// phaseOf returns the phase after the transition in an audit line, and false for any other
// line.
func phaseOf(line string) (string, bool) {
	_, rest, marked := strings.Cut(line, auditMark)
	step, _, ended := strings.Cut(rest, auditEnd)
	at := strings.LastIndex(step, auditArrow)
	if !marked || !ended || at < 0 {
		return "", false
	}
	return strings.TrimSpace(step[at+len(auditArrow):]), true
}
