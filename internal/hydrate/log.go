package hydrate

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/visible"
)

// Record is one line of the log: one call of the hook.
type Record struct {
	Time     time.Time `json:"time"`
	List     string    `json:"list"`    // the task list's directory; empty if it is unknown
	Command  string    `json:"command"` // the command name of the skill
	Spec     string    `json:"spec"`    // the path of its fsm.json; empty if it has none
	Deleted  []string  `json:"deleted"` // file names
	Created  []string  `json:"created"` // file names
	Duration float64   `json:"duration_ms"`
	Outcome  string    `json:"outcome"`         // hydrated, nothing to do, duplicate, skipped or failed
	Reason   string    `json:"reason,omitzero"` // why it was skipped
	Error    string    `json:"error,omitzero"`  // why it failed
}

// Call is one call of the hook, for the log.
type Call struct {
	Request Request
	Result  Result
	Skipped string // why there was nothing to do; empty otherwise
	Err     error
}

// NewRecord returns the record of a call that began at start and ended at now.
func NewRecord(c Call, start, now time.Time) Record {
	rec := Record{
		Time: start.UTC(), List: c.Result.List, Command: c.Request.Command, Spec: c.Result.Spec,
		Deleted: []string{}, Created: []string{},
		Duration: float64(now.Sub(start).Microseconds()) / 1000,
		Outcome:  c.outcome(), Reason: c.Skipped,
	}
	for _, d := range c.Result.Deleted {
		rec.Deleted = append(rec.Deleted, d.Name)
	}
	for _, created := range c.Result.Created {
		rec.Created = append(rec.Created, created.Name)
	}
	if c.Err != nil {
		rec.Error = c.Err.Error()
	}
	return rec
}

func (c Call) outcome() string {
	switch {
	case c.Err != nil:
		return "failed"
	case c.Skipped != "":
		return "skipped"
	case c.Result.Duplicate:
		return "duplicate"
	case len(c.Result.Deleted)+len(c.Result.Created)+len(c.Result.Restored) == 0:
		return "nothing to do"
	}
	return "hydrated"
}

const logWait = 100 * time.Millisecond

// Append adds the record to the file at path as one line, with one write, so that
// the lines of concurrent hooks are not mixed. It creates the file if necessary. path may
// be a device or a pipe. If a write would block, Append returns an error after at most
// logWait, so that the hook does not hang on its log.
func (r Record) Append(path string) error {
	line, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true)) // paths need not be UTF-8
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	// SetWriteDeadline fails for a file that never blocks, and for one that the runtime
	// cannot poll. Because of O_NONBLOCK a write to the latter fails instead of blocking.
	_ = f.SetWriteDeadline(time.Now().Add(logWait))
	_, err = f.Write(append(visible.JSON(line), '\n'))
	return errors.Join(err, f.Close())
}
