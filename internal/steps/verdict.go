package steps

import "github.com/go-json-experiment/json/jsontext"

// Decision is what the gates say about an update.
type Decision string

const (
	Allow    Decision = "allow"
	Deny     Decision = "deny"
	Ask      Decision = "ask"      // a person has to say yes
	Override Decision = "override" // a person went past the gates; only in evidence
)

// Update is what somebody wants to do to a task of the list.
type Update struct {
	Task     string         // its number as the client's TaskUpdate takes it: other spellings are not found (fact 55, client 2.1.329)
	Status   string         // the new status, or "deleted"; empty if it is to stay
	Metadata jsontext.Value // changes of the metadata, an object in which null removes a key; nil if there are none
	Agent    string         // the id of the subagent that asks; empty for the session's own agent
	Note     string         // kept as evidence; may be empty
	Use      string         // the same for the same call of the agent's tool; empty if unknown
}

// Verdict is the answer to an update. The zero value allows it.
type Verdict struct {
	Decision Decision
	Step     int64  // number of the step that the update is about; 0 if it is about none
	Reason   string // why it is denied, for the agent; or the question for the person
	Why      string // the same in a few words, for the evidence; the same text for the same reason
	Check    *Result
	// Trouble is what kept the gates from being asked, for the person. The update is
	// allowed then: trouble of this program never stops the work.
	Trouble string

	past int64 // number of the step to go past; 0 if it is Step
}

// Allowed reports whether the update may be carried out without a person.
func (v Verdict) Allowed() bool { return v.Decision == "" || v.Decision == Allow }

func deny(c *Current, why, reason string) Verdict {
	return Verdict{Decision: Deny, Step: c.ID, Why: why, Reason: reason}
}
