package guard

import (
	"time"

	"github.com/fsmtx/fsmtx/internal/statefile"
)

// maxLogDetail bounds a line of the log, in bytes: the verbose mode logs whole
// events, and an event may carry a file of many megabytes.
const maxLogDetail = 1 << 20

// logLine is one line of the decision log.
func logLine(at time.Time, name, decision, detail string) string {
	if len(detail) > maxLogDetail {
		detail = detail[:maxLogDetail] + " (cut)"
	}
	return stamp(at) + " " + name + ": " + decision + " | " + oneLine(detail) + "\n"
}

func stamp(at time.Time) string { return at.UTC().Format("[2006-01-02T15:04:05Z]") }

// log writes a line of the decision log. A log that cannot be written changes
// no decision, and a symlink in its place is not followed.
func (c *call) log(decision, detail string) {
	if c.dry || !c.session.Known() {
		return
	}
	_ = statefile.Append(c.session.Log(), []byte(logLine(c.now, c.guard.Name, decision, detail)))
}
