package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// Evidence is one line of S/steps.jsonl: one decision about a step. The line has one more
// member, sum: see Evidence.line.
type Evidence struct {
	Time    time.Time `json:"time"`
	Use     string    `json:"use,omitzero"`   // gates.Update.Use
	Times   int       `json:"times,omitzero"` // how often the same was denied or asked in a row, from 2 on
	Step    int64     `json:"step"`
	From    string    `json:"from"` // status before
	To      string    `json:"to"`   // status asked for
	Verdict Decision  `json:"verdict"`
	Why     string    `json:"why"`
	Note    string    `json:"note,omitzero"`  // the agent's note on its work
	Agent   string    `json:"agent,omitzero"` // the id of the subagent that asked
	Check   *Result   `json:"check,omitzero"`
	Tree    string    `json:"tree,omitzero"` // the directory in a linked work tree in which its gates looked; empty for Workflow.Dir
	By      By        `json:"by,omitzero"`

	Gate      fsmspec.GateKind `json:"gate,omitzero"`       // that denied or asked; empty if it was another rule
	Of        string           `json:"of,omitzero"`         // what that refused or asked about, see OfText: the same for the same
	Wrong     bool             `json:"wrong,omitzero"`      // of an override: the person says that the step was refused wrongly
	Question  string           `json:"question,omitzero"`   // that the person was asked; of an answer, what they chose is Outcome
	Outcome   string           `json:"outcome,omitzero"`    // in which the step ends
	Round     int              `json:"round,omitzero"`      // the round of the step that ends, or begins if it has a time limit, from 1
	Reopens   []int64          `json:"reopens,omitempty"`   // steps that are open again
	NotNeeded []int64          `json:"notNeeded,omitempty"` // steps that turned out not to be needed

	Values map[string]string `json:"values,omitempty"` // that the step gave

	// Digests of files by their names: with Reopens or Items, of what is there of the files that are to be produced anew, and of those
	// on which checks stand; with a start, of the latter; with a completion, of the lists for whose lines steps are done.
	Files     map[string]string `json:"files,omitempty"`
	Unchanged []string          `json:"unchanged,omitempty"` // files that the step produces, and that are as they were
	Gaps      []Gap             `json:"notEnforced,omitempty"`
	Watched   *Watched          `json:"watched,omitempty"` // with a check that passed and that names the files on which it stands
	Content   *git.Content      `json:"content,omitempty"` // on what it stood, where somebody may ask; see ContentNow

	// Of a call that belongs to the step. Such lines are in State.Calls.
	Rule   string `json:"rule,omitzero"`   // the permission rule that covers the call
	Permit string `json:"permit,omitzero"` // id of a person's yes to one call: of the line that gives it, and of the one that uses it up

	kept bool // it was decided about the step that this one came in place of, at a reload

	Moved *Moved `json:"moved,omitzero"`
	With  string `json:"with,omitzero"` // id of the continuation that has copied the line from another list

	// Of a step that is done for lines; see State.Expansion.
	Expands string   `json:"expands,omitzero"` // id of the expansion
	Items   []string `json:"items,omitempty"`  // the lines
	Changed int64    `json:"changed,omitzero"` // number of the step that was completed when the list was another one; 0 if it is the same
}

// Result is the outcome of a check.
type Result struct {
	Run     string  `json:"run"`
	Dir     string  `json:"dir,omitzero"` // where it ran, unless that is Check.Dir below Workflow.Dir
	Exit    int     `json:"exit"`         // -1 if it was stopped or could not be started
	Seconds float64 `json:"seconds"`
	SHA256  string  `json:"sha256"` // of its output
	Bytes   int64   `json:"bytes"`  // of its output

	Output string `json:"-"` // the end of it
	Errors string `json:"-"` // standard error, if that is not part of the output
	Cut    bool   `json:"-"` // output is not all of it
	Failed string `json:"-"` // why it has no exit status; empty if it has one

	Ends        int  `json:"-"` // the exit code of fsmtx, if a signal has ended it while it ran
	Interrupted bool `json:"-"` // fsmtx was ended while it ran: this says nothing about the step
	Fault       bool `json:"-"` // it is no command for its shell, and nothing of it was run
	Unrunnable  bool `json:"-"` // it could not be started, or its shell has not found or not run a program: nor does this

	Lacks   string `json:"-"` // the program that its shell has not found, if it is known
	InShell bool   `json:"-"` // it ran in the shell of the agent, and not in the environment of the client
}

// Watched is what became of the files on which a check stands.
type Watched struct {
	Before  Extent   `json:"before"` // at the start of the step; else when it came into the list, or was opened again
	After   Extent   `json:"after"`
	Removed []string `json:"removed,omitempty"`
	Shorter []string `json:"shorter,omitempty"`
	Unknown string   `json:"unknown,omitzero"` // why all this is not known
}

// Extent is how much there is of some files.
type Extent struct {
	Files int64 `json:"files"`
	Lines int64 `json:"lines"`
}

// MaxRepeats is how often the same update may be denied for the same reason before the
// agent is told to ask a person.
const MaxRepeats = 3

// same reports whether two decisions are about the same update of the same step, with the same verdict, by the same gate, about the same.
// The output of a check is not part of that: it may contain times. The command and how it ended are.
func (e Evidence) same(o Evidence) bool {
	return e.Step == o.Step && e.To == o.To && e.Verdict == o.Verdict && e.Gate == o.Gate && e.Of == o.Of && commandOf(e) == commandOf(o)
}

// OfText returns Evidence.Of for what a gate refuses or asks about.
func OfText(what string) string { return string(digits(crc32.ChecksumIEEE([]byte(what)))) }

func commandOf(e Evidence) string {
	if e.Check == nil {
		return ""
	}
	return e.Check.Run
}

// Repeats returns how often the denial was made, or the question asked, since the last
// decision that let an update through, or since a different decision about the same step.
func (s *State) Repeats(e Evidence) (n int) {
	for _, o := range slices.Backward(s.Evidence) {
		switch {
		case s.isProgress(&o):
			return n
		case o.Step != e.Step || o.Verdict == Lapsed:
		case !o.same(e):
			return n
		case o.Times > 0:
			return n + o.Times
		default:
			n++
		}
	}
	return n
}

// sumPrefix begins a line: its first member is a checksum of eight hexadecimal digits.
const sumPrefix = `{"sum":"`

// line returns the evidence as a line of the file, without the line feed. Its first member
// is a checksum over the object without it, so that a damaged line is not believed.
func (e Evidence) line() ([]byte, error) {
	text, err := json.Marshal(e, jsonx.Tolerant)
	if err = cmp.Or(err, e.isTheirs()); err != nil {
		return nil, err
	}
	line := append([]byte(sumPrefix), digits(crc32.ChecksumIEEE(text))...)
	return append(append(line, `",`...), text[1:]...), nil
}

// isWhole reports whether a line has the checksum that it states.
func isWhole(line []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte(sumPrefix))
	stated, object, states := bytes.Cut(rest, []byte(`",`))
	sum := crc32.Update(crc32.ChecksumIEEE([]byte("{")), crc32.IEEETable, object)
	return ok && states && bytes.Equal(stated, digits(sum))
}

// digits returns a checksum as eight hexadecimal digits.
func digits(sum uint32) []byte { return hex.AppendEncode(nil, binary.BigEndian.AppendUint32(nil, sum)) }

// parseEvidence returns the lines of evidence, and how many count for nothing because they have no checksum or a wrong one. A
// last line without its end is none of these if it is the beginning of one: a crash may have torn it, or another process is writing it.
func parseEvidence(data []byte) (all []Evidence, wrong int) {
	for line := range bytes.Lines(data) {
		var e Evidence
		switch {
		case isWhole(line) && json.Unmarshal(line, &e, jsonx.Tolerant) == nil && e.Step > 0:
			all = append(all, e)
		case len(bytes.TrimSpace(line)) > 0 && (line[len(line)-1] == '\n' || !isTorn(line)):
			wrong++
		}
	}
	return all, wrong
}

// isTorn reports whether a line begins as one of the evidence, and is not all of one; or with zeros, which a power cut leaves where
// nothing was written yet.
func isTorn(line []byte) bool {
	n := min(len(line), len(sumPrefix))
	return line[0] == 0 || string(line[:n]) == sumPrefix[:n] && !jsontext.Value(line).IsValid()
}

// ErrForged is in the error that tells of lines of evidence that count for nothing.
var ErrForged = errors.New("have no checksum or a wrong one, so they count for nothing: fsmtx did not write them, or they were changed")

// stands reports whether the line counts: one from another list does while the step is in the list by the same continuation, or a
// loop has taken it out of that workflow. That a skill was called does not if the call was undone. Lines of a
// continuation that has died, or was undone, do not.
func (s *State) stands(e Evidence) bool {
	c := s.Step(e.Step)
	switch {
	case c != nil && e.Verdict == Called && c.undoneCalls[e.Use]:
		return false
	case e.With == "":
		return true
	case c != nil:
		return c.Workflow.With == e.With
	}
	return slices.ContainsFunc(s.Steps, func(c *Current) bool { return c.Workflow.With == e.With })
}

// counting returns those of the lines that count.
func (s *State) counting(all []Evidence) []Evidence {
	if slices.ContainsFunc(all, func(e Evidence) bool { return !s.stands(e) }) {
		return slices.DeleteFunc(slices.Clone(all), func(e Evidence) bool { return !s.stands(e) })
	}
	return slices.Clip(all)
}

// tellForged adds to the troubles that lines of evidence count for nothing.
func (s *State) tellForged(name string, wrong int) {
	if wrong > 0 {
		s.Troubles = append(s.Troubles, fmt.Errorf("lines of evidence (%d in %s) %w", wrong, name, ErrForged))
	}
}

// essential reports of each line whether decisions depend on it: of each step the last
// decision, the last one that was not a denial and the last one that let an update through, and what is folded; and
// about calls the last of a kind, and each yes that is not used up.
func essential(all []Evidence) (keep []bool) {
	type role struct {
		step int64
		name string
		with string // of lines from another list, which may not count
	}
	keep = make([]bool, len(all))
	filled, lapsed := map[role]bool{}, map[int64]bool{}
	used, calls := map[string]bool{}, map[callKey]bool{}
	for i, e := range slices.Backward(all) {
		if e.Rule != "" {
			keep[i] = !calls[e.CallKey()] || e.Verdict == Permitted && !used[e.Permit]
			calls[e.CallKey()] = true
			used[e.Permit] = used[e.Permit] || e.Verdict != Permitted
			continue
		}
		roles := []role{{e.Step, "latest", e.With}}
		if e.Verdict == Ticked {
			roles[0].name = "tick"
		} else if e.Verdict == Called || e.Verdict == Lapsed {
			roles, lapsed[e.Step] = nil, lapsed[e.Step] || e.Verdict == Lapsed // it is kept, and no decision
		} else if lapsed[e.Step] && e.MayLapse() {
			roles = append(roles, role{e.Step, "lapsed", e.With})
		} else if !e.Refuses() {
			roles = append(roles, role{e.Step, "last", e.With})
		}
		if e.Lets() {
			roles = append(roles, role{e.Step, "progress", e.With}) // of each step: the call of another may be undone
		}
		for _, r := range roles {
			keep[i] = keep[i] || !filled[r]
			filled[r] = true
		}
		keep[i] = keep[i] || e.turns() // they are folded
	}
	return keep
}

// turns reports whether the state of a workflow depends on the line.
func (e Evidence) turns() bool {
	return e.Outcome != "" && !e.Refuses() && e.Verdict != Ask || len(e.Unchanged) > 0 || len(e.Files) > 0 ||
		e.IsOverride() || e.Moved != nil || of(e.Verdict).folded || e.begins() || e.Expands != ""
}

// begins reports whether the line is the start of a step with a time limit.
func (e Evidence) begins() bool {
	return e.Verdict == Allow && e.To == workflow.InProgress && e.Round > 0
}

// append adds lines to the evidence, and syncs to the disk what cannot be found out again. A power cut may lose the last
// lines of other evidence: the step then counts as completed in another way, and its gates, which take no time, are
// evaluated again. A sync would be most of the cost of an ordinary update.
func (st *Store) append(dir *txn.Dir, all ...Evidence) error {
	if len(all) == 0 {
		return nil
	}
	data := endOf(st.known().lines.data)
	for _, e := range all {
		line, err := e.line()
		if err != nil {
			return err
		}
		add := dir.AppendStateLazily
		if e.isLasting() {
			add = dir.AppendState
		}
		if err := add(EvidenceFile, line); err != nil {
			return err
		}
		data = append(append(data, line...), '\n')
	}
	st.wrote(dir, all, data)
	return nil
}

// isLasting reports whether the line cannot be found out again from the list and the files of the project: what a check has printed,
// what a person said, and how a step ended, unless that is as done and has no effects.
func (e Evidence) isLasting() bool {
	hasEffects := e.Verdict == Allow && e.Outcome != "" &&
		(e.Outcome != machine.Done || e.By.Who == ThePerson || len(e.Values) > 0 || len(e.NotNeeded) > 0)
	return of(e.Verdict).lasting || hasEffects || e.Check != nil || e.Moved != nil || e.Permit != ""
}

func linesOf(all []Evidence) ([]byte, error) {
	var text []byte
	for _, e := range all {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		text = append(append(text, line...), '\n')
	}
	return text, nil
}

// lateName returns a name for a file with evidence that is written without the lock. State files have letters in
// their names only.
func lateName(id string) string {
	return LatePrefix + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return 'a' + r - '0'
		}
		return r
	}, strings.ToLower(id))
}

// callKey is what the lines about calls are counted by.
type callKey struct {
	step    int64
	rule    string
	verdict Decision
}

// CallKey returns what the line, about a call, is counted by.
func (e Evidence) CallKey() callKey { return callKey{e.Step, e.Rule, e.Verdict} }

// By is who took a decision, and by which way it came to this program.
type By struct {
	Who     Who     `json:"who"`
	How     How     `json:"how"`
	Session string  `json:"session"` // id of the client's session; empty if unknown
	Agent   string  `json:"agent"`   // id of the subagent; empty for the session's own agent and for people
	TTY     *string `json:"tty"`     // path of the terminal; nil unless How is AtTerminal

	Young bool `json:"young,omitzero"` // the terminal is younger than a client that works on the list: its agent could have opened it
}

// Words returns who decided, by which way, the terminal, and whether that is young.
func (b By) Words() string {
	words := string(b.Who) + " " + string(b.How) + " " + *cmp.Or(b.TTY, new(string))
	if b.Young {
		words += " " + decisions.Young
	}
	return words
}

// Who is who took a decision.
type Who string

const (
	TheAgent   Who = "agent"
	ThePerson  Who = "person"  // answered a question with yes, or used a terminal outside the client
	TheCommand Who = "command" // of a check, or a script outside the client
	TheClock   Who = "clock"   // a time limit
	Fsmtx      Who = "fsmtx"   // a rule of this program
)

// How is the way by which a decision came.
type How string

const (
	ByUpdate      How = "update"      // the client's TaskUpdate
	ByCall        How = "call"        // a call of another tool
	ByMCP         How = "mcp"         // a tool of fsmtx mcp
	ByCommand     How = "command"     // a command of the agent's shell that a hook of its client has seen
	ByShell       How = "shell"       // another command without a terminal of its own
	AtTerminal    How = "terminal"    // a command in a terminal outside the client
	ByQuestion    How = "question"    // the client asked whether a command may run
	ByElicitation How = "elicitation" // the MCP server asked
	ByApproval    How = "approval"    // the client asked whether a step may be completed
)
