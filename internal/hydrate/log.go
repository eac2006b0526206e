package hydrate

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// Record is one line of the log: one call of the hook.
type Record struct {
	Time     time.Time `json:"time"`
	List     string    `json:"list"`    // the task list's directory; empty if it did not come so far
	Command  string    `json:"command"` // the command name of the skill
	Spec     string    `json:"spec"`    // the path of its fsm.json; empty if it has none
	Deleted  []string  `json:"deleted"` // file names
	Created  []string  `json:"created"` // file names
	Duration float64   `json:"duration_ms"`
	Outcome  string    `json:"outcome"` // hydrated, nothing to do, duplicate, skipped or failed
	Error    string    `json:"error,omitzero"`
}

// NewRecord describes the call that began at start and ended now.
func NewRecord(r Request, result Result, err error, start, now time.Time) Record {
	rec := Record{
		Time: start.UTC(), List: result.List, Command: r.Command, Spec: result.Spec,
		Deleted: []string{}, Created: []string{},
		Duration: float64(now.Sub(start).Microseconds()) / 1000,
		Outcome:  outcome(result, err),
	}
	for _, d := range result.Deleted {
		rec.Deleted = append(rec.Deleted, d.Name)
	}
	for _, c := range result.Created {
		rec.Created = append(rec.Created, c.Name)
	}
	if err != nil {
		rec.Error = err.Error()
	}
	return rec
}

func outcome(r Result, err error) string {
	switch {
	case err != nil:
		return "failed"
	case r.Duplicate:
		return "duplicate"
	case len(r.Deleted)+len(r.Created) == 0:
		return "nothing to do"
	}
	return "hydrated"
}

// Append adds the record to the file at path as one line, in one write, so that
// hooks that run at once do not mix theirs. A pipe that nobody reads is an error,
// not a wait.
func (r Record) Append(path string) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
