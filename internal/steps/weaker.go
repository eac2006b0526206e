package steps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/txn"
)

// Recorded returns the workflows, as recorded, that hydrations have put into the list in dir and that have one of the tasks;
// no copies for lines. It reads no further back than the tasks need, and leaves out what cannot be read. Tasks that it has found
// are removed from tasks.
//
// untold is which gates workflows of the list have lost without a word to the person until now: a command or a tool of the agent has
// begun them, whose answer reaches the agent alone. Each hydration has on record what was not told before it, because the person is
// told at the end of a turn, in which there may be several, of workflows that are finished by then.
func Recorded(dir string, tasks map[int64]bool, opts ...txn.Option) (all []*Workflow, untold string) {
	src, err := txn.OpenReader(dir, opts...)
	if err != nil {
		return nil, ""
	}
	defer src.Close()
	isLast := true
	_ = src.Backwards(func(e txn.Entry) bool {
		w, err := ParseWorkflow(e.Record)
		if err == nil && w.Expands == "" && isLast {
			isLast = false
			if last := (weakened{w.Weakened, e.Number}); last.text != "" && !last.isTold(src) {
				untold = last.text
			}
		}
		if err == nil && w.takeFrom(tasks) && w.Expands == "" {
			all = append(all, &w)
		}
		return len(tasks) > 0 || isLast
	})
	slices.Reverse(all)
	return all, untold
}

// takeFrom removes the steps of the workflow, and of what came with it, from a set of tasks, and reports whether it had one.
func (w *Workflow) takeFrom(tasks map[int64]bool) (had bool) {
	for _, w := range w.all() {
		for _, s := range w.Steps {
			had = had || tasks[s.ID]
			delete(tasks, s.ID)
		}
	}
	return had
}

// placed is a step with its place in the fsm.json.
type placed struct {
	Step
	at    string // the ids of the steps that it is within, and its own
	after []int  // the indices of the steps before it in its array, direct or not
}

// flat returns the steps of a workflow, those that they consist of, and those that are done for each line.
func (w *Workflow) flat() (all []placed) {
	var add func(within string, steps []Step, under []Workflow)
	add = func(within string, steps []Step, under []Workflow) {
		index := map[int64]int{}
		for i, s := range steps {
			index[s.ID] = len(all) + i
		}
		first := len(all)
		for _, s := range steps {
			all = append(all, placed{Step: s, at: within + "/" + itoa(s.Local)})
		}
		for i := range steps {
			all[first+i].after = before(steps, steps[i], index)
		}
		for _, s := range steps {
			at := within + "/" + itoa(s.Local)
			if s.Each != nil {
				add(at, s.Each.ForEachLine(), nil)
			}
			for _, u := range under {
				if u.Parent == s.ID {
					add(at, u.Steps, u.Under)
				}
			}
		}
	}
	add("", w.Steps, w.Under)
	return all
}

// before returns the places of the steps that come before s.
func before(steps []Step, s Step, index map[int64]int) (all []int) {
	seen := map[int64]bool{}
	var follow func(Step)
	follow = func(s Step) {
		for _, id := range s.BlockedBy {
			i := slices.IndexFunc(steps, func(o Step) bool { return o.ID == id })
			if i < 0 || seen[id] {
				continue
			}
			seen[id] = true
			all = append(all, index[id])
			follow(steps[i])
		}
	}
	follow(s)
	return all
}

// Weaker returns which gates a workflow had that the one in its place does not have, each with the step it was of. A step
// is the same if its subject is, or else its place in the fsm.json.
func Weaker(old, now *Workflow) (gone []string) {
	were, are := old.flat(), now.flat()
	same := make([]int, len(were))
	for i, s := range were {
		same[i] = s.among(are)
	}
	for i, s := range were {
		var n placed
		if same[i] >= 0 {
			n = are[same[i]]
		}
		lost := lostGates(s.gates(), n.gates())
		for _, o := range s.Outcomes {
			switch k := slices.IndexFunc(n.Outcomes, func(p Outcome) bool { return p.Name == o.Name }); {
			case k >= 0: // else it cannot end so
				lost = append(lost, lostGates(o.Gates(), n.Outcomes[k].Gates())...)
			case len(n.Outcomes) == 0 && o.Back == 0: // it ends without one
				has := func(g Gate) bool {
					return slices.ContainsFunc(n.gates(), func(m Gate) bool { return m.Label() == g.Label() })
				}
				lost = append(lost, lostGates(slices.DeleteFunc(o.Gates(), has), nil)...)
			}
		}
		for _, r := range s.Only {
			lost = append(lost, lostRule(r, i, were, are, same)...)
		}
		if same[i] >= 0 {
			lost = append(lost, lostChoice(s.Step, n.Step)...)
			lost = append(lost, s.openedTo(n)...)
		}
		lost = append(lost, lostValues(s.Set, n.Set)...)
		if s.Within > 0 && n.Within == 0 {
			lost = append(lost, "within "+fsmspec.Duration(s.Limit()))
		} else if s.Within > 0 && n.Within > s.Within {
			lost = append(lost, "within "+fsmspec.Duration(s.Limit())+", now "+fsmspec.Duration(n.Limit()))
		}
		for _, b := range s.BlockedBy { // of the order only what the file says itself
			k := slices.IndexFunc(were, func(o placed) bool { return o.ID == b })
			if same[i] >= 0 && k >= 0 && same[k] >= 0 && slices.Contains(s.after, k) && !slices.Contains(n.after, same[k]) {
				lost = append(lost, "after "+quote(were[k].Subject))
			}
		}
		if len(lost) > 0 {
			gone = append(gone, fmt.Sprintf("%s (%s)", quote(s.Subject), strings.Join(lost, "; ")))
		}
	}
	return gone
}

// lostRule says that no step lists a rule any more that a step did, or that another one lists it, too, which need not come after
// the same steps.
func lostRule(rule string, i int, were, are []placed, same []int) (lost []string) {
	listed := false
	for k, n := range are {
		if !slices.Contains(n.Only, rule) {
			continue
		}
		listed = true
		had := slices.ContainsFunc(were, func(s placed) bool { return slices.Contains(s.Only, rule) && s.among(are) == k })
		early := func(b int) bool { return same[b] >= 0 && same[b] != k && !slices.Contains(n.after, same[b]) }
		if !had && (slices.ContainsFunc(were[i].after, early) || slices.Contains(were[i].after, slices.Index(same, k))) {
			lost = append(lost, "only: "+rule+", now also in "+quote(n.Subject))
		}
	}
	if !listed {
		lost = append(lost, "only: "+rule)
	}
	return lost
}

// gates returns the gates of the step; a step that is completed from the beginning has none.
func (s placed) gates() []Gate {
	if s.Status == completed {
		return nil
	}
	return s.Gates()
}

// openedTo returns by what ways the gates of the step, and of those after it, do not hold in the one in its place: it is not
// needed in any case, it ends as failed when its check fails, or an outcome of it ends the workflow.
func (s placed) openedTo(n placed) (ways []string) {
	if len(s.When) == 0 && len(n.When) > 0 && (len(s.gates()) > 0 || len(s.Only) > 0) {
		ways = append(ways, "needed in any case")
	}
	for _, o := range n.Outcomes {
		k := slices.IndexFunc(s.Outcomes, func(p Outcome) bool { return p.Name == o.Name })
		switch {
		case k < 0 && o.Name == machine.Failed && o.Back == 0 && s.Check != nil:
			ways = append(ways, "the check holds it up, now it ends as "+o.Name)
		case o.Stop && (k < 0 || !s.Outcomes[k].Stop):
			ways = append(ways, "the workflow goes on, now "+o.Name+" ends it")
		}
	}
	return ways
}

// among returns the index of the same step among others, or -1.
func (s placed) among(others []placed) int {
	for _, is := range []func(placed) bool{
		func(o placed) bool { return o.Subject == s.Subject && o.at == s.at },
		func(o placed) bool { return o.Subject == s.Subject },
		func(o placed) bool { return o.at == s.at },
	} {
		if i := slices.IndexFunc(others, is); i >= 0 {
			return i
		}
	}
	return -1
}

// lostChoice says that a person, or a certain command, does not decide any more how a step ends.
func lostChoice(old, now Step) []string {
	text := "a " + old.Decides + " decides how it ends"
	switch {
	case old.Decides == "" || now.Decides == machine.Person.String():
	case old.Decides != now.Decides:
		return []string{text}
	case old.Chooser.Run != now.Chooser.Run || old.Chooser.Dir != now.Chooser.Dir:
		return []string{text + ": " + short(old.Chooser.Run) + ", now " + short(now.Chooser.Run)}
	}
	return nil
}

// lostValues names the values that are not demanded any more, or that have to be something else. Of an array of values only
// further ones are a loss.
func lostValues(old, now []Value) (lost []string) {
	for _, v := range old {
		i := slices.IndexFunc(now, func(n Value) bool { return n.Name == v.Name })
		text := short(v.String())
		if i < 0 {
			lost = append(lost, text)
			continue
		}
		n := now[i]
		isSame := n.Pattern == v.Pattern && (n.Command == nil) == (v.Command == nil) && (n.OneOf == nil) == (v.OneOf == nil) &&
			!slices.ContainsFunc(n.OneOf, func(one string) bool { return !slices.Contains(v.OneOf, one) }) &&
			(n.Command == nil || n.Command.Run == v.Command.Run && n.Command.Dir == v.Command.Dir)
		if !isSame {
			lost = append(lost, text+", now "+short(n.String()))
		}
	}
	return lost
}

// short is a text of a workflow as it is named among others.
func short(text string) string { return visible.Clip(visible.Words(text), maxSubject) }

// lostGates names the gates that are gone. A check that runs another command counts as gone; another question to the
// person, or another time limit of a check, does not.
func lostGates(old, now []Gate) (lost []string) {
	for _, g := range old {
		i := slices.IndexFunc(now, func(n Gate) bool { return n.kind == g.kind })
		if i < 0 {
			lost = append(lost, short(g.Label()))
			continue
		}
		switch n := now[i]; {
		case g.check != nil && (g.check.Run != n.check.Run || g.check.Dir != n.check.Dir):
			lost = append(lost, short(g.Label())+", now "+short(n.check.Run))
		case g.skill != n.skill:
			lost = append(lost, visible.Words(g.Label()))
		case len(g.patterns) > 0:
			g.patterns = slices.DeleteFunc(slices.Clone(g.patterns), func(p string) bool { return slices.Contains(n.patterns, p) })
			if len(g.patterns) > 0 {
				lost = append(lost, short(g.Label()))
			}
		}
	}
	return lost
}
