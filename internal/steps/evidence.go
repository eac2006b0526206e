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
	Note    string    `json:"note,omitzero"`  // what the agent wanted to have kept
	Agent   string    `json:"agent,omitzero"` // the id of the subagent that asked
	Check   *Result   `json:"check,omitzero"`
}

// Result is how a check ended.
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

// patience is how often the same update is denied for the same reason before the agent
// is told to ask a person.
const patience = 3

// same reports whether two decisions say the same about the same: a check that fails
// with another output is another reason.
func (e Evidence) same(o Evidence) bool {
	return e.Step == o.Step && e.To == o.To && e.Verdict == o.Verdict && e.Why == o.Why && outputOf(e) == outputOf(o)
}

func outputOf(e Evidence) string {
	if e.Check == nil {
		return ""
	}
	return e.Check.SHA256
}

// repeats returns how often the denial is among the evidence without anything let
// through since.
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

// line returns the evidence as it is appended to the file.
func (e Evidence) line() ([]byte, error) {
	text, err := json.Marshal(e, jsonx.Tolerant)
	return text, err
}

// parseEvidence skips lines that are not evidence: a crash may have torn the last one.
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

// maxEvidence is the size in bytes above which the file is thinned out.
const maxEvidence = 256 << 10

// thin drops the evidence about other steps than those of the state and, of each step,
// denials but the last few.
func (s *State) thin() []Evidence {
	left := map[int64]int{}
	keep := make([]bool, len(s.Evidence))
	for i := len(s.Evidence) - 1; i >= 0; i-- {
		e := s.Evidence[i]
		if s.Step(e.Step) == nil {
			continue
		}
		if e.Verdict == Deny {
			left[e.Step]++
		}
		keep[i] = e.Verdict != Deny || left[e.Step] <= patience
	}
	var kept []Evidence
	for i, e := range s.Evidence {
		if keep[i] {
			kept = append(kept, e)
		}
	}
	return kept
}

// appendEvidence adds a line to the evidence. What a person has said, or a check, is on
// the disk when it returns. Of the rest a power cut may lose the last lines: the step has
// then been completed in another way, and its gates, which take no time, are asked again.
// Waiting for the disk would make up most of what an ordinary update costs.
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
