package hydrate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// hydrateSkill invokes the skill with scope "skill".
func (h *home) hydrateSkill(command string) (hydrate.Result, error) {
	return h.hydrateFor(command, "", fsmspec.ScopeSkill, true)
}

// hydrateFor hydrates a skill that the agent called.
func (h *home) hydrateFor(command, agent string, scope fsmspec.Scope, flat bool) (hydrate.Result, error) {
	r := hydrate.Request{Event: "PostToolUse", Session: "list", Command: command, Agent: agent, Cwd: filepath.Join(h.dir, "project/sub")}
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"HOME": h.dir, "CLAUDE_PROJECT_DIR": filepath.Join(h.dir, "project")}[name]
		return v, ok
	}
	return hydrate.Run(context.Background(), r, env, hydrate.Options{LockTimeout: 5 * time.Second,
		Policy: fsmspec.Policy{Scope: scope}, Flat: flat})
}

// records returns the workflows in the list's history whose tasks are in the list.
func (h *home) records() []workflow.Workflow {
	history, err := txn.ReadHistory(h.list())
	require.NoError(h.t, err)
	present := h.tasks()
	var found []workflow.Workflow
	for _, e := range history {
		live := false
		for _, f := range e.Created {
			_, there := present[f.Name]
			live = live || there
		}
		if !live {
			continue
		}
		w, err := workflow.ParseWorkflow(e.Record)
		require.NoError(h.t, err)
		found = append(found, w)
	}
	return found
}

func genGates(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		``, `, "produces": ["dist/*.tar.gz", "./a"]`, `, "ready": ["spec.md"]`, `, "check": "make test"`,
		`, "check": {"run": "true\n\u2028", "timeout": 0.25, "dir": "app"}`, `, "check": {"run": "true", "timeout": "30m"}`,
		`, "approval": true`, `, "approval": "Well?"`,
		`, "produces": ["a"], "ready": ["b"], "check": "c", "approval": "d"`,
	}).Draw(t, "gates")
}

func genGated(t *rapid.T) string {
	ids := rapid.SliceOfNDistinct(rapid.IntRange(1, 60), 0, 6, rapid.ID).Draw(t, "ids")
	entries := make([]string, len(ids))
	for i, id := range ids {
		refs := func(name string) string {
			list, _ := json.Marshal(rapid.SliceOfN(rapid.SampledFrom(ids), 0, 3).Draw(t, name))
			return fmt.Sprintf(`, %q: %s`, name, list)
		}
		entries[i] = fmt.Sprintf(`{"id": %d, "subject": "Step %d", "status": %q%s%s%s}`, id, id,
			rapid.SampledFrom([]string{"pending", "in_progress", "completed"}).Draw(t, "status"), refs("blocks"), refs("blockedBy"), genGates(t))
	}
	if len(ids) > 0 {
		entries = append(entries, `{"id": 61, "subject": "free"}`) // one can start
	}
	return "[" + strings.Join(entries, ", ") + "]"
}

// TestRecordsMatchTheList: after any hydrations of any skills the records and the list
// have the same steps.
func TestRecordsMatchTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHome(t)
		h.write("project/sub/file", "")
		h.write(".claude/tasks/list/3.json", `{"id": "3", "subject": "mine"}`)
		current := map[string]string{}
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			command := rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "command")
			current[command] = genGated(t)
			h.write(".claude/skills/"+command+"/fsm.json", current[command])
			_, err := h.hydrateSkill(command)
			require.NoError(t, err)
		}
		present := h.tasks()
		require.Contains(t, present, "3.json")
		delete(present, "3.json")
		for _, w := range h.records() {
			h.checkRecord(w, current[w.Command])
			for _, s := range w.Steps {
				checkRecordedStep(t, s, w.Command, present[fmt.Sprint(s.ID, ".json")])
				delete(present, fmt.Sprint(s.ID, ".json"))
			}
			delete(current, w.Command)
		}
		require.Empty(t, present, "every task of a workflow is in a record")
		for _, file := range current {
			require.Equal(t, "[]", file, "every workflow with tasks is recorded")
		}
	})
}

func (h *home) checkRecord(w workflow.Workflow, file string) {
	sum := sha256.Sum256([]byte(file))
	want := workflow.Workflow{Version: workflow.Version, Command: w.Command,
		Spec:   filepath.Join(h.dir, ".claude/skills", w.Command, "fsm.json"),
		SHA256: hex.EncodeToString(sum[:]), Session: "list", Dir: filepath.Join(h.dir, "project"), Steps: w.Steps,
		Inode: state.Inode(filepath.Join(h.dir, "project")), Definition: state.Definition([]byte(file))}
	wanted, err := want.Encode()
	require.NoError(h.t, err)
	got, err := w.Encode()
	require.NoError(h.t, err)
	require.Equal(h.t, wanted, got)
	spec, err := fsmspec.Parse([]byte(file))
	require.NoError(h.t, err)
	require.Equal(h.t, spec.Len(), len(w.Steps))
	for i, task := range spec.Tasks() {
		s := w.Steps[i]
		require.Equal(h.t, task.ID, s.Local)
		require.Equal(h.t, task.Gates.Produces, s.Produces)
		require.Equal(h.t, task.Gates.Ready, s.Ready)
		require.Equal(h.t, task.Gates.Approval, s.Approval)
		require.Equal(h.t, task.Gates.Check == nil, s.Check == nil)
		if s.Check != nil {
			require.Equal(h.t, *task.Gates.Check, fsmspec.Check{Run: s.Check.Run, Timeout: s.Check.Limit(), Dir: s.Check.Dir})
		}
	}
}

// checkRecordedStep compares a step with the task file of its number.
func checkRecordedStep(t require.TestingT, s workflow.Step, command, file string) {
	var task struct {
		ID        string   `json:"id"`
		Subject   string   `json:"subject"`
		Status    string   `json:"status"`
		BlockedBy []string `json:"blockedBy"`
		Metadata  struct {
			FSM string `json:"fsm"`
		} `json:"metadata"`
	}
	require.NoError(t, json.Unmarshal([]byte(file), &task), "step #%d has no task", s.ID)
	var blockers []string
	for _, id := range slices.Concat(s.BlockedBy, s.Circular) {
		blockers = append(blockers, strconv.FormatInt(id, 10))
	}
	require.Equal(t, strconv.FormatInt(s.ID, 10), task.ID)
	require.Equal(t, []string{s.Subject, s.Status, command}, []string{task.Subject, task.Status, task.Metadata.FSM})
	require.ElementsMatch(t, blockers, task.BlockedBy)
	require.NotContains(t, file, "produces")
}

// TestHistoryKeepsTheRecordOfAWorkflowInTheList: however many transactions follow, the
// record is kept while the list has one of the workflow's tasks.
func TestHistoryKeepsTheRecordOfAWorkflowInTheList(t *testing.T) {
	h := newHome(t)
	h.write(".claude/skills/old/fsm.json", `[{"id": 1, "subject": "A", "check": "true"}, {"id": 2, "subject": "B"}]`)
	h.write(".claude/skills/new/fsm.json", `[{"id": 1, "subject": "C"}]`)
	_, err := h.hydrateSkill("old")
	require.NoError(t, err)
	churn := func() {
		for range txn.DefaultHistory + 2 {
			_, err := h.hydrateSkill("new")
			require.NoError(t, err)
		}
	}
	churn()
	require.NoError(t, os.Remove(filepath.Join(h.list(), "1.json")))
	churn()
	records := h.records()
	require.Equal(t, "old", records[0].Command)
	require.Equal(t, "true", records[0].Steps[0].Check.Run)

	require.NoError(t, os.Remove(filepath.Join(h.list(), "2.json")))
	churn()
	history, err := txn.ReadHistory(h.list())
	require.NoError(t, err)
	require.Len(t, history, txn.DefaultHistory)
	for _, e := range history {
		require.NotContains(t, e.Record, `"old"`)
	}
}

// TestARecordHasTheValuesFromTheBeginning: a later edit of fsm.json does not change them.
func TestARecordHasTheValuesFromTheBeginning(t *testing.T) {
	h := newHome(t)
	h.write(".claude/skills/skill/fsm.json", `{"fsm": 2, "vars": {"goal": "release {args}"}, "steps": [{"id": 1, "subject": "For {goal}"}]}`)
	r := call
	r.Args = "1.4"
	_, err := hydrate.Run(t.Context(), r, h.env, hydrate.Options{LockTimeout: 5 * time.Second})
	require.NoError(t, err)
	records := h.records()
	require.Len(t, records, 1)
	require.Equal(t, "1.4", records[0].Args)
	require.Equal(t, map[string]string{"goal": "release 1.4"}, records[0].Vars)
}

// TestACallThatCannotBeRecorded: both errors are told.
func TestACallThatCannotBeRecorded(t *testing.T) {
	h := newHome(t)
	h.write(".claude/skills/skill/SKILL.md", "")
	h.write(".claude/skills/skill/fsm.json", `{"fsm": 2, "steps": [{"id": 1, "subject": "Call it", "do": "other"}]}`)
	_, err := h.hydrate()
	require.NoError(t, err)
	task := filepath.Join(h.list(), "1.json")
	text, err := os.ReadFile(task)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(task, []byte(strings.Replace(string(text), `"pending"`, `"in_progress"`, 1)), 0o644))
	note := func(found error, o hydrate.Options) error {
		return hydrate.NoteCall(t.Context(), hydrate.Request{Session: "list", Command: "other"}, h.env, o, found)
	}
	broken := hydrate.Options{LockTimeout: time.Millisecond,
		FS: &faultfs.Steps{FS: vfs.OS{}, Before: func(faultfs.Step) error { return syscall.EIO }}}
	err = note(hydrate.ErrLookup, broken)
	require.ErrorIs(t, err, hydrate.ErrLookup)
	require.ErrorContains(t, err, "the call could not be recorded, so call it again")
	require.ErrorIs(t, note(hydrate.ErrLookup, hydrate.Options{LockTimeout: 5 * time.Second}), hydrate.ErrLookup)
	evidence, err := os.ReadFile(filepath.Join(filepath.Dir(h.list()), ".list.fsmtx/steps.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(evidence), `"verdict":"called"`)
}
