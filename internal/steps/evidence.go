package steps

import (
	"bytes"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Evidence is one line of S/steps.jsonl: one decision about a step.
type Evidence struct {
	Time    time.Time `json:"time"`
	Step    int64     `json:"step"`
	From    string    `json:"from"` // status before
	To      string    `json:"to"`   // status asked for
	Verdict Decision  `json:"verdict"`
	Why     string    `json:"why"`
	Note    string    `json:"note,omitzero"`  // the agent's note on its work
	Agent   string    `json:"agent,omitzero"` // the id of the subagent that asked
	Check   *Result   `json:"check,omitzero"`
	By      By        `json:"by,omitzero"` // zero only in lines of older versions
}

// Result is the outcome of a check.
type Result struct {
	Run     string  `json:"run"`
	Exit    int     `json:"exit"` // -1 if it was stopped or could not be started
	Seconds float64 `json:"seconds"`
	SHA256  string  `json:"sha256"` // of its output

	output string
	failed string // why it has no exit status; empty if it has one
}

// skipWord and doneWord begin the Why of an override.
const (
	skipWord = "skip: "
	doneWord = "done: "
)

// maxRepeats is how often the same update may be denied for the same reason before the
// agent is told to ask a person.
const maxRepeats = 3

// same reports whether two decisions are about the same update of the same step, with the
// same verdict and reason. A check that fails with different output is a different reason.
func (e Evidence) same(o Evidence) bool {
	return e.Step == o.Step && e.To == o.To && e.Verdict == o.Verdict && e.Why == o.Why && outputOf(e) == outputOf(o)
}

func outputOf(e Evidence) string {
	if e.Check == nil {
		return ""
	}
	return e.Check.SHA256
}

// repeats returns how often the denial was made since the last decision that was not a
// denial, or since a different denial of the same step.
func (s *State) repeats(denial Evidence) (n int) {
	for i := len(s.Evidence) - 1; i >= 0; i-- {
		e := s.Evidence[i]
		switch {
		case e.Verdict != Deny:
			return n
		case e.Step != denial.Step:
		case !e.same(denial):
			return n
		default:
			n++
		}
	}
	return n
}

// line returns the evidence as a line of the file, without the line feed.
func (e Evidence) line() ([]byte, error) {
	text, err := json.Marshal(e, jsonx.Tolerant)
	return text, err
}

// parseEvidence skips lines that cannot be read: a crash may have torn the last one.
func parseEvidence(data []byte) []Evidence {
	var all []Evidence
	for line := range bytes.Lines(data) {
		var e Evidence
		if json.Unmarshal(line, &e, jsonx.Tolerant) == nil && e.Step > 0 {
			all = append(all, e)
		}
	}
	return all
}

// maxEvidence is the size in bytes above which old denials are dropped from the file.
const maxEvidence = 256 << 10

// thin returns the evidence about the steps of the state, with only the last few denials
// of each step.
func (s *State) thin() []Evidence {
	denials := map[int64]int{}
	keep := make([]bool, len(s.Evidence))
	for i := len(s.Evidence) - 1; i >= 0; i-- {
		e := s.Evidence[i]
		if s.Step(e.Step) == nil {
			continue
		}
		if e.Verdict == Deny {
			denials[e.Step]++
		}
		keep[i] = e.Verdict != Deny || denials[e.Step] <= maxRepeats
	}
	var kept []Evidence
	for i, e := range s.Evidence {
		if keep[i] {
			kept = append(kept, e)
		}
	}
	return kept
}

// appendEvidence adds a line to the evidence. The result of a check and a person's answer
// are synced to the disk. A power cut may lose the last lines of other evidence: the step
// then counts as completed in another way, and its gates, which take no time, are
// evaluated again. A sync would be most of the cost of an ordinary update.
func appendEvidence(dir *txn.Dir, e Evidence) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	if e.Check != nil || e.Verdict == Ask || e.Verdict == Override {
		return dir.AppendState(evidenceFile, line)
	}
	s, err := txn.StateDir(dir.Path())
	if err != nil {
		return err
	}
	return vfs.OS{}.AppendLine(filepath.Join(s, evidenceFile), line)
}

func rewriteEvidence(dir *txn.Dir, all []Evidence) error {
	var text []byte
	for _, e := range all {
		line, err := e.line()
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	return dir.WriteState(evidenceFile, text)
}
