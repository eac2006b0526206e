package workflow

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Version is that of the records that [Workflow.Encode] writes. It changes when a gate is added: a program that does not
// know the gate must not treat the step as one without it.
const Version = 6

// ErrVersion is returned by [ParseWorkflow] for the record of another version of this
// program.
var ErrVersion = errors.New("the workflow was recorded by another version of fsmtx")

// PlanLine is a line of a plan.
type PlanLine struct {
	Line int    `json:"line"` // from 0, when the plan was read
	Text string `json:"text"` // with an empty box
}

// Workflow is what one hydration put into a task list, as recorded by its transaction.
type Workflow struct {
	Version  int        `json:"version"`
	Command  string     `json:"command"` // the name of the skill, as in the tag of its tasks
	Spec     string     `json:"spec"`    // path of the fsm.json
	SHA256   string     `json:"sha256"`  // of the fsm.json, in hexadecimal digits
	Session  string     `json:"session"`
	Chosen   bool       `json:"chosen,omitzero"`   // the agent has chosen Dir: no event of its client had told the session's
	Dir      string     `json:"dir"`               // the project's directory: the base of Produces, Ready and Check.Dir
	Inode    uint64     `json:"inode,omitzero"`    // of Dir; see Inode
	Steps    []Step     `json:"steps"`             // in the order of the fsm.json
	Plan     []PlanLine `json:"plan,omitempty"`    // of a plan, which Spec is: the line of each of Steps
	Unticked string     `json:"unticked,omitzero"` // of a plan: the digest of its text with every box empty

	Args   string            `json:"args,omitzero"`   // the arguments of the skill's call
	Vars   map[string]string `json:"vars,omitempty"`  // the values that the workflow has from its beginning
	Values bool              `json:"values,omitzero"` // its texts and paths have names of values, or its steps have values or time limits

	// Of a workflow under a step of another one.
	Parent int64   `json:"parent,omitzero"` // number in the list of the step that it is under; 0 if it is under none
	Round  int     `json:"round,omitzero"`  // the round of that step to which it belongs; 0 if it is opened again with the step
	Item   string  `json:"item,omitzero"`   // what it is the copy for; empty unless it is a copy
	After  []int64 `json:"after,omitempty"` // numbers of steps of other workflows that come before its steps
	// that came in the same transaction; only Parent, Round, Item, Steps and Under are their own
	Under   []Workflow `json:"under,omitempty"`
	Expands string     `json:"expands,omitzero"` // id of the expansion that made the copies in Under; see Evidence
	Called  bool       `json:"called,omitzero"`  // that step was in progress when the skill was called
	Agent   string     `json:"agent,omitzero"`   // id of the subagent that called the skill; empty for the session's own agent

	// the agent that began it: AI_AGENT, which has a version, too; else its name, as package caller has it
	Client string `json:"client,omitzero"`

	// who began it and by which way, in two words: "person prompt", "agent skill", "agent mcp"
	BegunBy string `json:"begunBy,omitzero"`

	// digests of what was there of the files that its steps produce, and on which their checks stand; see FilesOf
	Files map[string]string `json:"files,omitempty"`

	Content *git.Content `json:"content,omitempty"` // on what it began; nil if the repository had no policy

	Definition map[string]string `json:"definition,omitempty"` // see Definition
	Changed    string            `json:"changed,omitzero"`     // in what the definition has changed without a word to the person
	Reloaded   *Reloaded         `json:"reloaded,omitempty"`   // nil unless it was reloaded; the last time
	Lost       []string          `json:"lost,omitempty"`       // which unfinished workflows it has replaced; see HasReplaced

	// Sums of the hooks that could answer for the person when it was begun, see Answerer; nil if that is not known.
	Answerers []string `json:"answerers,omitempty"`

	Before []From     `json:"before,omitempty"` // where it was before, oldest first; none if it began in this list
	Since  time.Time  `json:"since,omitzero"`   // of one that was elsewhere: when its hydration began there
	Beside []Workflow `json:"beside,omitempty"` // of one that was elsewhere: what came under its steps later

	Machine *machine.Machine `json:"-"`
	Began   time.Time        `json:"-"` // when its hydration began
	Undone  bool             `json:"-"` // its hydration was undone
	Part    bool             `json:"-"` // it came with another one, in Under
	With    string           `json:"-"` // id of the continuation that brought it into the list; see Before
}

// Reloaded says that a person has put this fsm.json in the place of another one in the middle of the work, and why.
type Reloaded struct {
	SHA256  string `json:"sha256"` // of the other one
	Because string `json:"because"`
	Who     string `json:"who"`
	How     string `json:"how"`
	Young   bool   `json:"young,omitzero"` // as in the evidence
}

// Step is one task of a workflow, and the gates that its entry declares. The gates are not
// in the task file, because the agent can edit that.
type Step struct {
	ID        int64   `json:"id"`    // number in the list
	Local     int64   `json:"local"` // id in the fsm.json
	Subject   string  `json:"subject"`
	Status    string  `json:"status"`              // as hydrated: pending, in_progress or completed
	BlockedBy []int64 `json:"blockedBy,omitempty"` // numbers in the list, each of a step of this workflow
	Circular  []int64 `json:"circular,omitempty"`  // such that the list shows as blockers, and that do not hold it up; see fsmspec.Task

	Description string `json:"description,omitzero"` // empty if there is none

	Produces []string `json:"produces,omitempty"` // slash-separated paths or patterns below Dir, when the step is completed
	Ready    []string `json:"ready,omitempty"`    // the same, when the step is started
	Check    *Check   `json:"check,omitempty"`
	Approval string   `json:"approval,omitempty"` // the question to the person; empty if none is asked

	// See fsmspec.Flow. Steps are named by their number in the list.
	Outcomes []Outcome   `json:"outcomes,omitempty"`
	Decides  string      `json:"decides,omitempty"` // person or command; empty is the agent
	Chooser  *Check      `json:"chooser,omitempty"` // the command that decides
	When     []Condition `json:"when,omitempty"`

	Only []string `json:"only,omitempty"` // permission rules: calls that are refused unless a step that lists them is in progress
	Do   string   `json:"do,omitzero"`    // name of the skill that has to be called while the step is in progress

	// See fsmspec.Flow. Subject, Description, ActiveForm, the questions and
	// the paths have the names of values in braces.
	Set        []Value `json:"set,omitempty"`
	Within     float64 `json:"within,omitzero"`      // in seconds; 0 is no limit
	ActiveForm string  `json:"activeForm,omitempty"` // empty if it names no value
	Each       *Each   `json:"each,omitempty"`       // see fsmspec.Each
}

// Each is the lines for which a step is done.
type Each struct {
	Lines    string `json:"lines,omitzero"` // slash-separated path of a file below Workflow.Dir; empty if Run prints them
	Run      *Check `json:"run,omitempty"`
	InTurn   bool   `json:"inTurn,omitzero"`
	Workflow string `json:"workflow"` // what is done for a line, as an fsm.json
}

// Value is a value that completing a step gives. One of the other fields says what it has to
// be.
type Value struct {
	Name    string   `json:"name"`
	Pattern string   `json:"pattern,omitzero"`
	OneOf   []string `json:"oneOf,omitempty"`
	Command *Check   `json:"command,omitempty"` // prints it
}

// Declaration returns the value as the fsm.json declares it. Of a command it has the line only.
func (v Value) Declaration() fsmspec.Value {
	d := fsmspec.Value{Name: v.Name, Pattern: v.Pattern, OneOf: v.OneOf}
	if v.Command != nil {
		d.Command = &fsmspec.Check{Run: v.Command.Run}
	}
	return d
}

// String says what the value has to be, for people.
func (v Value) String() string {
	if v.Command != nil {
		return Gate{Kind: PrintedBy(v.Name), Check: v.Command}.String()
	}
	return "sets " + v.Name + " (" + v.Declaration().Wants() + ")"
}

// Limit returns the time limit of the step, 0 if there is none.
func (s Step) Limit() time.Duration { return time.Duration(s.Within * float64(time.Second)) }

// Outcome is a way in which a step can end, with its effects and gates.
type Outcome struct {
	Name     string   `json:"name"`
	Back     int64    `json:"back,omitempty"`
	Max      int      `json:"max,omitempty"`
	Then     string   `json:"then,omitempty"`
	Stop     bool     `json:"stop,omitempty"`
	Produces []string `json:"produces,omitempty"`
	Check    *Check   `json:"check,omitempty"`
	Approval string   `json:"approval,omitempty"`
}

// Condition holds if a step ended in one of the outcomes.
type Condition struct {
	Step     int64    `json:"step"`
	Outcomes []string `json:"outcomes"`
}

// String returns, for example, "each line of packages.txt, in turn".
func (e Each) String() string {
	text := "each line of " + e.Lines
	if e.Run != nil {
		text = fmt.Sprintf("each line (%s) of: %s", e.Run.how(), e.Run.Run)
	}
	if e.InTurn {
		text += ", in turn"
	}
	return text
}

// Check is a shell command that must exit with 0 before a step is completed.
type Check struct {
	Run     string  `json:"run"`
	Shell   string  `json:"shell,omitzero"` // fsmspec.PowerShell; empty is sh
	Timeout float64 `json:"timeout"`        // in seconds, more than 0
	Dir     string  `json:"dir,omitzero"`   // slash-separated, below Workflow.Dir; empty is Workflow.Dir
	// the variables that it gets beside those of the workflow, by name; nil is every one that the hook has
	Env   *[]string `json:"env,omitzero"`
	Watch []string  `json:"watch,omitempty"` // patterns of the files on which it stands, of a gate; ** is any directories
}

// Limit returns the time limit of the check.
func (c Check) Limit() time.Duration { return time.Duration(c.Timeout * float64(time.Second)) }

// how says for people in which shell the command runs, unless that is sh, and how long.
func (c Check) how() string {
	text := fmt.Sprintf("at most %v", c.Limit())
	if c.Shell == fsmspec.PowerShell {
		return "in PowerShell, " + text
	}
	return text
}

// Environ returns those of the variables NAME=VALUE that the check gets.
func (c Check) Environ(all []string) []string {
	if c.Env == nil {
		return all
	}
	kept := []string{} // nil would be the environment of this process
	for _, v := range all {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(*c.Env, name) {
			kept = append(kept, v)
		}
	}
	return kept
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
	return w, nil
}

func (w *Workflow) check() error {
	if w.Version != Version {
		return fmt.Errorf("%w: version %d, want %d", ErrVersion, w.Version, Version)
	}
	all := map[int64]bool{}
	for _, r := range w.Records() {
		if r.Dir == "" {
			return errors.New("the record of a workflow has no dir")
		}
		if r.Parent < 0 || r.Parent > fsmspec.MaxID || r.Round < 0 {
			return fmt.Errorf("the record of a workflow: parent #%d, round %d: out of range", r.Parent, r.Round)
		}
		for _, u := range r.All() {
			if err := u.checkSteps(all); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSteps checks the steps of the workflow alone. all has the numbers of the workflows
// before it, and gets its own.
func (w *Workflow) checkSteps(all map[int64]bool) error {
	numbers, locals := map[int64]bool{}, map[int64]bool{}
	for _, s := range w.Steps {
		if s.ID < 1 || s.ID > fsmspec.MaxID || all[s.ID] {
			return fmt.Errorf("the record of a workflow: step #%d: the number is out of range or not unique", s.ID)
		}
		if s.Local < 1 || s.Local > fsmspec.MaxLocalID || locals[s.Local] {
			return fmt.Errorf("the record of a workflow: step #%d: local id %d is out of range or not unique", s.ID, s.Local)
		}
		all[s.ID], numbers[s.ID], locals[s.Local] = true, true, true
	}
	for _, s := range w.Steps {
		if err := s.check(numbers); err != nil {
			return fmt.Errorf("the record of a workflow: step #%d: %w", s.ID, err)
		}
	}
	return w.Prove()
}

// Prove makes the machine of the workflow.
func (w *Workflow) Prove() error {
	var all []machine.Step
	for _, s := range w.Steps {
		all = append(all, s.ForMachine())
	}
	m, faults := machine.New(all)
	if m == nil {
		return fmt.Errorf("the record of a workflow: step #%d: %s", w.Steps[faults[0].Step].ID, faults[0].Text)
	}
	w.Machine = m
	return nil
}

// ForMachine returns the step for the machine.
func (s Step) ForMachine() machine.Step {
	d := machine.Step{ID: s.ID, BlockedBy: s.BlockedBy, Check: s.Check != nil, Limit: s.Within > 0, Done: s.Status == Completed}
	switch s.Decides {
	case machine.Person.String():
		d.Decides = machine.Person
	case machine.Command.String():
		d.Decides = machine.Command
	}
	for _, c := range s.When {
		d.When = append(d.When, machine.Condition(c))
	}
	for _, o := range s.Outcomes {
		d.Outcomes = append(d.Outcomes, machine.Outcome{
			Name: o.Name, Back: o.Back, Max: o.Max, Then: o.Then, Stop: o.Stop,
			Approval: o.Approval != "", Gated: len(o.Gates()) > 0,
		})
	}
	return d
}

// OutcomeNamed returns the outcome with that name, or nil: done may be implied.
func (s Step) OutcomeNamed(name string) *Outcome {
	if i := slices.IndexFunc(s.Outcomes, func(o Outcome) bool { return o.Name == name }); i >= 0 {
		return &s.Outcomes[i]
	}
	return nil
}

func (s Step) check(numbers map[int64]bool) error {
	if s.Status != Pending && s.Status != InProgress && s.Status != Completed {
		return new(fsmspec.Status).UnmarshalText([]byte(s.Status))
	}
	for _, id := range s.BlockedBy {
		if !numbers[id] {
			return fmt.Errorf("blocked by #%d, which is not a step", id)
		}
	}
	if s.Each != nil && (s.Each.Lines == "") == (s.Each.Run == nil) {
		return errors.New("it is done for the lines of nothing, or of two things")
	}
	if s.Decides == machine.Command.String() && s.Chooser == nil {
		return errors.New("a command decides, and there is none")
	}
	for _, o := range s.Outcomes {
		if err := o.Check.check(); err != nil {
			return err
		}
	}
	for _, text := range s.Only {
		if wrong := fsmspec.RuleFault(text); wrong != "" {
			return fmt.Errorf("only: %q: %s", text, wrong)
		}
	}
	for _, v := range s.Set {
		if err := v.check(); err != nil {
			return err
		}
	}
	if s.Within < 0 || s.Within > fsmspec.MaxWithin.Seconds() {
		return fmt.Errorf("a time limit of %v seconds", s.Within)
	}
	return cmp.Or(s.Check.check(), s.Chooser.check())
}

// check returns what is wrong with the value.
func (v Value) check() error {
	if _, err := regexp.Compile(v.Pattern); err != nil {
		return fmt.Errorf("the value %s: %w", v.Name, err)
	}
	return v.Command.check()
}

// check returns what is wrong with a command that completing a step may run. No command is fine.
func (c *Check) check() error {
	if c == nil {
		return nil
	}
	if strings.TrimSpace(c.Run) == "" {
		return errors.New("a check without a command")
	}
	// The number first: as a duration, a huge one may be negative or small.
	if c.Timeout > fsmspec.MaxCheckTimeout.Seconds() || c.Limit() <= 0 {
		return fmt.Errorf("a check with a timeout of %v seconds", c.Timeout)
	}
	return nil
}

// Ends describes, a line each, when the step is needed, how it can end, and the gates of its
// outcomes. partOf is the number of the step that it is
// a part of, or 0.
func (s Step) Ends(partOf int64) (lines []string) {
	if s.Each != nil {
		lines = append(lines, "for "+s.Each.String())
	}
	for _, w := range s.When {
		lines = append(lines, fmt.Sprintf("needed if #%d ends as %s", w.Step, message.Alternatives(w.Outcomes)))
	}
	for _, o := range s.Outcomes {
		line := "outcome " + o.Name
		switch {
		case o.Back != 0:
			line += fmt.Sprintf(" ↺ #%d, %s at most", o.Back, message.Times(o.Max))
		case o.Stop:
			line += " ends the workflow"
			if partOf != 0 {
				line = "outcome " + o.Name + " ends the parts of #" + message.Itoa(partOf)
			}
		}
		if o.Then != "" {
			line += ", then " + o.Then
		}
		for _, g := range o.Gates() {
			line += "; " + g.String()
		}
		lines = append(lines, line)
	}
	if s.Chooser != nil {
		lines = append(lines, s.ChooserText())
	} else if s.Decides != "" {
		lines = append(lines, "a "+s.Decides+" decides")
	}
	return append(lines, s.gives()...)
}

// ChooserText describes the command that decides how the step ends.
func (s Step) ChooserText() string { return Gate{Kind: CommandDecides, Check: s.Chooser}.String() }

// gives describes, a line each, the values that the step sets and its time limit.
func (s Step) gives() (lines []string) {
	for _, v := range s.Set {
		lines = append(lines, v.String())
	}
	if s.Within > 0 {
		lines = append(lines, "within "+fsmspec.Duration(s.Limit()))
	}
	return lines
}

// Declared returns the outcome with that name, the zero value for an implied done.
func (s Step) Declared(name string) Outcome {
	if o := s.OutcomeNamed(name); o != nil {
		return *o
	}
	return Outcome{}
}

// Gates returns the gates of an outcome.
func (o Outcome) Gates() (all []Gate) {
	if len(o.Produces) > 0 {
		all = append(all, Gate{Kind: OutcomeFiles, When: AtCompletion, Patterns: o.Produces})
	}
	if o.Check != nil {
		all = append(all, Gate{Kind: outcomeCheck, When: AtCompletion, Check: o.Check})
	}
	if o.Approval != "" {
		all = append(all, Gate{Kind: PersonApproves, When: AtCompletion, Question: o.Approval})
	}
	return all
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

// Begun says who began the workflow, by which way and which agent, as the end of a sentence; empty if nothing is on record of that.
func (w *Workflow) Begun() string {
	who, how, _ := strings.Cut(w.BegunBy, " ")
	name, version := AgentOf(w.Client)
	agent := strings.TrimSpace(name + " " + version)
	switch {
	case who == "":
		return agent
	case agent != "":
		agent = ", in " + agent
	}
	return "the " + who + " (" + how + ")" + agent
}
