package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

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
	return auditMark + t.from + auditArrow + t.to + auditEnd + oneLine(orElse(t.session, "unknown")) + " | mode=" + orElse(t.mode, "unknown")
}

// auditable keeps a phase from being read back as more than a phase.
func auditable(phase string) string {
	return strings.NewReplacer("→", "->", "|", "/").Replace(phase)
}

// audit appends the transition to the log, unless the log's last phase is the
// one entered, and returns that last phase. The error says why a transition
// was not written; from is UNKNOWN then if the log could not be read either.
func (c *call) audit(path string, step transition) (from string, err error) {
	if !c.dry {
		// Half, for the budget's lock has its turn within the same three seconds.
		release, err := statefile.Hold(path, lockWait/2)
		if err != nil {
			return noPhase, err
		}
		defer release()
	}
	tail, err := statefile.Tail(path, auditTail)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return noPhase, err
	}
	if step.from = lastPhase(tail); step.from == step.to || c.dry {
		return step.from, nil
	}
	line := fmt.Sprintf("%s %s\n", stamp(c.now), step)
	if len(tail) > 0 && !bytes.HasSuffix(tail, []byte("\n")) {
		line = "\n" + line
	}
	return step.from, statefile.Append(path, []byte(line))
}

// auditTail is how much of the audit log's end is looked at, in bytes: people
// may write into it too, but hardly half a megabyte after the last change.
const auditTail = 512 << 10

// lastPhase is the phase that the last transition of the log led to.
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
