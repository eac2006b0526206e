package decisions

import (
	_ "embed"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Version is the version of the schema. It changes when a field is renamed or removed, or
// means something else; new fields do not change it.
const Version = 1

// Source is what took a decision.
type Source string

const (
	Hydrate Source = "hydrate" // a workflow was, or was not, put into a task list; or that was undone
	Step    Source = "step"    // an update or a call was, or was not, let through; or a person went past a gate
	Guard   Source = "guard"   // a planning guard judged an event
)

// Record is one line of the log: one decision. Fields without a value are left out. All values
// but the lists are plain, so that engines can count by each of them. Schema describes each
// field.
//
// Time is the first member, by which File recognises a log.
type Record struct {
	Time     time.Time `json:"time"`
	Version  int       `json:"v"`
	Source   Source    `json:"source"`
	Decision string    `json:"decision"`
	Why      string    `json:"why,omitzero"`
	Trouble  string    `json:"trouble,omitzero"`

	// Who decided, and by which way.
	Who     string `json:"who,omitzero"`
	How     string `json:"how,omitzero"`
	TTY     string `json:"tty,omitzero"`
	Young   bool   `json:"young,omitzero"`
	Session string `json:"session,omitzero"`
	Agent   string `json:"agent,omitzero"`
	Event   string `json:"event,omitzero"`

	// What it was about.
	List     string `json:"list,omitzero"`
	Project  string `json:"project,omitzero"`
	Workflow string `json:"workflow,omitzero"`
	Spec     string `json:"spec,omitzero"`
	Digest   string `json:"digest,omitzero"`
	Run      int64  `json:"run,omitzero"`
	Parent   int64  `json:"parent,omitzero"`
	FromList string `json:"from_list,omitzero"`
	FromRun  int64  `json:"from_run,omitzero"`
	Guard    string `json:"guard,omitzero"`

	// Of a step.
	Step      int64    `json:"step,omitzero"`
	Task      int64    `json:"task,omitzero"`
	Place     string   `json:"place,omitzero"`
	Subject   string   `json:"subject,omitzero"`
	Defined   string   `json:"defined,omitzero"`
	Join      bool     `json:"join,omitzero"`
	From      string   `json:"from,omitzero"`
	To        string   `json:"to,omitzero"`
	Outcome   string   `json:"outcome,omitzero"`
	Round     int      `json:"round,omitzero"`
	Times     int      `json:"times,omitzero"`
	Rule      string   `json:"rule,omitzero"`
	Gate      string   `json:"gate,omitzero"`
	Passed    []string `json:"passed,omitempty"`
	Unreached []string `json:"not_reached,omitempty"`
	Wrong     bool     `json:"wrong,omitzero"`
	Ended     string   `json:"ended,omitzero"`
	Answer    string   `json:"answer,omitzero"`
	Gaps      []string `json:"not_enforced,omitempty"`
	Content   string   `json:"content,omitzero"`
	Unchanged []string `json:"unchanged,omitempty"`
	Note      string   `json:"note,omitzero"`
	Check     string   `json:"check,omitzero"`
	Exit      *int     `json:"exit,omitzero"`
	CheckTime float64  `json:"check_ms,omitzero"`
	Tree      string   `json:"tree,omitzero"`
	Reopens   []int64  `json:"reopens,omitempty"`
	NotNeeded []int64  `json:"not_needed,omitempty"`
	Others    []Other  `json:"others,omitempty"`
	Items     []string `json:"items,omitempty"`

	// Of a workflow.
	Steps    int      `json:"steps,omitzero"`
	Open     *int     `json:"open,omitzero"`
	Finished bool     `json:"finished,omitzero"`
	Created  []int64  `json:"created,omitempty"`
	Deleted  []int64  `json:"deleted,omitempty"`
	Restored []int64  `json:"restored,omitempty"`
	Lost     []string `json:"lost,omitempty"`
	Changed  string   `json:"changed,omitzero"`

	Duration float64 `json:"duration_ms,omitzero"`
}

// Other is a step whose state follows from a decision about another one.
type Other struct {
	Run     int64  `json:"run"`
	Step    int64  `json:"step"`
	Place   string `json:"place"`
	Subject string `json:"subject"`
	State   string `json:"state"`
}

// Log takes decisions.
type Log interface{ Add(r Record) }

// Adder returns Add of a log, and nil for none.
func Adder(l Log) func(Record) {
	if l == nil {
		return nil
	}
	return l.Add
}

// Ran reports whether a check with this exit status ran to its end. Otherwise it was stopped, could not be started, or its shell has not
// found or not run a program: that says nothing about the work.
func Ran(exit int) bool {
	const notExecutable, notFound = 126, 127
	return exit >= 0 && exit != notExecutable && exit != notFound
}

// CouldNotRun reports whether the decision rests on a check that did not run to its end.
func (r *Record) CouldNotRun() bool { return r.Exit != nil && !Ran(*r.Exit) }

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of a line.
func Schema() []byte { return schema }

// Young is the word for DecidedBy of a terminal that was opened after the session began.
const Young = "young"

// DecidedBy sets who decided, by which way, the terminal, and whether that is Young, from these words. Missing ones are empty.
func (r *Record) DecidedBy(words string) {
	by := append(strings.Fields(words), "", "", "", "")
	r.Who, r.How, r.TTY, r.Young = by[0], by[1], by[2], by[3] == Young
}

// ByCall returns the words for DecidedBy of a call of a skill, which a person may have typed.
func ByCall(typed bool) string {
	if typed {
		return "person prompt"
	}
	return "agent skill"
}

// Way is how something was decided or begun, in words for people.
func Way(how string) string {
	switch how {
	case "terminal":
		return "in a terminal"
	case "question", "approval":
		return "in the dialog"
	case "elicitation":
		return "in a form"
	case "skill":
		return "by calling the skill"
	case "prompt":
		return "by typing the skill"
	case "shell", "command":
		return "by a command"
	case "mcp":
		return "by a tool of the MCP server"
	}
	return "by " + how
}

// line returns the record as a line of the log, with the line feed.
func (r Record) line() ([]byte, error) {
	text, err := r.JSON()
	return append(text, '\n'), err
}

// JSON returns the record as one line of JSON, without the line feed. Bytes that are not UTF-8,
// which a path may contain, are replaced by U+FFFD; characters that are harmful in a terminal
// are JSON escapes.
func (r Record) JSON() ([]byte, error) {
	r.Time, r.Version = r.Time.UTC().Truncate(time.Microsecond), Version
	text, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	return message.JSON(text), err
}

// Milliseconds returns a duration as the log has it.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
