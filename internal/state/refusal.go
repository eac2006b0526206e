package state

import "time"

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

// isProgress reports whether the line let an update of a step through that the list has: that is not so once its call was undone.
func (s *State) isProgress(e *Evidence) bool { return e.Lets() && s.OfList().Step(e.Step) != nil }

// lastLet returns when the last update was let through, as far as the clock was not ahead then.
func (s *State) lastLet() (last time.Time) {
	for i := range s.Evidence {
		if e := &s.Evidence[i]; e.Time.After(last) && !e.Time.After(s.Time) && s.isProgress(e) {
			last = e.Time
		}
	}
	return last
}

// Told returns how many lines of evidence a person has been told of, by the time of the last of them. The order of the lines counts, and
// not their times, because the clock may have been ahead. If the line is gone, those up to its time count, unless that is yet to come.
func (s *State) Told(last time.Time) (n int) {
	later := len(s.Evidence)
	for i := range s.Evidence {
		switch t := s.Evidence[i].Time; {
		case t.Equal(last):
			n = i + 1
		case t.After(last):
			later = min(later, i)
		}
	}
	if n > 0 || last.After(s.Time) {
		return n
	}
	return later
}

// isOver reports whether a step is done or gone.
func (s *State) isOver(id int64) bool {
	c := s.Step(id)
	return c == nil || c.Done()
}

// Past reports whether a denial is no longer of interest to a person: its step is done or gone, or
// the work went on with an update that was let through.
func (s *State) Past(e Evidence) bool {
	return s.isOver(e.Step) || s.lastLet().After(e.Time)
}
