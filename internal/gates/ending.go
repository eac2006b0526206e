package gates

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// ending is how a step is about to end: the word that was said,
// checked, and the gates that it depends on, evaluated one after the other. The order is:
// the word, the values, the skill that it demands, the step's files, its check, the command that decides, the outcome's files and
// check, and the approvals.
type ending struct {
	c    *call
	s    *state.State
	step *state.Current
	seen bool // it was completed in another way

	expand  []state.Evidence  // the line that expands it, if its lines have been read only now
	given   map[string]string // the values that completing the step gives
	asked   string            // the outcome that is spent, if another one is taken for it
	verdict Verdict
	missing decision // what has to be found out first
}

// end decides how the step ends. ok is false if it is denied or something is missing.
func (e *ending) end() (tr machine.Transition, ok bool) {
	name, ok := e.word()
	if !ok {
		return tr, false
	}
	if e.s.AwaitsLines(e.step, workflow.Completed) && !e.hasNoItems() {
		return tr, false
	}
	if e.owesValues(name) && !e.values(name) {
		return tr, false
	}
	if name == "" || !e.isFree(name) {
		failed, ok := e.ownGates()
		if !ok {
			return tr, false
		}
		if failed {
			name = machine.Failed
		}
	}
	if name == "" {
		if name, ok = e.choose(); !ok {
			return tr, false
		}
	}
	return e.take(name)
}

// word returns the outcome that was said, "" for none. It is checked before anything runs: ok is
// false if the step cannot end so.
func (e *ending) word() (name string, ok bool) {
	word := cmp.Or(e.c.update.Outcome, state.OutcomeIn(e.c.update.Metadata))
	if e.seen {
		word = state.OutcomeIn(e.step.File.Metadata)
	}
	name, e.verdict = e.name(word)
	if !e.verdict.Allowed() {
		return "", false
	}
	if _, err := e.s.Conclude(e.step, name); name != "" && errors.Is(err, machine.ErrSpent) {
		e.spent(name)
		return "", false
	}
	if name != "" && !e.seen && !e.agrees(name) {
		return "", false
	}
	return name, true
}

// hasNoItems reads the lines of a step that was completed in another way. It reports whether there are
// none; else the step is expanded, and has to wait for its copies.
func (e *ending) hasNoItems() bool {
	line, missing, v := e.c.itemsOf(e.s, e.step)
	if e.missing, e.verdict = missing, v; !missing.decided() || !v.Allowed() {
		return false
	}
	e.expand, e.s.Evidence = []state.Evidence{line}, append(e.s.Evidence, line)
	if len(line.Items) > 0 {
		e.verdict = itemsFirst(e.step)
	}
	return len(line.Items) == 0
}

// agrees reports whether no other update of the step is being let through with another outcome. A
// question of a command or of the MCP server is over when that has answered: without the person's yes
// nothing is on its way, and no hook may come at which the decision lapses.
func (e *ending) agrees(name string) bool {
	stands, ok := e.s.Last(e.step.ID)
	age := e.s.Time.Sub(stands.Time)
	if !ok || !stands.MayLapse() || stands.Verdict == state.Ask && stands.By.How != state.ByUpdate || stands.Outcome == "" ||
		age < -state.ClockSkew ||
		age > state.UpdateDelay {
		return true
	}
	if tr, err := e.s.Conclude(e.step, name); err != nil || tr.Outcome == stands.Outcome {
		return true
	}
	e.verdict = deny(e.step, "it is being let through as "+stands.Outcome,
		fmt.Sprintf("%s is being let through as %s: another update of it is on its way. Try again in the next message, "+
			"not in the same one, if that was stopped",
			e.step.Name(), stands.Outcome))
	e.verdict.past.forbidden = true
	return false
}

// isFree reports whether the outcome needs none of the step's own gates: it leads back, or is
// spent, so that the machine takes what comes then.
func (e *ending) isFree(name string) bool {
	tr, err := e.s.Conclude(e.step, name)
	return err == nil && (state.IsBack(tr) || tr.Outcome != name)
}

// take evaluates the gates of an outcome.
func (e *ending) take(name string) (tr machine.Transition, ok bool) {
	tr, err := e.s.Conclude(e.step, name)
	switch {
	case errors.Is(err, machine.ErrSpent):
		e.spent(name)
		return tr, false
	case err != nil:
		e.verdict = deny(e.step, err.Error(), e.step.Name()+" cannot be completed: "+err.Error())
		return tr, false
	case tr.Outcome != name:
		e.asked = name
		return tr, true // what comes when an outcome is spent has its gates not asked
	}
	var approvals []string
	if o := e.step.OutcomeNamed(name); o != nil {
		for _, g := range o.Gates() {
			if g.Kind == fsmspec.PersonApproves {
				approvals = append(approvals, g.Question)
			} else if !e.pass(g) {
				return tr, false
			}
		}
	}
	if !state.IsBack(tr) {
		return tr, e.approved(append(approvals, e.step.Approval))
	}
	return tr, true
}

// spent refuses an outcome that has led back as often as it may. A check that fails is then
// refused like any other.
func (e *ending) spent(name string) {
	if name == machine.Failed {
		e.verdict = check(e.step, *e.verdict.Check)
		return
	}
	others := e.s.Offered(e.step)
	var how string
	switch {
	case len(others) == 0:
		how = "Ask the person what to do"
	case e.step.Decides == machine.Command:
		how = "It can still end as " + message.Alternatives(others) + ", when its command says so"
	default:
		how = howToEnd(e.c.Via.How, others)
	}
	e.verdict = deny(e.step, name+" is spent", fmt.Sprintf("%s cannot end as %s any more: %s. %s", e.step.Name(), message.Quote(name),
		strings.Replace(state.SpentText(e.step, name), name, "it", 1), how))
}

// ownGates evaluates the gates of the step itself. failed is set if its check failed and the
// step can end so.
func (e *ending) ownGates() (failed, ok bool) {
	for _, g := range e.step.Gates() {
		isDue := g.When == fsmspec.AtCompletion || e.step.Status == workflow.Pending // completing a pending step starts it, too
		if !isDue || g.Kind == fsmspec.PersonApproves || e.pass(g) {                 // a person is asked last
			continue
		}
		r := e.c.facts[factKey{e.step.ID, g.Kind}].result // nil of a gate that is no check, and of a check that has not run
		if r == nil || r.Interrupted || r.Unrunnable || e.step.OutcomeNamed(machine.Failed) == nil {
			return false, false
		}
		e.verdict = Verdict{Check: r} // of what it ends as
		return true, true
	}
	return false, true
}

// pass evaluates a gate. It reports false if the gate denies, or has to be looked at first.
func (e *ending) pass(g fsmspec.Gate) bool {
	if v := pathFault(e.s, e.step, g, e.c.listFlag()); !v.Allowed() {
		e.verdict = v
		return false
	}
	if g.Check != nil && e.c.checksOff() {
		e.verdict.gaps = []state.Gap{state.ChecksOff}
		return true
	}
	f, known := e.c.facts[factKey{e.step.ID, g.Kind}]
	switch {
	case f.away != "":
		e.verdict = e.c.nowhere(e.step, f)
		return false
	case known || !g.Looks():
	case g.Check != nil:
		if left := e.c.left(); g.Check.Timeout > left {
			e.verdict = slow(e.step, e.step, g.Check.Timeout, left)
			return false
		}
		e.missing.check = &run{e.step, g.Kind, g.Check, e.s.Variables(e.step, e.given)}
		return false
	default:
		e.missing.files = []lookup{lookupOf(e.s, e.step, g)}
		return false
	}
	e.verdict = evaluate(g, e.step, f).after(e.verdict)
	if g.Check != nil && len(g.Check.Watch) > 0 && e.verdict.Allowed() {
		e.verdict.watched = watched(e.s, e.step, g.Check.Watch, f.Sight)
	}
	return e.verdict.Allowed()
}

// choose returns the outcome that a command decides.
func (e *ending) choose() (name string, ok bool) {
	g := fsmspec.Gate{Kind: fsmspec.CommandDecides, When: fsmspec.AtCompletion, Check: e.step.Chooser}
	if e.c.checksOff() {
		e.verdict = deny(e.step, "checks are off",
			e.step.Name()+" ends as its command says, and commands are not run here (--checks off). A person can say how it ends: "+
				state.ApproveCommand(e.step.ID, "NAME", e.c.listFlag()))
		e.verdict.gate = g.Kind
		return "", false
	}
	if !e.pass(g) {
		return "", false
	}
	f := e.c.facts[factKey{e.step.ID, fsmspec.CommandDecides}]
	lines := strings.Split(outputOf(f.result), "\n")
	name = strings.TrimSpace(lines[len(lines)-1])
	if !slices.Contains(e.step.Choices(), name) {
		e.verdict = deny(e.step, "its command decided nothing",
			fmt.Sprintf("%s cannot be completed: the last line of its command has to be %s, and is %s. The command: %s", e.step.Name(),
				message.Alternatives(e.step.Choices()), message.Quote(name), message.Clip(message.Words(f.result.Run),
					message.MaxSubject)+f.result.Complaint()))
		return "", false
	}
	return name, true
}

// approved asks a person the questions of the step and of its outcome, at once. One who completes the step in a terminal says yes to them.
func (e *ending) approved(questions []string) bool {
	questions = slices.DeleteFunc(questions, func(q string) bool { return q == "" })
	if len(questions) == 0 {
		return true
	}
	asked := *e.step
	asked.Approval = strings.Join(questions, "\n")
	ask := approval
	switch {
	case e.seen:
		ask = unapproved
	case e.c.unattended:
		ask = unattended
	}
	v := ask(&asked)
	if v.Decision == state.Ask && e.c.agreed {
		v = Verdict{Why: "a person said yes", answer: state.AtTerminal, question: v.question}
	}
	e.verdict = v.after(e.verdict)
	return v.Allowed()
}

// name checks the word that was said about how the step ends. An empty name is for a command
// to decide.
func (e *ending) name(word string) (string, Verdict) {
	switch e.step.Decides {
	case machine.Command:
		if word != "" && !e.seen && !e.c.checksOff() {
			return "", deny(e.step, "a command decides", e.step.Name()+" ends as its command says: leave the outcome out")
		}
		return "", Verdict{}
	case machine.Person:
		return e.choice(word)
	}
	return e.chosen(word)
}

// chosen checks the word of an agent.
func (e *ending) chosen(word string) (string, Verdict) {
	choices := e.step.Choices()
	if e.seen && !slices.Contains(choices, word) {
		word = ""
	}
	switch {
	case slices.Contains(choices, word):
		return word, Verdict{}
	case word == "" && len(choices) == 1:
		return choices[0], Verdict{}
	case word == "" && slices.Contains(choices, machine.Done):
		return machine.Done, Verdict{}
	case word == "" && e.seen && len(e.forward()) == 1:
		return e.forward()[0], Verdict{}
	}
	if len(e.step.Outcomes) == 0 {
		v := deny(e.step, "no outcomes", e.step.Name()+" has no outcomes. Leave the outcome out")
		v.past.forbidden = true
		return "", v
	}
	choices = e.s.Offered(e.step)
	what, why := "say how it ends", "no outcome"
	if word != "" {
		why = "no outcome " + message.Quote(word)
		what = "it cannot end as " + message.Quote(word)
		if slices.ContainsFunc(e.step.Outcomes, func(o fsmspec.Outcome) bool { return o.Name == word }) || word == machine.Skipped {
			what = "nobody chooses " + message.Quote(word)
		}
		choices = nearestFirst(word, choices)
	}
	return "", deny(e.step, why, fmt.Sprintf("%s cannot be completed: %s. %s", e.step.Name(), what, howToEnd(e.c.Via.How, choices)))
}

// forward returns the outcomes that can be chosen and go forward.
func (e *ending) forward() []string {
	return slices.DeleteFunc(e.step.Choices(), func(name string) bool {
		o := e.step.OutcomeNamed(name)
		return o != nil && o.Back != 0
	})
}

// howToEnd tells the agent how to say an outcome.
func howToEnd(how state.How, choices []string) string {
	text := "Complete it with " + Say(how, choices[0])
	if len(choices) > 1 {
		text += ", or with " + message.Alternatives(choices[1:])
	}
	return text
}

// Say returns how an agent that completes a step by this way says the outcome, unless that is
// empty, and gives the values with these names.
func Say(how state.How, outcome string, values ...string) string {
	members := func(all []string) string {
		for _, name := range values {
			all = append(all, fmt.Sprintf(`%q: "…"`, name))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	var words []string
	switch how {
	case state.ByShell, state.ByCommand, state.AtTerminal:
		if outcome != "" {
			words = append(words, "--outcome "+outcome)
		}
		for _, name := range values {
			words = append(words, "--set "+name+"=TEXT")
		}
		return strings.Join(words, " ")
	case state.ByMCP:
		if outcome != "" {
			words = append(words, fmt.Sprintf("outcome %q", outcome))
		}
		if len(values) > 0 {
			words = append(words, "values "+members(nil))
		}
		return strings.Join(words, " and ")
	}
	if outcome != "" {
		words = append(words, fmt.Sprintf(`"outcome": %q`, outcome))
	}
	return "metadata " + members(words)
}

func nearestFirst(word string, choices []string) []string {
	const far = 40
	slices.SortStableFunc(choices, func(a, b string) int {
		return message.Distance(word, a, far) - message.Distance(word, b, far)
	})
	return choices
}

// choice checks the word about a step that a person decides: it has to be what they chose.
func (e *ending) choice(word string) (string, Verdict) {
	chosen := e.s.Choice(e.step)
	switch {
	case chosen == "":
		return "", deny(e.step, "no person has chosen how it ends",
			fmt.Sprintf("%s is decided by the person. %s", e.step.Name(), e.letThemChoose()))
	case word != "" && word != chosen:
		return "", deny(e.step, "a person chose "+chosen, fmt.Sprintf("%s cannot end as %s: the person chose %s. %s", e.step.Name(),
			message.Quote(word), chosen, howToEnd(e.c.Via.How, []string{chosen})))
	}
	return chosen, Verdict{}
}

// letThemChoose tells the agent how the person can choose: by the answer to a question, or in a
// terminal.
func (e *ending) letThemChoose() string {
	command, choices, spent := state.ApproveCommand(e.step.ID, "NAME", e.c.listFlag()), e.s.Offered(e.step), e.s.SpentChoices(e.step)
	if e.c.Via.Who == state.ThePerson {
		text := spent + "Say how it ends:"
		for _, name := range choices {
			text += "\n  " + state.ApproveCommand(e.step.ID, name, e.c.listFlag())
		}
		return text
	}
	if e.c.Questions == "" {
		return spent + fmt.Sprintf("Tell them: it can end as %s, which they say in a terminal outside the client: %s",
			message.Alternatives(choices), command)
	}
	if len(choices) == 1 {
		choices = e.step.Choices() // a question has two options or more
	}
	return spent + fmt.Sprintf("Ask them with %[1]s: %[4]q, with exactly these options: %[2]s. Then complete it with what they chose. "+
		"Without %[1]s, tell the person: %[3]s",
		e.c.Questions, strings.Join(choices, ", "), command, state.Question(e.step))
}
