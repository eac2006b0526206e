package state

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// putRightWait limits the wait for the client's locks: what cannot be put right now is put
// right at the next update.
const putRightWait = 200 * time.Millisecond

// Wrong returns what the task's file says otherwise than the workflow: its subject, its
// description, what it waits for, its mark, and whether the list shows it. Only a program
// that edits the file can have changed that.
func (c *Current) Wrong(s *State) (what []string) {
	if c.File == nil || c.Unread {
		return nil
	}
	if !SameText(c.File.Subject, c.ShownSubject()) {
		what = append(what, "subject")
	}
	if status := c.shownStatus(); status != "" && status != c.File.Status {
		what = append(what, "status")
	}
	if c.Step.Description != "" && !SameText(c.File.Description, c.Step.Description) {
		what = append(what, "description")
	}
	if c.activeFormIsOld() {
		what = append(what, "activeForm")
	}
	if !c.waitsAsRecorded(s) {
		what = append(what, "blockedBy")
	}
	if m := s.mark(c.File); m.hidden || !SameText(m.name, c.Workflow.Command) {
		what = append(what, "metadata")
	}
	return what
}

// mark is what the metadata of a task says about it.
type mark struct {
	name   string // of its workflow
	hidden bool
}

// mark reads a text once: the tasks of a workflow have the same, nearly all of them.
func (s *State) mark(t *tasks.Task) mark {
	m, known := s.marks[string(t.Metadata)]
	if known {
		return m
	}
	m.name, _ = tagOf(t)
	m.hidden = Hides(t.Metadata)
	if s.marks == nil {
		s.marks = map[string]mark{}
	}
	s.marks[string(t.Metadata)] = m
	return m
}

// blockers returns the numbers of the steps before this one that the list still has: the
// client removes those that are gone (fact 7, client 2.1.197).
func (c *Current) blockers(s *State) []string {
	ids := []string{}
	for _, id := range s.Waits(c) {
		if b := s.OfList().Step(id); b != nil && !b.Gone() {
			ids = append(ids, message.Itoa(id))
		}
	}
	return ids
}

// waitsAsRecorded reports whether the task waits for the steps before it and for nothing
// else. Steps that are gone do not matter.
func (c *Current) waitsAsRecorded(s *State) bool {
	waits := s.Waits(c)
	if slices.ContainsFunc(c.File.BlockedBy,
		func(id string) bool {
			return !slices.ContainsFunc(waits, func(b int64) bool { return message.Itoa(b) == id })
		}) {
		return false
	}
	for _, id := range waits {
		if b := s.OfList().Step(id); b != nil && !b.Gone() && !slices.Contains(c.File.BlockedBy, message.Itoa(id)) {
			return false
		}
	}
	return true
}

// putRight makes the list say again what the workflow says, and returns what it did, for the
// person. first is as in Change.
func (st *Store) putRight(ctx context.Context, dir *txn.Dir, s *State, first bool) (told string) {
	told = st.tick(dir, s, first)
	if s.isPartial() {
		return told
	}
	var ids []int64
	for _, b := range s.Steps {
		what := b.Wrong(s)
		if len(what) == 0 {
			continue
		}
		ids = append(ids, b.ID)
		if !b.moved(what) {
			told = message.Join(told, "the task of "+b.Name()+" had been changed behind its workflow, and was put right: "+message.Sentence(what))
		}
	}
	if len(ids) == 0 {
		return told
	}
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), putRightWait)
	defer cancel()
	err := rewriteTasks(waiting, dir, ids, func(id int64, data []byte) ([]byte, error) {
		return tasks.Form.Edit(data, s.Step(id).right(s))
	})
	if err != nil {
		return "" // the next event tries again
	}
	return told
}

// right returns what makes the task of the step say what the workflow says.
func (c *Current) right(s *State) func(*tasks.Task) error {
	return func(t *tasks.Task) error {
		t.Subject, t.BlockedBy = c.ShownSubject(), c.blockers(s)
		if status := c.shownStatus(); status != "" {
			t.Status = status
		}
		if c.Step.Description != "" {
			t.Description = c.Step.Description
		}
		if c.activeFormIsOld() {
			t.ActiveForm = c.ActiveForm
		}
		metadata, err := c.rightMetadata(t.Metadata)
		t.Metadata = metadata
		return err
	}
}

// rightMetadata returns the metadata with the mark, and without what hides the task or is of an
// earlier round.
func (c *Current) rightMetadata(metadata jsontext.Value) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if json.Unmarshal(metadata, &members, jsonx.Tolerant) != nil || members == nil {
		members = map[string]jsontext.Value{} // it is not an object
	}
	delete(members, Hidden())
	if c.stale {
		delete(members, "outcome")
		for _, v := range c.Set {
			delete(members, v.Name)
		}
	}
	var err error
	if members[Tag], err = json.Marshal(c.Workflow.Command, jsonx.Tolerant); err != nil {
		return nil, err
	}
	return json.Marshal(members, jsonx.Tolerant, json.Deterministic(true))
}

// rewriteTasks replaces the content of tasks' files under the client's locks. Each file is
// replaced by a rename, so a crash leaves the old one or the new one. A file that cannot be
// changed does not keep the others from it; its error is returned.
func rewriteTasks(ctx context.Context, dir *txn.Dir, ids []int64, change func(id int64, data []byte) ([]byte, error)) error {
	names := []string{}
	for _, id := range ids {
		names = append(names, tasks.Form.Name(message.Itoa(id)))
	}
	if _, err := dir.Lock(ctx, names...); err != nil {
		return err
	}
	var files []txn.File
	var errs []error
	for i, name := range names {
		data, err := dir.Files().ReadFile(filepath.Join(dir.Path(), name))
		if err == nil {
			data, err = change(ids[i], data)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		files = append(files, txn.File{Name: name, Data: data})
	}
	if len(files) > 0 {
		errs = append(errs, dir.ReplaceFiles(files...))
	}
	return errors.Join(errs...)
}

// ShownStatus returns the status that the task has once the list shows what is on record.
func (c *Current) ShownStatus() string { return cmp.Or(c.shownStatus(), c.Status) }

// shownStatus returns the status that the list has to show for a step, or "" if it may be any.
// The list shows what has happened: while a step is open the agent may start it or not, and
// its completion may be on its way.
func (c *Current) shownStatus() string {
	switch {
	case c.Outcome != "":
		return workflow.Completed
	case c.stale:
		return workflow.Pending
	}
	return ""
}

// moved reports whether the list differs only in what the workflow itself changes: the status,
// the end of the subject, and values in texts.
func (c *Current) moved(what []string) bool {
	return c.hasShown(c.File.Subject, c.Subject, func(s *workflow.Step) string { return s.Subject }) &&
		!slices.ContainsFunc(what, func(w string) bool {
			return w != "subject" && w != "status" && w != "activeForm" &&
				!(w == "blockedBy" && c.Each != nil) && // its copies come and go
				(w != "description" || !c.hasShown(c.File.Description, c.Step.Description, func(s *workflow.Step) string { return s.Description }))
		})
}
