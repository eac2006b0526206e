package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
)

// Version is that of the records that [Workflow.Encode] writes. It changes when a gate is added: a program that does not
// know the gate must not treat the step as one without it.
const Version = 7

// ErrVersion is returned by [ParseWorkflow] for the record of another version of this
// program.
var ErrVersion = errors.New("the workflow was recorded by another version of fsmtx")

// PlanLine is a line of a plan with a box.
type PlanLine struct {
	Line  int    `json:"line"`           // from 0, when the plan was read
	Text  string `json:"text"`           // behind the box
	Above string `json:"above,omitzero"` // the headings of its section, a line each, the outermost first
}

// Step is a task of a workflow, with numbers of the list.
type Step = fsmspec.Task

// Workflow is what one hydration put into a task list, as recorded by its transaction.
type Workflow struct {
	Version  int        `json:"version"`
	Command  string     `json:"command"` // the name of the skill, as in the tag of its tasks
	Spec     string     `json:"spec"`    // path of the fsm.json
	SHA256   string     `json:"sha256"`  // of the fsm.json, in hexadecimal digits
	Session  string     `json:"session"`
	Chosen   bool       `json:"chosen,omitzero"`     // the agent has chosen Dir: no event of its client had told the session's
	Dir      string     `json:"dir"`                 // the project's directory: the base of Produces, Ready and Check.Dir
	Inode    uint64     `json:"inode,omitzero"`      // of Dir; see Inode
	Repo     string     `json:"repository,omitzero"` // the directory of git that the work trees of Dir's repository share
	FSM      string     `json:"fsm"`                 // the fsm.json; of an expansion, what is done for each of Items
	Base     int64      `json:"base"`                // the number of a step in the list is this and its id in the fsm.json
	PlanForm string     `json:"planForm,omitempty"`  // of a plan: the form with which it was begun
	Plan     []PlanLine `json:"plan,omitempty"`      // of a plan, which Spec is: the line of each of Steps, then those not taken
	Unticked string     `json:"unticked,omitzero"`   // of a plan: the digest of its text with every box empty

	Args string            `json:"args,omitzero"`  // the arguments of the skill's call
	Vars map[string]string `json:"vars,omitempty"` // the values that the workflow has from its beginning

	// Of a workflow under a step of another one.
	Parent  int64    `json:"parent,omitzero"`  // number in the list of the step that it is under; 0 if it is under none
	Round   int      `json:"round,omitzero"`   // the round of that step to which it belongs; 0 if it is opened again with the step
	Expands string   `json:"expands,omitzero"` // of an expansion, its id; see Evidence
	Items   []string `json:"items,omitempty"`  // the lines for which there is a copy in Under
	InTurn  bool     `json:"inTurn,omitzero"`  // a copy comes after the one before it
	Called  bool     `json:"called,omitzero"`  // that step was in progress when the skill was called
	Agent   string   `json:"agent,omitzero"`   // id of the subagent that called the skill; empty for the session's own agent

	// the agent that began it, or with which it went on in this list: AI_AGENT, which has a version, too; else its name, as package
	// caller has it
	Client string `json:"client,omitzero"`

	// who began it and by which way, in two words: "person prompt", "agent skill", "agent mcp"
	BegunBy string `json:"begunBy,omitzero"`

	// digests of what was there of the files that its steps produce, and on which their checks stand; see FilesOf
	Files map[string]string `json:"files,omitempty"`

	Content *git.Content `json:"content,omitempty"` // on what it began; nil if the repository had no policy

	Definition map[string]string `json:"definition,omitempty"` // see Definition
	Changed    string            `json:"changed,omitzero"`     // in what the definition has changed without a word to the person
	Reloaded   *Reloaded         `json:"reloaded,omitempty"`   // nil unless it was reloaded; the last time
	Kept       map[int64][]int64 `json:"kept,omitempty"`       // the steps that stayed done at reloads, with their numbers before
	Lost       []string          `json:"lost,omitempty"`       // which unfinished workflows it has replaced; see HasReplaced

	// Sums of the hooks that could answer for the person when it was begun, see Answerer; nil if that is not known.
	Answerers []string `json:"answerers,omitempty"`

	Before []From     `json:"before,omitempty"` // where it was before, oldest first; none if it began in this list
	Since  time.Time  `json:"since,omitzero"`   // of one that was elsewhere: when its hydration began there
	Beside []Workflow `json:"beside,omitempty"` // of one that was elsewhere: what came under its steps later
	Over   time.Time  `json:"over,omitzero"`    // of these: when others had come in the place of its steps; zero if none had

	First   time.Time `json:"first,omitzero"`    // of one that was reloaded: when the one began in whose place it came
	Earlier []From    `json:"earlier,omitempty"` // and where that was, oldest first

	// What is read from FSM. Of those in Under only this, Parent and Round are their own; they came in the same transaction.
	Steps   []Step           `json:"-"` // in the order of the fsm.json, with numbers of the list
	Under   []Workflow       `json:"-"` // what its steps consist of, or are done for
	Item    string           `json:"-"` // what it is the copy for; empty unless it is a copy
	After   []int64          `json:"-"` // numbers of steps of other workflows that come before its steps
	Values  bool             `json:"-"` // its texts and paths have names of values, or its steps have values or time limits
	Machine *machine.Machine `json:"-"`

	Began  time.Time `json:"-"` // when its hydration began
	Undone bool      `json:"-"` // its hydration was undone
	Part   bool      `json:"-"` // it came with another one, in Under
	With   string    `json:"-"` // id of the continuation that brought it into the list; see Before
}

// Reloaded says that a person has put this fsm.json in the place of another one in the middle of the work, and why.
type Reloaded struct {
	SHA256  string `json:"sha256"` // of the other one
	Root    int64  `json:"root"`   // the number that the first step had
	Because string `json:"because"`
	Who     string `json:"who"`
	How     string `json:"how"`
	Young   bool   `json:"young,omitzero"` // as in the evidence
}

// Encode returns the workflow as one line of JSON. Bytes that are not UTF-8, which a path
// may contain, are replaced by U+FFFD. An error is returned for a workflow that
// ParseWorkflow would refuse.
func (w Workflow) Encode() (string, error) {
	w.Version = Version
	if err := w.check(); err != nil {
		return "", err
	}
	text, err := json.Marshal(w, jsonx.Tolerant, json.Deterministic(true))
	return string(text), err
}

// DirsOf returns of a line that Encode wrote the directories of the workflows in it, without the rest: it takes a fraction of the time.
func DirsOf(text string) (all []Workflow, err error) {
	type places struct {
		Dir    string   `json:"dir"`
		Inode  uint64   `json:"inode"`
		Repo   string   `json:"repository"`
		Beside []places `json:"beside"`
	}
	var p places
	if err := json.Unmarshal([]byte(text), &p, jsonx.Tolerant); err != nil {
		return nil, err
	}
	for _, one := range append([]places{p}, p.Beside...) {
		all = append(all, Workflow{Dir: one.Dir, Inode: one.Inode, Repo: one.Repo})
	}
	return all, nil
}

// ParseWorkflow parses a line that Encode wrote. Unknown fields are ignored.
//
// ErrVersion is returned for a record of another version. Any other error describes what is
// wrong with the record, with line and column if it is not the JSON of a Workflow.
func ParseWorkflow(text string) (Workflow, error) {
	var w Workflow
	data := []byte(text)
	if err := json.UnmarshalRead(bytes.NewReader(data), &w); err != nil {
		return Workflow{}, fmt.Errorf("the record of a workflow: %w", jsonx.Explain(data, err))
	}
	if err := w.check(); err != nil {
		return Workflow{}, err
	}
	for _, r := range w.Records() {
		if err := r.read(); err != nil {
			return Workflow{}, fmt.Errorf("the record of a workflow: %w", err)
		}
	}
	return w, nil
}

func (w *Workflow) check() error {
	if w.Version != Version {
		return fmt.Errorf("%w: version %d, want %d", ErrVersion, w.Version, Version)
	}
	for _, r := range w.Records() {
		if r.Dir == "" {
			return errors.New("the record of a workflow has no dir")
		}
	}
	return nil
}

const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
	Deleted    = "deleted"
)

// AgentOf returns the agent of a Client, which has its name, or its name and version as in claude-code_2-1-329_harness.
func AgentOf(client string) (name, version string) {
	parts := strings.Split(client, "_")
	if len(parts) < 3 {
		return client, ""
	}
	return parts[0], strings.ReplaceAll(parts[1], "-", ".")
}

// Beginner returns the agent that began the workflow, as Client names it; that of one which was elsewhere is on record with its first list.
func (w *Workflow) Beginner() string {
	return append(w.Way(), From{Client: w.Client})[0].Client
}

// Begun says who began the workflow, by which way and which agent, as the end of a sentence; empty if nothing is on record of that.
func (w *Workflow) Begun() string {
	who, how, _ := strings.Cut(w.BegunBy, " ")
	name, version := AgentOf(w.Beginner())
	agent := strings.TrimSpace(name + " " + version)
	switch {
	case who == "":
		return agent
	case agent != "":
		agent = ", in " + agent
	}
	return "the " + who + " " + decisions.Way(how) + agent
}
