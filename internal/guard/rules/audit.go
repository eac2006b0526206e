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

const (
	auditMark  = "CHECKPOINT: "
	auditArrow = " → "
	auditEnd   = " | session="
	noPhase    = "UNKNOWN"
)

// String is the audit line without its time.
func (t transition) String() string {
	return auditMark + t.from + auditArrow + t.to + auditEnd + guard.OneLine(cmp.Or(t.session, "unknown")) + " | mode=" + cmp.Or(t.mode, "unknown")
}

// auditable replaces what separates the parts of an audit line, so that the phase
// reads back as it was written.
func auditable(phase string) string {
	return strings.NewReplacer("→", "->", "|", "/").Replace(phase)
}

// auditLog is the audit log beside a state file, locked until release is called.
type auditLog struct {
	path    string
	tail    []byte
	err     error // why the log cannot be used; it then has no phases
	release func()
}

// noAudit is an audit log that is not used.
func noAudit() auditLog { return auditLog{release: func() {}} }

// openAudit locks the log and reads its end. A dry run takes no lock, which would
// create the file.
func (c *call) openAudit(path string) auditLog {
	log := auditLog{path: path, release: func() {}}
	if !c.DryRun {
		// Half the wait, because the budget's lock is waited for within the same three
		// seconds.
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

// append writes a line for the transition, and returns the error that kept it from
// doing so or from reading the log.
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

// auditTail is how much of the log's end is read, in bytes. People may write into
// the log too, but hardly half a megabyte between two changes of phase.
const auditTail = 512 << 10

// lastPhase returns the phase that the last transition of a log led to.
func lastPhase(log []byte) string {
	lines := bytes.Split(log, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if phase, ok := phaseOf(string(lines[i])); ok {
			return phase
		}
	}
	return noPhase
}

func phaseOf(line string) (string, bool) {
	_, rest, marked := strings.Cut(line, auditMark)
	step, _, ended := strings.Cut(rest, auditEnd)
	at := strings.LastIndex(step, auditArrow)
	if !marked || !ended || at < 0 {
		return "", false
	}
	return strings.TrimSpace(step[at+len(auditArrow):]), true
}
