package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Decision is the kind of a line of evidence, as it is called in JSON. The table kinds says what each means.
type Decision string

const (
	Allow    Decision = "allow"
	Deny     Decision = "deny"
	Ask      Decision = "ask" // a person has to say yes
	Declined Decision = "no"  // a person was asked, and did not say yes

	// A person went past the gates, or took something back. Only in evidence, as is all that follows.
	Skip    Decision = "skip"
	CallsIt Decision = "done" // a person says that the step is done
	Reopen  Decision = "reopen"
	End     Decision = "end"

	// An update that was allowed, or about which a person was asked, was not carried out, so the decision counts no more.
	Lapsed Decision = "lapse"

	Reached  Decision = "reached" // an update that was allowed has reached the list
	SeenDone Decision = "seen"    // a step was completed in another way, and counts as done
	Late     Decision = "late"    // the time limit of a step has passed, and it can end as late
	Shown    Decision = "shown"   // the list shows which steps were opened again
	Chosen   Decision = "chosen"  // a person chose how a step ends
	Over     Decision = "over"    // the person was told that a time limit has passed
	Called   Decision = "called"  // the skill that a step demands was called while it was in progress
	Noted    Decision = "note"    // a note about a step that was done already

	Ticked   Decision = "tick"  // the box of a step in its plan is set: From and To are what is in it before and after
	WasMoved Decision = "moved" // a person said where the directory of a workflow is now

	// About calls.
	Permitted Decision = "permit" // a person lets a call through, once

	// Of steps that are done for lines.
	Expand   Decision = "expand"   // the lines were read; their tasks follow
	Expanded Decision = "expanded" // the tasks for the lines are in the list
)

// kind is what a kind of evidence means to everyone who reads it. Nobody looks at Evidence.Why for that.
type kind struct {
	name Decision
	by   deciders // who may decide so

	// What it does to the fold. lets: the update is carried out. event: what it is to the machine, unless that is nothing. folded: the
	// fold needs it for more than that.
	lets   bool
	event  event
	folded bool

	lasting bool // it cannot be found out again from the list and the files of the project, so it is synced

	word  string // what people read in place of its name; of Allow see Evidence.Word
	past  string // in a statement: how a person went past, allowed or took back something; empty if it is nothing of that
	quiet bool   // it only says what the list or a plan shows by now: log and statements leave it out

	// What the person and the agent are told of it, behind the step and before the reason; empty if it is nothing beside how the step
	// ended. The person reads that of a kind that lets a step end in parentheses.
	person, agent string
}

// event is what a line is to the machine.
type event int

const (
	nothing event = iota
	concludes
	passes
	reopens
	ends
)

// deciders are some of those who can decide.
type deciders uint8

const (
	agent deciders = 1 << iota
	person
	script
	clock
	program

	anyone = agent | person | script | clock | program
	ours   = script | program
	people = person | script // a script outside the client that has a grant
)

// has reports whether who is among them. Nobody's name is among all: of lines in tests.
func (d deciders) has(who Who) bool {
	switch who {
	case TheAgent:
		return d&agent != 0
	case ThePerson:
		return d&person != 0
	case TheCommand:
		return d&script != 0
	case TheClock:
		return d&clock != 0
	}
	return who == "" || d&program != 0
}

// kinds has every kind of evidence, the most frequent first. It is an array, which nothing fills when the program starts.
var kinds = [...]kind{
	{name: Allow, word: "let through", by: anyone, lets: true},
	{name: Deny, word: "refused", by: ours, person: "was refused", agent: "is refused"},
	{name: Ask, word: "needs a yes", by: agent | person, lasting: true},
	{name: Declined, word: "declined", by: person},

	{name: Skip, word: "skipped", by: people, lets: true, event: passes, lasting: true, past: "skip"},
	{name: CallsIt, word: "called done", by: people, lets: true, event: concludes, lasting: true, past: "done"},
	{name: Reopen, word: "opened again", by: people, lets: true, event: reopens, lasting: true, past: "reopen"},
	{name: End, word: "ended", by: people, lets: true, event: ends, lasting: true, past: "end", person: "ended"},

	{name: Lapsed, word: "lapsed", by: ours, folded: true},
	{name: Reached, word: "completed", by: anyone, lets: true, event: concludes, quiet: true},
	{name: SeenDone, word: "found completed", by: anyone, lets: true, event: concludes},
	{name: Late, word: "late", by: clock, lets: true, event: concludes, person: "late", agent: "is done as late"},
	{name: Shown, word: "shown", by: anyone, folded: true, quiet: true},
	{name: Chosen, word: "chosen", by: people, lasting: true},
	{name: Over, word: "over its time", by: clock, folded: true},
	{name: Called, word: "skill called", by: anyone, folded: true, lasting: true},
	{name: Noted, word: "noted", by: agent | person},

	{name: Ticked, word: "ticked", by: program, lasting: true, quiet: true},
	{name: WasMoved, word: "moved", by: people},
	{name: Permitted, word: "let through", by: people, past: "allow"},

	{name: Expand, word: "lines read", by: anyone, lasting: true},
	{name: Expanded, word: "lines read", by: anyone, quiet: true},
}

// of returns what a kind means; nothing for one that this version does not know.
func of(name Decision) kind {
	for i := range kinds {
		if kinds[i].name == name {
			return kinds[i]
		}
	}
	return kind{}
}

// errNotTheirs is returned for a line of a kind that who is said to have decided may not decide.
var errNotTheirs = errors.New("may not decide so")

// isTheirs returns errNotTheirs unless the one who decided may decide so.
func (e Evidence) isTheirs() error {
	if by := of(e.Verdict).by; by != 0 && by.has(e.By.Who) {
		return nil
	}
	return fmt.Errorf("%s of #%d: %s %w", e.Verdict, e.Step, e.By.Who, errNotTheirs)
}

// Lets reports whether the decision lets an update be carried out. A question without an answer does not, nor does a
// kind that this version does not know.
func (e Evidence) Lets() bool { return of(e.Verdict).lets }

// GonePast returns how a person went past, allowed or took back something by the line, as a statement names it; empty if it is nothing
// of that.
func (e Evidence) GonePast() string { return of(e.Verdict).past }

// IsOverride reports whether a person went past the gates by the line, or took back what was decided.
func (e Evidence) IsOverride() bool { return e.GonePast() != "" && e.Lets() }

// Concludes reports whether the step has ended with the line, other than as one that was left out.
func (e Evidence) Concludes() bool { return of(e.Verdict).event == concludes }

// IsQuiet reports whether the line only says what the list or a plan shows by now.
func (e Evidence) IsQuiet() bool { return of(e.Verdict).quiet }

// ForPerson returns what the person is told of the line, behind the name of its step; empty if it has nothing to tell but how that ended.
func (e Evidence) ForPerson() string {
	if len(e.Reopens) > 0 && !e.IsReopen() {
		return "was sent back"
	}
	return of(e.Verdict).person
}

// ForAgent returns what the agent is told of the line, behind the name of its step, with the reason; or empty, as for ForPerson.
func (e Evidence) ForAgent() string {
	if text := of(e.Verdict).agent; text != "" {
		return text + ": " + e.Why
	}
	return ""
}

// Word returns what people read of the kind of a decision about a step, of an update to a status.
func (d Decision) Word(to string) string {
	word := cmp.Or(of(d).word, string(d))
	switch {
	case d == Allow && to == workflow.InProgress:
		return "started"
	case d == Allow && to == workflow.Completed:
		return "completed"
	}
	return word
}

// Word returns what people read of the line.
func (e Evidence) Word() string {
	switch {
	case e.Rule != "" && e.Verdict == Allow:
		return "call let through"
	case e.Rule != "" && e.Verdict == Deny:
		return "call refused"
	}
	return e.Verdict.Word(e.To)
}

// Refuses reports whether the line refuses an update or a call.
func (e Evidence) Refuses() bool { return e.Verdict == Deny || e.Verdict == Declined }

// toMachine returns what the line is to the machine. ok is false if it is nothing to it.
func (e Evidence) toMachine() (m machine.Event, ok bool) {
	switch m = (machine.Event{Step: e.Step}); of(e.Verdict).event {
	case concludes:
		m.Kind, m.Outcome = machine.Concluded, e.Outcome
	case passes:
		m.Kind = machine.Passed
	case reopens:
		m.Kind = machine.Reopened
	case ends:
		m.Kind = machine.Ended
	default:
		return m, false
	}
	return m, true
}

// Gap is why a decision does not show that the step was enforced.
type Gap string

const (
	ChecksOff Gap = "checks off"    // a command of the step was not run
	Unread    Gap = "unread record" // what is on record of the step could not be read
	Unseen    Gap = "unseen"        // no hook of the client has seen the command, whose environment the agent may have changed
	Observing Gap = "observing"     // the hooks only observe: a gate that refuses, or that asks a person, lets it pass
	Otherwise Gap = "another way"   // the list was changed in another way than by an update that was let through
)

// meanings has every Gap: what status and log say of it, and what a statement says, of a step.
var meanings = [...]struct {
	gap              Gap
	words, statement string
}{
	{ChecksOff, "checks are off", "checks were off when step %q was completed"},
	{Unread, "its record cannot be read", "what is on record of step %q could not be read"},
	{Unseen, "by a command that no hook has seen", "step %q was decided by a command that no hook of the client has seen"},
	{Observing, "observing: nothing is refused", "observing: nothing was refused, nor asked, when step %q was decided"},
	{Otherwise, "past the hooks",
		"step %q was changed without a hook: hooks were off, fsmtx was missing, or another session or program changed the list"},
}

// words returns what status and log say of it.
func (g Gap) words() string {
	for _, m := range meanings {
		if m.gap == g {
			return m.words
		}
	}
	return string(g)
}

// statement returns what a statement says of it, about a step with this subject.
func (g Gap) statement(subject string) string {
	for _, m := range meanings {
		if m.gap == g {
			return fmt.Sprintf(m.statement, subject)
		}
	}
	return string(g)
}

// WordsOf returns, in parentheses, what was not enforced; empty if nothing was left out.
func WordsOf(gaps []Gap) string {
	var all []string
	for _, g := range gaps {
		all = append(all, g.words())
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// Answer returns what a person has answered by the line: yes, no or a choice; empty if it is not an answer of theirs.
func (e Evidence) Answer() string {
	switch {
	case e.Verdict == Chosen:
		return "a choice"
	case e.Verdict == Declined:
		return "no"
	case e.Verdict == Allow && e.Question != "" && e.By.Who == ThePerson:
		return "yes"
	}
	return ""
}

// NotEnforced returns why the line shows that a step with this subject was not enforced; empty if it does not. A refusal lets
// nothing through, but one of what was done already shows that no hook has judged that. What only a command in the agent's shell has
// decided is not enforced: of hooks that were off from the beginning nothing else tells.
func (e Evidence) NotEnforced(subject string) string {
	if e.Lets() && e.To == workflow.Completed && e.By.How == ByShell && e.GonePast() == "" && len(e.Gaps) == 0 {
		return Unseen.statement(subject)
	}
	for _, g := range e.Gaps {
		if e.Lets() || g == Otherwise {
			return g.statement(subject)
		}
	}
	return ""
}

// Said returns why it was decided so, with what else the reader has to know: what was not enforced, and which files are as they were.
func (e Evidence) Said() string {
	parts := []string{e.Why}
	for _, g := range e.Gaps {
		if g != Otherwise {
			parts = append(parts, g.words())
		}
	}
	if weak := e.Watched.Weakened(); e.Lets() && weak != "" {
		parts = append(parts, "of "+weak)
	}
	if e.Lets() && len(e.Unchanged) > 0 {
		parts = append(parts, "unchanged: "+message.Sentence(e.Unchanged))
	}
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), "; ")
}

// Short returns the reason up to its first colon: it may go on with what a person or a program has written.
func (e Evidence) Short() string {
	short, _, _ := strings.Cut(e.Why, ":")
	return short
}
