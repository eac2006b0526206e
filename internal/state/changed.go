package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Definition returns a checksum of each part of an fsm.json, without its white space: of the steps by their
// ids, and of what else the file has by its name. What a plan has ticked is left out.
func Definition(data []byte, plan bool) map[string]string {
	file, ok := jsonx.ParseObject(data)
	if !ok { // an array
		file = file.With("steps", data)
	}
	all := map[string]string{}
	sum := func(name string, value jsontext.Value) { all[name] = string(digits(crc32.ChecksumIEEE(value))) }
	for name, value := range file.Without("steps").All() {
		sum(name, value)
	}
	for _, entry := range file.Array("steps") {
		step, _ := jsonx.ParseObject(entry)
		if plan {
			step = step.Without("status")
		}
		sum(strings.Trim(string(step.Get("id")), `"`), step.Raw())
	}
	return all
}

// Changes says in what the definition of a workflow differs from the one in the list that it replaces, empty if it does not:
// "steps 2 and 4 differ, vars differs". A tick of a plan differs unless its step was done.
func (s *State) Changes(old, now *workflow.Workflow) string {
	all := maps.Clone(now.Definition)
	maps.Copy(all, old.Definition)
	maps.DeleteFunc(all, func(name, _ string) bool { return old.Definition[name] == now.Definition[name] })
	for i, step := range now.Steps[:min(len(now.Steps), len(old.Plan))] {
		if c := s.Step(old.Steps[i].ID); step.Status == fsmspec.Completed && (c == nil || !c.isTicked()) {
			all[strconv.Itoa(i+1)] = ""
		}
	}
	var steps, parts []string
	for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }) {
		if _, err := strconv.Atoi(name); err == nil {
			steps = append(steps, name)
		} else {
			parts = append(parts, message.Words(name)+" differs")
		}
	}
	switch len(steps) {
	case 0:
	case 1:
		parts = slices.Insert(parts, 0, "step "+steps[0]+" differs")
	default:
		parts = slices.Insert(parts, 0, "steps "+message.Sentence(steps)+" differ")
	}
	return strings.Join(parts, ", ")
}

// FileChange says in what the fsm.json of a workflow is not as it was when it began, "" if it is. Its gates stay those that are on
// record until a person takes the new file; takes reports whether that is possible. A plan changes as its steps are done.
func FileChange(w *workflow.Workflow) (what string, takes bool) {
	if w == nil || w.Plan != nil || w.Spec == "" {
		return "", false
	}
	data, err := safefile.ReadFile(w.Spec, fsmspec.MaxBytes, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "is gone", false
	}
	sum := sha256.Sum256(data)
	if err != nil || hex.EncodeToString(sum[:]) == w.SHA256 {
		return "", false
	}
	if _, err = fsmspec.ParseOf(w.Command, data); err != nil {
		return "has changed since the workflow began, and is not valid now", false
	}
	return "has changed since the workflow began", true
}

// InsteadOfReload is what to do with a workflow that cannot be reloaded.
const InsteadOfReload = "finish or end what is named, or call the skill again: it begins anew then"

// CannotReload says what of a workflow a new version of its fsm.json would lose, "" if nothing.
func (s *State) CannotReload(w *workflow.Workflow) string {
	for _, c := range s.In(w) {
		name := fmt.Sprintf("#%d %q", c.ID, c.Subject)
		switch {
		case s.Checking(c.ID):
			return "the check of " + name + " is running"
		case c.Round > 1:
			return fmt.Sprintf("%s is in round %d, and how often a loop may go on would be counted anew", name, c.Round)
		case c.Each != nil && (c.Status != workflow.Pending || c.Done()):
			return name + " is done for lines, and what was done for each would be lost"
		}
		for _, other := range s.Workflows() {
			if p := s.Parent(other); p != nil && p.ID == c.ID && other.Command != w.Command && len(s.OpenIn(other)) > 0 {
				return fmt.Sprintf("the skill %s is open under %s", message.Words(other.Command), name)
			}
		}
	}
	return ""
}

// changed is what a hydration has on record for the person, its number and its id.
type changed struct {
	Command string
	Lost    []string // see workflow.Workflow
	Text    string
	At      int64
	ID      string
}
