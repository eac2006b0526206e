package steps

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// tag is the key of a task's metadata that marks a step, with the name of its workflow.
const tag = fsmspec.Tag

// hidden returns the key by which a task's metadata hides the task.
func hidden() string { return tasks.Form.Hides() }

// keep denies what would make a step something else than its workflow made it: its deletion
// and a change of its tag, without which a hydration does not recognise it; a change of what
// it says or waits for; and hiding it.
//
// Its activeForm, which the client shows while it works on the step, and its owner may
// change: they say who does it, not what is to be done.
func keep(s *State, c *Current, u Update) Verdict {
	of := c.Name() + " is a step of the workflow " + quote(c.Workflow.Command)
	refuse := func(why, reason string) Verdict {
		v := deny(c, why, of+reason)
		v.past.none = true
		return v
	}
	switch {
	case u.Task != itoa(c.ID):
		return refuse("addBlocks", ", so it cannot be made to wait for another task. Leave it out of addBlocks of #"+u.Task)
	case u.Status == deleted:
		v := refuse("deletion",
			" and stays in the list. Its status can become in_progress, completed or pending again. If it is not needed, tell the person")
		v.past.ends = true
		return v
	case changesTag(u.Metadata, c.Workflow.Command):
		return refuse("metadata."+tag, `, so its metadata "`+tag+`" must not change. Other metadata can be changed. Repeat the update without it`)
	case hides(u.Metadata):
		return refuse("metadata."+hidden(), `, so its metadata "`+hidden()+
			`", which hides a task, cannot be set. Other metadata can be changed. Repeat the update without it`)
	case u.Subject != nil && !sameText(*u.Subject, c.Subject) && !sameText(*u.Subject, c.shownSubject()):
		return refuse("subject", ", so its subject must not change. Leave that out; put notes into its metadata or into a task of your own")
	case u.Description != nil && !sameText(*u.Description, c.Description):
		return refuse("description", ", so its description must not change. Leave that out; put notes into its "+
			"metadata or into a task of your own")
	case slices.ContainsFunc(u.AddBlockedBy, func(id string) bool { return !waitsFor(c, id) }):
		return refuse("addBlockedBy", ", so what it waits for must not change. Leave addBlockedBy out; a task of your own can wait for a step")
	}
	for _, id := range u.AddBlocks {
		if b := s.find(id); b != nil && !waitsFor(b, itoa(c.ID)) {
			return refuse("addBlocks", ", and so is "+b.Name()+": what a step waits for must not change. Leave addBlocks out")
		}
	}
	return Verdict{}
}

// waitsFor reports whether the step is blocked by the task with that number.
func waitsFor(c *Current, id string) bool {
	return slices.ContainsFunc(slices.Concat(c.BlockedBy, c.Circular), func(b int64) bool { return itoa(b) == id })
}

// find returns the step with that number, or nil.
func (s *State) find(id string) *Current {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	return s.Step(n)
}

// changesTag reports whether a change of the metadata removes the tag or gives it
// another value.
func changesTag(metadata jsontext.Value, command string) bool {
	tag := jsonx.Member(metadata, tag)
	if tag == nil {
		return false
	}
	var text string
	return json.Unmarshal(tag, &text, jsonx.Tolerant) != nil || text != command
}

// hides reports whether a change of the metadata hides the task from the list. null and
// false do not.
func hides(metadata jsontext.Value) bool {
	value := jsonx.Member(metadata, hidden())
	return value != nil && value.Kind() != 'n' && value.Kind() != 'f'
}
