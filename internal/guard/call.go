package guard

import (
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// call is one run of one guard: where it reads its facts and, unless it is a
// dry run, leaves its marks.
type call struct {
	guard   Guard
	env     func(string) string
	event   *event.Event
	session Session
	config  Config
	place   place
	now     time.Time
	dry     bool // explain: decide, and change nothing
	facts   []Fact
}

// Fact is something a decision was made on, for people.
type Fact struct{ Name, Value string }

// fact records what a guard has found out.
func (c *call) fact(name, value string) {
	c.facts = append(c.facts, Fact{name, oneLine(value)})
}

// update changes a session file under its lock; a dry run computes the change
// and forgets it.
func (c *call) update(path string, change func(old []byte) ([]byte, error)) error {
	if !c.dry {
		return statefile.Update(path, lockWait, change)
	}
	old, err := readIfThere(path)
	if err == nil {
		_, err = change(old)
	}
	return err
}
