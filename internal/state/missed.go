package state

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// missedFile has a line for each event at which a registered line could not start the program: the time, in seconds since 1970. The line
// itself writes it (shell.Refuse and shell.Tell), so it has no checksum, and nothing is decided by it.
const missedFile = "missed"

// Missed is when a list's hooks could not run the program while a workflow of the list was open.
type Missed struct {
	First, Last time.Time
	Events      int
}

// Missed returns what was missed since the first of the workflows in the list began; ok is false if nothing was.
func (s *State) Missed() (m Missed, ok bool) {
	began := s.Began()
	for _, at := range s.missed {
		if at.Before(began.Truncate(time.Second)) {
			continue
		}
		if m.Events++; m.First.IsZero() {
			m.First = at
		}
		m.Last = at
	}
	return m, m.Events > 0
}

// String says for people what was missed.
func (m Missed) String() string {
	const minute = "2006-01-02 15:04"
	first, last := m.First.Local().Format(minute), m.Last.Local().Format(minute)
	when := "at " + first
	if first != last {
		when = "from " + first + " to " + last
	}
	return fmt.Sprintf("fsmtx could not be run %s (events: %d): no hook saw what was done then", when, m.Events)
}

// parseMissed returns the times in data. A line that is none counts for nothing.
func parseMissed(data []byte) (all []time.Time) {
	for line := range bytes.Lines(data) {
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64); err == nil {
			all = append(all, time.Unix(n, 0))
		}
	}
	return all
}
