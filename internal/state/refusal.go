package state

import "slices"

// Refusal returns the latest denial of an update or a call that is not past. ok is false if there
// is none.
func (s *State) Refusal() (e Evidence, ok bool) {
	for _, d := range slices.Concat(s.Evidence, s.Calls) {
		if d.Refuses() && !s.Past(d) && (!ok || !d.Time.Before(e.Time)) {
			e, ok = d, true
		}
	}
	return e, ok
}

// Past reports whether a denial is no longer of interest to a person: its step is done or gone, or
// the work went on with an update that was let through.
func (s *State) Past(e Evidence) bool {
	if c := s.Step(e.Step); c == nil || c.Done() {
		return true
	}
	return slices.ContainsFunc(s.Evidence, func(o Evidence) bool { return o.Lets() && o.Time.After(e.Time) })
}
