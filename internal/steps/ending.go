package steps

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
)

// ending is how a step is about to end: the word that was said,
// judged, and the gates that it depends on, evaluated one after the other. The order is:
// the word, the values, the skill that it demands, the step's files, its check, the command that decides, the outcome's files and
// check, and the approvals.
type ending struct {
	c    *call
	s    *State
	step *Current
	seen bool // it was completed in another way

	expand  []Evidence        // the line that expands it, if its lines have been read only now
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
	if e.s.awaitsLines(e.step, completed) && !e.hasNoItems() {
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

// word returns the outcome that was said, "" for none. It is judged before anything runs: ok is
// false if the step cannot end so.
func (e *ending) word() (name string, ok bool) {
	word := cmp.Or(e.c.update.Outcome, outcomeIn(e.c.update.Metadata))
	if e.seen {
		word = outcomeIn(e.step.file.Metadata)
	}
	name, e.verdict = e.name(word)
	if !e.verdict.Allowed() {
		return "", false
	}
	if _, err := e.s.conclude(e.step, name); name != "" && errors.Is(err, machine.ErrSpent) {
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
	e.expand, e.s.Evidence = []Evidence{line}, append(e.s.Evidence, line)
	if len(line.Items) > 0 {
		e.verdict = itemsFirst(e.step)
	}
	return len(line.Items) == 0
}

// agrees reports whether no other update of the step is being let through with another outcome. A
// question of a command or of the MCP server is over when that has answered: without the person's yes
// nothing is on its way, and no hook may come at which the decision lapses.
func (e *ending) agrees(name string) bool {
	stands, ok := e.s.last(e.step.ID)
	age := e.s.Time.Sub(stands.Time)
	if !ok || !stands.mayLapse() || stands.Verdict == Ask && stands.By.How != ByUpdate || stands.Outcome == "" || age < -clockSkew ||
		age > updateDelay {
		return true
	}
	if tr, err := e.s.conclude(e.step, name); err != nil || tr.Outcome == stands.Outcome {
		return true
	}
	e.verdict = deny(e.step, "it is being let through as "+stands.Outcome,
		fmt.Sprintf("%s is being let through as %s: another update of it is on its way. Try again in the next message, "+
			"not in the same one, if that was stopped",
			e.step.Name(), stands.Outcome))
	e.verdict.past.none = true
	return false
}

// isFree reports whether the outcome needs none of the step's own gates: it leads back, or is
// spent, so that the machine takes what comes then.
func (e *ending) isFree(name string) bool {
	tr, err := e.s.conclude(e.step, name)
	return err == nil && (isBack(tr) || tr.Outcome != name)
}

// take evaluates the gates of an outcome.
func (e *ending) take(name string) (tr machine.Transition, ok bool) {
	tr, err := e.s.conclude(e.step, name)
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
	if o := e.step.outcomeNamed(name); o != nil {
		for _, g := range o.Gates() {
			if g.kind == personApproves {
				approvals = append(approvals, g.question)
			} else if !e.pass(g) {
				return tr, false
			}
		}
	}
	if !isBack(tr) {
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
	others := slices.DeleteFunc(e.step.Choices(), func(o string) bool { return o == name })
	how := howToEnd(e.c.Via.How, others)
	switch e.step.Decides {
	case machine.Command.String():
		how = "It can still end as " + alternatives(others) + ", when its command says so"
	}
	e.verdict = deny(e.step, name+" is spent", fmt.Sprintf("%s cannot end as %s any more: %s. %s", e.step.Name(), quote(name),
		strings.Replace(spentText(e.step, name), name, "it", 1), how))
}

// ownGates evaluates the gates of the step itself. failed is set if its check failed and the
// step can end so.
func (e *ending) ownGates() (failed, ok bool) {
	for _, g := range e.step.Gates() {
		isDue := g.when == atCompletion || e.step.Status == pending // completing a pending step starts it, too
		if !isDue || g.kind == personApproves || e.pass(g) {        // a person is asked last
			continue
		}
		// without a result it did not run
		if g.kind != checkPasses || !e.missing.decided() || e.verdict.Check == nil || e.verdict.Check.interrupted || e.verdict.Check.unrunnable ||
			e.step.outcomeNamed(machine.Failed) == nil {
			return false, false
		}
		e.verdict = Verdict{Check: e.verdict.Check} // of what it ends as
		return true, true
	}
	return false, true
}

// pass evaluates a gate. It reports false if the gate denies, or has to be looked at first.
func (e *ending) pass(g Gate) bool {
	if v := pathFault(e.s, e.step, g, e.c.listFlag()); !v.Allowed() {
		e.verdict = v
		return false
	}
	if g.check != nil && e.c.NoChecks {
		return true
	}
	f, known := e.c.facts[factKey{e.step.ID, g.kind}]
	switch {
	case f.away != "":
		e.verdict = e.c.nowhere(e.step, f)
		return false
	case known || !g.looks():
	case g.check != nil:
		if left := e.c.left(); g.check.Limit() > left {
			e.verdict = slow(e.step, e.step, g.check.Limit(), left)
			return false
		}
		e.missing.check = &run{e.step, g.kind, g.check, e.s.variables(e.step, e.given)}
		return false
	default:
		e.missing.files = []lookup{lookupOf(e.s, e.step, g)}
		return false
	}
	e.verdict = evaluate(g, e.step, f).after(e.verdict)
	return e.verdict.Allowed()
}

// choose returns the outcome that a command decides.
func (e *ending) choose() (name string, ok bool) {
	g := Gate{kind: commandDecides, when: atCompletion, check: e.step.Chooser}
	if e.c.NoChecks {
		e.verdict = deny(e.step, "checks are off",
			e.step.Name()+" ends as its command says, and commands are not run here (--checks off). A person can say how it ends: fsmtx step done "+
				itoa(e.step.ID)+" --outcome NAME")
		return "", false
	}
	if !e.pass(g) {
		return "", false
	}
	f := e.c.facts[factKey{e.step.ID, commandDecides}]
	lines := strings.Split(strings.TrimSpace(f.result.output), "\n")
	name = strings.TrimSpace(lines[len(lines)-1])
	if !slices.Contains(e.step.Choices(), name) {
		e.verdict = deny(e.step, "its command decided nothing",
			fmt.Sprintf("%s cannot be completed: the last line of its command has to be %s, and is %s. The command: %s", e.step.Name(),
				alternatives(e.step.Choices()), quote(name), message.Clip(message.Words(f.result.Run), maxSubject)+f.result.complaint()))
		return "", false
	}
	return name, true
}

// approved asks a person the questions of the step and of its outcome, at once.
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
	v.Check, v.unchanged = e.verdict.Check, e.verdict.unchanged
	e.verdict = v
	return false
}

// name judges the word that was said about how the step ends. An empty name is for a command
// to decide.
func (e *ending) name(word string) (string, Verdict) {
	switch e.step.Decides {
	case machine.Command.String():
		if word != "" && !e.seen {
			return "", deny(e.step, "a command decides", e.step.Name()+" ends as its command says: leave the outcome out")
		}
		return "", Verdict{}
	case machine.Person.String():
		return e.answer(word)
	}
	return e.chosen(word)
}

// chosen judges the word of an agent.
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
		v.past.none = true
		return "", v
	}
	choices = e.s.Offered(e.step)
	what, why := "say how it ends", "no outcome"
	if word != "" {
		why = "no outcome " + quote(word)
		what = "it cannot end as " + quote(word)
		if slices.ContainsFunc(e.step.Outcomes, func(o Outcome) bool { return o.Name == word }) || word == machine.Skipped {
			what = "nobody chooses " + quote(word)
		}
		choices = nearestFirst(word, choices)
	}
	return "", deny(e.step, why, fmt.Sprintf("%s cannot be completed: %s. %s", e.step.Name(), what, howToEnd(e.c.Via.How, choices)))
}

// forward returns the outcomes that can be chosen and go forward.
func (e *ending) forward() []string {
	return slices.DeleteFunc(e.step.Choices(), func(name string) bool {
		o := e.step.outcomeNamed(name)
		return o != nil && o.Back != 0
	})
}

// howToEnd tells the agent how to say an outcome.
func howToEnd(how How, choices []string) string {
	text := "Complete it with " + Say(how, choices[0])
	if len(choices) > 1 {
		text += ", or with " + alternatives(choices[1:])
	}
	return text
}

// Say returns how an agent that completes a step by this way says the outcome, unless that is
// empty, and gives the values with these names.
func Say(how How, outcome string, values ...string) string {
	members := func(all []string) string {
		for _, name := range values {
			all = append(all, fmt.Sprintf(`%q: "…"`, name))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	var words []string
	switch how {
	case ByShell, AtTerminal:
		if outcome != "" {
			words = append(words, "--outcome "+outcome)
		}
		for _, name := range values {
			words = append(words, "--set "+name+"=TEXT")
		}
		return strings.Join(words, " ")
	case ByMCP:
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

// Given returns the names of the values that the agent gives when it completes the step.
func (s Step) Given() (names []string) {
	for _, v := range s.Set {
		if v.Command == nil {
			names = append(names, v.Name)
		}
	}
	return names
}

// alternatives joins words with commas and "or".
func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func nearestFirst(word string, choices []string) []string {
	const far = 40
	slices.SortStableFunc(choices, func(a, b string) int {
		return message.Distance(word, a, far) - message.Distance(word, b, far)
	})
	return choices
}

// answer judges the word about a step that a person decides: it has to be what they chose.
func (e *ending) answer(word string) (string, Verdict) {
	chosen := e.s.answered(e.step)
	switch {
	case chosen == "":
		return "", deny(e.step, "the person has not chosen",
			fmt.Sprintf("%s is decided by the person. %s", e.step.Name(), e.letThemChoose()))
	case word != "" && word != chosen:
		return "", deny(e.step, "the person chose "+chosen, fmt.Sprintf("%s cannot end as %s: the person chose %s. %s", e.step.Name(),
			quote(word), chosen, howToEnd(e.c.Via.How, []string{chosen})))
	}
	return chosen, Verdict{}
}

// letThemChoose tells the agent how the person can choose: by the answer to a question, or in a
// terminal.
func (e *ending) letThemChoose() string {
	command, choices, spent := outcomeCommand(e.step.ID, e.c.listFlag()), e.s.Offered(e.step), e.s.spentChoices(e.step)
	if e.c.Questions == "" {
		return spent + fmt.Sprintf("Tell them: it can end as %s, which they say in a terminal outside the client: %s",
			alternatives(choices), command)
	}
	if len(choices) == 1 {
		choices = e.step.Choices() // a question has two options or more
	}
	return spent + fmt.Sprintf("Ask them with %[1]s: %[4]q, with exactly these options: %[2]s. Then complete it with what they chose. "+
		"Without %[1]s, tell the person: %[3]s",
		e.c.Questions, strings.Join(choices, ", "), command, fsmspec.Question(e.step.ID))
}

// Offered returns the outcomes of the step that can be chosen now: not those that have led back as
// often as they may.
func (s *State) Offered(c *Current) []string {
	return slices.DeleteFunc(slices.Clone(c.Choices()), func(name string) bool { return s.isSpent(c, name) })
}

func (s *State) isSpent(c *Current, outcome string) bool {
	_, err := s.conclude(c, outcome)
	return errors.Is(err, machine.ErrSpent)
}

// spentChoices says which outcomes cannot be chosen any more, in sentences.
func (s *State) spentChoices(c *Current) (text string) {
	for _, name := range c.Choices() {
		if s.isSpent(c, name) {
			text += fmt.Sprintf("It cannot end as %s any more, which has led back as often as it may (%s): tell them. ", quote(name),
				timesText(c.outcomeNamed(name).Max))
		}
	}
	return text
}

// answered returns what the person chose for the step in this round, or "", also if the step cannot end
// so any more.
func (s *State) answered(c *Current) string {
	if outcome := s.answer(c).Outcome; !s.isSpent(c, outcome) {
		return outcome
	}
	return ""
}

// answer returns the line that records what the person chose for the step in this round.
func (s *State) answer(c *Current) Evidence {
	e, _ := s.lastOf(c.ID, func(e Evidence) bool { return e.Verdict == Answer && e.Round == c.Round })
	return e
}

// outcomeCommand returns the command with which a person says how a step ends.
func outcomeCommand(id int64, list string) string {
	return fmt.Sprintf(`fsmtx step done %d --outcome NAME --because "..." %s`, id, list)
}
