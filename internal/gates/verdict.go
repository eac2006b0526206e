package gates

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// MaxNote limits a note and the reason for a skipped step, in bytes.
const MaxNote = 4000

// Update is a requested change of a task of the list.
type Update struct {
	Task     string         // its number in the only spelling that the client's TaskUpdate finds (fact 55, client 2.1.329)
	Status   string         // the new status, or "deleted"; empty if it does not change
	Metadata jsontext.Value // changes of the metadata, an object in which null removes a key; nil if there are none

	Subject      *string  // the new subject; nil if it does not change
	Description  *string  // the new description; nil if it does not change
	AddBlocks    []string // tasks that are to wait for this one
	AddBlockedBy []string // tasks that this one is to wait for

	Agent string // the id of the subagent that asks; empty for the session's own agent
	Cwd   string // the directory in which the agent is; empty if unknown
	Note  string // kept as evidence; may be empty, and commands and tools limit it to MaxNote

	Values  jsontext.Value // an object of values, beside those in Metadata; nil if there are none
	Outcome string         // how the step ends, unless Metadata says it; empty if it was not said
	Use     string         // the id of the agent's tool call; empty if unknown

	Calls Calls // of the agent; nil if nothing is known of them
}

// Calls is what is known of an agent's calls, by their ids: the client's transcript has it, which may be written late.
type Calls interface {
	// Over reports whether a call is over, and whether that is known.
	Over(use string) (over, known bool)
	// Rejected reports whether the person has said no to the call.
	Rejected(use string) bool
}

// Verdict is the answer to an update. The zero value allows it.
type Verdict struct {
	Decision state.Decision
	Step     int64  // number of the step that the update is about; 0 if the task is not a step
	Reason   string // why it is denied, for the agent; or the question for the person
	Why      string // the reason in a few words, for people
	Check    *state.Result
	Outcome  string // of an Ask: the outcome that the person has to say if they answer in a terminal; or empty
	// Trouble is what the person has to know: why gates could not be evaluated, or why the
	// decision is not on record.
	Trouble message.ForPerson
	// Beside is what they have to know of a completion. Where a hook tells them of it, News says so.
	Beside message.ForPerson

	// Turn is set if the step does not end, but leads back: the
	// update has to set it to pending, and to remove the outcome from its metadata.
	Turn *Turn

	unrecorded bool // it could not be recorded
	// Told is what the agent has to know although the update is carried out: that a time
	// limit has passed, and what follows from it; or the tasks for the lines of a step, which
	// are in the list now.
	Told message.ForAgent

	unchanged []string // files that the step produces and that are as they were

	gate     fsmspec.GateKind // that denies or asks; empty if it is another rule
	of       string           // see state.Evidence
	question string           // of an Ask: the words that the person is shown
	watched  *state.Watched   // see state.Evidence
	gaps     []state.Gap      // see state.Evidence

	answer    state.How // how a person said yes or no; empty if nobody did
	undecided bool      // the gates could not be evaluated
	until     bool      // it is denied until a check that is running ends
	over      bool      // the step is over already, so nothing is decided
	declined  bool      // a person was asked, and did not say yes
	past      pastHint  // what a person can do about a denial
}

// Said returns Why with what else a reader of the log has to know.
func (v Verdict) Said() string {
	return state.Evidence{Verdict: state.Allow, Why: v.Why, Gaps: v.gaps, Unchanged: v.unchanged, Watched: v.watched}.Said()
}

// NotEnforced returns, in parentheses, what of the step was not enforced; empty if nothing was left out.
func (v Verdict) NotEnforced() string { return state.WordsOf(v.gaps) }

// after adds to the verdict of a gate what those before it have found out.
func (v Verdict) after(before Verdict) Verdict {
	v.Check, v.unchanged = cmp.Or(v.Check, before.Check), append(before.unchanged, v.unchanged...)
	v.watched, v.gaps = cmp.Or(v.watched, before.watched), append(before.gaps[:len(before.gaps):len(before.gaps)], v.gaps...)
	return v
}

// telling adds what the agent has to know to the answer.
func (v Verdict) telling(text message.ForAgent) Verdict {
	switch {
	case text == "":
	case v.Decision == state.Deny:
		v.Reason += ". " + string(text)
	case v.Turn != nil:
		v.Turn = &Turn{v.Turn.Outcome, message.Join(v.Turn.Text, text)}
	default:
		v.Told = message.Join(v.Told, text)
	}
	return v
}

// Turn is an outcome that leads back.
type Turn struct {
	Outcome string
	Text    message.ForAgent // what is open again, and what is ready
}

// pastHint is what a person can do about a denial.
type pastHint struct {
	step      int64 // number of the step that they can go past; 0 is the step of the update
	more      bool  // there are others behind that step
	forbidden bool  // they cannot go past it
	ends      bool  // they may want to end the workflow
	only      bool  // only a person can do something about it
}

// Allowed reports whether the update may be carried out without a person.
func (v Verdict) Allowed() bool { return v.Decision == "" || v.Decision == state.Allow }

// Undecided reports whether the update is denied only because the gates could not be
// evaluated.
func (v Verdict) Undecided() bool { return v.undecided }

// deny denies an update of a step. why says what is refused: another one for each rule, and for each thing that it is about.
func deny(c *state.Current, why, reason string) Verdict {
	return Verdict{Decision: state.Deny, Step: c.ID, of: state.OfText(why), Why: why, Reason: reason}
}
