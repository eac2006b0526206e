package state

import (
	"slices"
	"time"
)

// Refusal returns the latest denial of an update or a call that is not past. ok is false if there
// is none.
func (s *State) Refusal() (e Evidence, ok bool) {
	let := s.lastLet()
	for _, lines := range [][]Evidence{s.Evidence, s.Calls} {
		for i := range lines {
			d := &lines[i]
			if d.Refuses() && !let.After(d.Time) && (!ok || !d.Time.Before(e.Time)) && !s.isOver(d.Step) {
				e, ok = *d, true
			}
		}
	}
	return e, ok
}

// lastLet returns when the last update was let through.
func (s *State) lastLet() (last time.Time) {
	for i := range s.Evidence {
		if e := &s.Evidence[i]; e.Time.After(last) && e.Lets() {
			last = e.Time
		}
	}
	return last
}

// isOver reports whether a step is done or gone.
func (s *State) isOver(id int64) bool {
	c := s.Step(id)
	return c == nil || c.Done()
}

// Past reports whether a denial is no longer of interest to a person: its step is done or gone, or
// the work went on with an update that was let through.
func (s *State) Past(e Evidence) bool {
	return s.isOver(e.Step) || slices.ContainsFunc(s.Evidence, func(o Evidence) bool { return o.Lets() && o.Time.After(e.Time) })
}
