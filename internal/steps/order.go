package steps

// order denies an update of a step unless every step before it is done, and for its
// completion every one under it. A step that is gone from the list counts as done.
func order(s *State, c *Current, u Update) Verdict {
	open := s.OpenBlockers(c)
	if len(open) == 0 {
		if inside := s.openFor(c, u.Status); len(inside) > 0 {
			return notDoneUnder(s, c, inside)
		}
		return Verdict{}
	}
	verb := "started"
	if u.Status == completed {
		verb = "completed"
	}
	reason := c.Name() + " cannot be " + verb + ": " + Names(open) + " must be done first"
	v := deny(c, "order: "+numbers(open)+" not done", reason+". "+s.next(open))
	v.past.step = open[0].ID
	if first := s.first(open); first != nil && (first != open[0] || len(open) > 1) {
		v.past.step, v.past.more = first.ID, true
	} else if first == nil {
		v.past.only = true
	}
	return v
}

// first returns the step that comes first of open ones and those before them, nil if they wait
// for one another.
func (s *State) first(open []*Current) *Current {
	for range s.Steps {
		before := s.OpenBlockers(open[0])
		if len(before) == 0 {
			return open[0]
		}
		open = before
	}
	return nil
}

// next tells the agent what it can do instead.
func (s *State) next(open []*Current) string {
	for _, b := range open {
		switch {
		case s.checking(b.ID):
			return "The check of " + b.Name() + " is running in another call: wait until it ends, then try again"
		case s.aboutToBeCompleted(b):
			return "Another update is about to complete " + b.Name() + ": try again in the next message, not in the same one"
		}
	}
	return s.possible()
}

// possible names the steps that can be worked on.
func (s *State) possible() string {
	started, ready := s.Work()
	switch {
	case len(started) == 0 && len(ready) == 0:
		return NoneReady + ": only a person can go past that"
	case len(started) == 0:
		return "Ready now: " + Names(ready)
	case len(ready) == 0:
		return "In progress: " + Names(started)
	}
	return "In progress: " + Names(started) + ". Ready now: " + Names(ready)
}

// NoneReady tells an agent that a workflow cannot go on by itself.
const NoneReady = "No step is ready, because every open step waits for another open step"

func numbers(all []*Current) string {
	var list []string
	for _, c := range all {
		list = append(list, "#"+itoa(c.ID))
	}
	return sentence(list)
}
