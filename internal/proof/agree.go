package proof

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/state"
)

// A statement says what became of each step, and each decision about it. Both have to be what the workflows of the commit allow: all their
// steps are there, and a step that is done has a decision that completed it, in which its gates held. Who signs can make up all of that.
// But a statement that contradicts itself or its workflow does not hold, so that nobody is believed by mistake.

// matched is a step of a statement, and of a workflow.
type matched struct {
	Step
	task  fsmspec.Task // with numbers of the list
	level []*matched   // the steps of its level, with itself
}

// matching finds the steps of workflows in a statement.
type matching struct {
	run   Run
	left  map[int64]Step // those that no workflow has yet
	all   []*matched
	lines []string // what does not agree
}

func (m *matching) say(format string, operands ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, operands...))
}

// agree returns in what a run contradicts itself or its workflows, a line each. specs are those of Run.workflows.
func (r Run) agree(specs []*fsmspec.Spec) []string {
	m := matching{run: r, left: map[int64]Step{}}
	for _, s := range r.Steps {
		if _, twice := m.left[s.ID]; twice {
			m.say("the statement has the step #%d twice", s.ID)
		}
		if !s.Earlier {
			m.left[s.ID] = s
		}
	}
	for i, w := range r.workflows() {
		m.workflow(w, specs[i])
	}
	for _, s := range r.Steps {
		if _, ok := m.left[s.ID]; ok {
			m.say("the statement has a step %q, which its workflow does not have", s.Subject)
		}
	}
	for _, s := range m.all {
		m.step(s)
	}
	m.times()
	return m.lines
}

// workflow finds the steps of a workflow. One that was called anew under its step has none that count.
func (m *matching) workflow(w Nested, spec *fsmspec.Spec) {
	skill := w.Skill
	if w.Under == 0 {
		skill = ""
	}
	first := m.first(w.Under, skill)
	if first == math.MaxInt64 && w.Under != 0 && slices.ContainsFunc(m.run.Steps, func(s Step) bool {
		return s.Earlier && s.Skill == skill && (s.Under == w.Under || s.ID == w.Under)
	}) {
		return
	}
	base := int64(0)
	if first != math.MaxInt64 {
		base = first - least(spec.Levels(0)[0].Tasks)
	}
	m.levels(w.Skill, spec.Levels(base), w.Under, skill)
}

// first returns the smallest number of the steps that are under a step, or under none, and that no workflow has yet.
func (m *matching) first(under int64, skill string) int64 {
	first := int64(math.MaxInt64)
	for id, s := range m.left {
		if s.Under == under && s.Skill == skill {
			first = min(first, id)
		}
	}
	return first
}

// least returns the smallest number of tasks.
func least(tasks []fsmspec.Task) int64 {
	return slices.MinFunc(tasks, func(a, b fsmspec.Task) int { return int(a.ID - b.ID) }).ID
}

// levels finds the steps of the levels of a workflow, and then what they are done for.
func (m *matching) levels(name string, levels []fsmspec.Level, under int64, skill string) {
	for _, l := range levels {
		parent := l.Parent
		if parent == 0 {
			parent = under
		}
		var level []*matched
		for _, task := range l.Tasks {
			s, ok := m.left[task.ID]
			if !ok || s.Under != parent || s.Skill != skill || !fits(s.Subject, task.Subject) {
				m.say("the statement does not have the step %q of %s", strings.ReplaceAll(task.Subject, anyLine, "{item}"), name)
				continue
			}
			delete(m.left, task.ID)
			level = append(level, &matched{Step: s, task: task})
		}
		for _, s := range level {
			s.level = level
		}
		m.all = append(m.all, level...)
	}
	for _, l := range levels {
		for _, task := range l.Tasks {
			if task.Each != nil {
				m.copies(name, task, skill)
			}
		}
	}
}

// anyLine stands for a line for which a step is done. Nobody writes it, and it can be a name in a path.
const anyLine = "⸨line⸩"

// fits reports whether a subject is that of a task, in which anyLine may stand: then it begins as that does.
func fits(subject, of string) bool {
	before, _, has := strings.Cut(of, anyLine)
	return subject == of || has && strings.HasPrefix(subject, before)
}

// copies finds what is done for the lines of a step. How many there were is not known.
func (m *matching) copies(name string, task fsmspec.Task, skill string) {
	spec, err := fsmspec.ForItem(task.Each.Workflow, anyLine)
	if err != nil {
		m.say("what is done for the lines of the step %q cannot be read: %v", task.Subject, err)
		return
	}
	count := 0
	for _, s := range m.left {
		if s.Under == task.ID && s.Skill == skill {
			count++
		}
	}
	what := fsmspec.ItemPlan{Parent: task.ID}
	for range (count + len(spec.Tasks()) - 1) / len(spec.Tasks()) {
		what.Copies = append(what.Copies, spec)
	}
	if count > 0 {
		base := m.first(task.ID, skill) - least(spec.Levels(0)[0].Tasks)
		m.levels(name, what.Levels(base), task.ID, skill)
	}
}

// isExcused reports whether a person has gone past the gates of a step, or it was not enforced, as the statement says elsewhere.
func (m *matching) isExcused(s *matched) bool {
	return slices.ContainsFunc(m.run.Overrides, func(o Override) bool {
		return o.Step == s.ID && slices.Contains([]string{"done", "skip", isReload}, o.Kind)
	}) || m.run.isUnenforced(s.Step)
}

// isUnenforced reports whether a time at which steps were not enforced is about the step, or about all.
func (r Run) isUnenforced(s Step) bool {
	return slices.ContainsFunc(r.Unenforced, func(u Span) bool {
		said := u.Why // a statement has no other word for the step
		return strings.Contains(said, fmt.Sprintf("%q", s.Subject)) || !strings.Contains(said, `"`)
	})
}

// step compares the state of a step with the decisions about it, and these with its gates.
func (m *matching) step(s *matched) {
	for _, d := range s.Decisions {
		m.decision(s, d)
	}
	switch s.State {
	case isDone:
		m.done(s)
	case notNeeded:
		if !m.isUnneeded(s) {
			m.say("step %q is said not to be needed, and nothing on record makes it so", s.Subject)
		}
	}
}

// decision looks at one decision alone.
func (m *matching) decision(s *matched, d Decision) {
	e := state.Evidence{Verdict: state.Decision(d.Decision)}
	if kind := e.GonePast(); kind != "" && !slices.ContainsFunc(m.run.Overrides, func(o Override) bool {
		return o.Kind == kind && o.Step == s.ID && o.Time.Equal(d.Time)
	}) {
		m.say("a person's word on step %q at %s (%s) is not among what was gone past", s.Subject, moment(d.Time), kind)
	}
	if d.Young && !slices.ContainsFunc(m.run.Overrides, func(o Override) bool {
		return o.Kind == isYoung && o.Step == s.ID && o.Time.Equal(d.Time)
	}) {
		m.say("the terminal of the word on step %q at %s is young, and that is not among what was gone past", s.Subject, moment(d.Time))
	}
	unseen := d.To == "completed" && e.Lets() && e.GonePast() == "" && d.How == string(state.ByShell) || e.Verdict == state.SeenDone
	if unseen && !m.run.isUnenforced(s.Step) {
		m.say("step %q was completed at %s, no hook of the client has seen that, and it is not among what was not enforced",
			s.Subject, moment(d.Time))
	}
	fails := d.Outcome == machine.Failed || s.task.OutcomeNamed(machine.Failed) != nil && d.Outcome == s.task.OutcomeNamed(machine.Failed).Then
	if d.Check != nil && d.Check.Exit != 0 && slices.Contains(passing, d.Decision) && !fails && !m.run.isUnenforced(s.Step) {
		m.say("step %q was let pass at %s although its command had exited with %d", s.Subject, moment(d.Time), d.Check.Exit)
	}
}

// done looks at a step that is done: at the decision that completed it, and at its gates then.
func (m *matching) done(s *matched) {
	ticked := m.run.FSM.Plan && s.Under == 0 && len(s.Decisions) == 0 // before the run began, which is a note
	if s.task.Status == fsmspec.Completed || ticked || m.isExcused(s) {
		return
	}
	d := s.completed()
	if d == nil {
		m.say("step %q is said to be done, and no decision completed it at its end", s.Subject)
		return
	}
	name := s.Outcome
	switch o := s.task.OutcomeNamed(name); {
	case d.Outcome != name, o == nil && !slices.Contains(new(s.task.ForMachine()).Choices(), name), o != nil && o.Back != 0:
		m.say("step %q is said to have ended as %q, and it cannot have", s.Subject, name)
		return
	}
	if s.task.Skill != "" && !slices.ContainsFunc(s.Decisions, func(d Decision) bool { return d.Decision == string(state.Called) }) {
		m.say("step %q is done, and it is not on record that the skill %s was called in it", s.Subject, s.task.Skill)
	}
	if m.isThen(s, name) || name == machine.Late {
		return // its gates are not asked then
	}
	if due := due(s.task, name); len(due) > 0 && !slices.ContainsFunc(s.Decisions, func(p Decision) bool {
		return p.Round == d.Round && p.Check != nil && p.Check.Exit == 0 && slices.Contains(passing, p.Decision) &&
			slices.Contains(due, p.Check.Run)
	}) {
		m.say("step %q is done, and it is not on record that its check has passed", s.Subject)
	}
	o := s.task.Declared(name)
	if (s.task.Approval != "" || o.Approval != "") && d.Answer != "yes" {
		m.say("step %q is done, and it is not on record that a person has approved it", s.Subject)
	}
	if s.task.Decides == fsmspec.ByPerson && !slices.ContainsFunc(s.Decisions, func(p Decision) bool {
		return p.Decision == string(state.Chosen) && p.Answer != "" && p.Outcome == name
	}) {
		m.say("step %q is done, and it is not on record that a person has chosen how it ends", s.Subject)
	}
}

// isThen reports whether an outcome comes when another one is spent.
func (m *matching) isThen(s *matched, name string) bool {
	return slices.ContainsFunc(s.task.Outcomes, func(o fsmspec.Outcome) bool { return o.Then == name })
}

// due returns the commands, one of which has to have passed when a step ends so: the last of them that ran is on record.
func due(t fsmspec.Task, outcome string) (all []string) {
	for _, v := range t.Set {
		if v.Command != nil {
			all = append(all, v.Command.Run)
		}
	}
	for _, c := range []*fsmspec.Check{t.Check, t.Chooser, t.Declared(outcome).Check} {
		if c != nil && (c != t.Check || outcome != machine.Failed) {
			all = append(all, c.Run)
		}
	}
	return all
}

// isUnneeded reports whether something on record makes a step unnecessary: how a step of its condition ended, an outcome that ends its
// level, a person who ended that, or that the step which it is under is over.
func (m *matching) isUnneeded(s *matched) bool {
	for _, other := range s.level {
		ended := other.State != isOpen && other.State != isGone
		for _, c := range s.task.When {
			outcome := other.Outcome
			if other.State == notNeeded || other.State == isSkipped {
				outcome = machine.Skipped
			}
			if c.Step == other.ID && ended && !slices.Contains(c.Outcomes, outcome) {
				return true
			}
		}
		if other.State == isDone && other.task.Declared(other.Outcome).Stop {
			return true
		}
	}
	for _, o := range m.run.Overrides {
		if o.Kind == string(state.End) && (o.Step == s.ID || slices.Contains(o.NotNeeded, s.Subject)) {
			return true
		}
	}
	return slices.ContainsFunc(m.all, func(p *matched) bool { return p.ID == s.Under && p.State != isOpen })
}

// times compares when the run ended with when its steps did.
func (m *matching) times() {
	ended := m.run.Began
	for _, s := range m.run.Steps {
		if s.Ended.After(ended) {
			ended = s.Ended
		}
	}
	if !m.run.Ended.IsZero() && !m.run.Ended.Equal(ended) {
		m.say("the run is said to have ended at %s, and its last step ended at %s", moment(m.run.Ended), ended.UTC().Format(time.RFC3339))
	}
}
