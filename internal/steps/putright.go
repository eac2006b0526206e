package steps

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// putRightWait limits the wait for the client's locks: what cannot be put right now is put
// right at the next update.
const putRightWait = 200 * time.Millisecond

// wrong returns what the task's file says otherwise than the workflow: its subject, its
// description, what it waits for, its mark, and whether the list shows it. Only a program
// that edits the file can have changed that.
func (c *Current) wrong(s *State) (what []string) {
	if c.file == nil || c.Unread {
		return nil
	}
	if !sameText(c.file.Subject, c.shownSubject()) {
		what = append(what, "subject")
	}
	if status := c.shownStatus(); status != "" && status != c.file.Status {
		what = append(what, "status")
	}
	if c.Step.Description != "" && !sameText(c.file.Description, c.Step.Description) {
		what = append(what, "description")
	}
	if !c.waitsAsRecorded(s) {
		what = append(what, "blockedBy")
	}
	if name, _ := c.file.tagOf(); !sameText(name, c.Workflow.Command) || hides(c.file.Metadata) {
		what = append(what, "metadata")
	}
	return what
}

// blockers returns the numbers of the steps before this one that the list still has: the
// client removes those that are gone (fact 7, client 2.1.197).
func (c *Current) blockers(s *State) []string {
	ids := []string{}
	for _, id := range c.BlockedBy {
		if b := s.Step(id); b != nil && !b.Gone() {
			ids = append(ids, itoa(id))
		}
	}
	return ids
}

// waitsAsRecorded reports whether the task waits for the steps before it and for nothing
// else. Steps that are gone do not matter.
func (c *Current) waitsAsRecorded(s *State) bool {
	return !slices.ContainsFunc(c.file.BlockedBy, func(id string) bool { return !c.waitsFor(id) }) &&
		!slices.ContainsFunc(c.blockers(s), func(id string) bool { return !slices.Contains(c.file.BlockedBy, id) })
}

// putRight makes the list say again what the workflow says, and returns what it did, for the
// person.
func (c *call) putRight(ctx context.Context, dir *txn.Dir, s *State) (told string) {
	for _, b := range s.Steps {
		what := b.wrong(s)
		if len(what) == 0 {
			continue
		}
		waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), putRightWait)
		err := b.putRight(waiting, dir, s)
		cancel()
		if err != nil {
			return told // the next update tries again
		}
		if !b.moved(what) {
			told = both(told, "the task of "+b.Name()+" had been changed behind its workflow, and was put right: "+sentence(what))
		}
	}
	return told
}

// putRight rewrites the task's file under the client's lock.
func (c *Current) putRight(ctx context.Context, dir *txn.Dir, s *State) error {
	return rewriteTask(ctx, dir, c.ID, func(data []byte) ([]byte, error) {
		members, err := membersOf(data)
		if err != nil {
			return nil, err
		}
		metadata, err := membersOf(members["metadata"])
		if err != nil {
			metadata = map[string]jsontext.Value{} // it is not an object
		}
		delete(metadata, hidden)
		said := map[string]any{"subject": c.shownSubject(), "blockedBy": c.blockers(s), "metadata": metadata}
		if status := c.shownStatus(); status != "" {
			said["status"] = status
		}
		if c.stale {
			delete(metadata, "outcome")
		}
		if c.Step.Description != "" {
			said["description"] = c.Step.Description
		}
		if metadata[tag], err = json.Marshal(c.Workflow.Command, jsonx.Tolerant); err != nil {
			return nil, err
		}
		for name, value := range said {
			if members[name], err = json.Marshal(value, jsonx.Tolerant, json.Deterministic(true)); err != nil {
				return nil, err
			}
		}
		return json.Marshal(members, jsonx.Tolerant, json.Deterministic(true), jsontext.WithIndent("  ")) // as the client writes it (fact 6)
	})
}

func membersOf(object jsontext.Value) (members map[string]jsontext.Value, err error) {
	err = json.Unmarshal(object, &members, jsonx.Tolerant)
	if err == nil && members == nil {
		members = map[string]jsontext.Value{}
	}
	return members, err
}

// rewriteTask replaces the content of a task's file under the client's lock. The file is
// replaced by a rename, so a crash leaves the old one or the new one.
func rewriteTask(ctx context.Context, dir *txn.Dir, id int64, change func(data []byte) ([]byte, error)) error {
	name := fileName(id)
	if _, err := dir.Lock(ctx, name); err != nil {
		return err
	}
	data, err := dir.Files().ReadFile(filepath.Join(dir.Path(), name))
	if err != nil {
		return err
	}
	changed, err := change(data)
	if err != nil {
		return err
	}
	return dir.ReplaceFile(name, changed)
}

// shownStatus returns the status that the list has to show for a step, or "" if it may be any.
// In a workflow with outcomes the list shows what has happened: while a step is open the agent may start it or not, and
// its completion may be on its way.
func (c *Current) shownStatus() string {
	switch {
	case c.NotNeeded:
		return completed
	case !c.flows():
	case c.Outcome != "":
		return completed
	case c.stale:
		return pending
	}
	return ""
}

// moved reports whether the list differs only by what the workflow itself changes: the status
// and the end of the subject.
func (c *Current) moved(what []string) bool {
	return (c.flows() || c.NotNeeded) && strings.HasPrefix(c.file.Subject, c.Subject) &&
		!slices.ContainsFunc(what, func(w string) bool { return w != "subject" && w != "status" })
}
