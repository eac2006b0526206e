package gates

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// keep denies what would make a step something else than its workflow made it: its deletion
// and a change of its tag, without which a hydration does not recognise it; a change of what
// it says or waits for; and hiding it.
//
// Its activeForm, which the client shows while it works on the step, and its owner may
// change: they say who does it, not what is to be done.
func keep(s *state.State, c *state.Current, u Update) Verdict {
	of := c.Name() + " is a step of the workflow " + message.Quote(c.Workflow.Command)
	refuse := func(why, reason string) Verdict {
		v := deny(c, why, of+reason)
		v.past.forbidden = true
		return v
	}
	switch {
	case u.Task != message.Itoa(c.ID):
		return refuse("addBlocks", ", so it cannot be made to wait for another task. Leave it out of addBlocks of #"+u.Task)
	case u.Status == workflow.Deleted:
		v := refuse("deletion",
			" and stays in the list. Its status can become in_progress, completed or pending again. If it is not needed, tell the person")
		v.past.ends = true
		return v
	case changesTag(u.Metadata, c.Workflow.Command):
		return refuse("metadata."+state.Tag,
			`, so its metadata "`+state.Tag+`" must not change. Other metadata can be changed. Repeat the update without it`)
	case state.Hides(u.Metadata):
		return refuse("metadata."+state.Hidden(), `, so its metadata "`+state.Hidden()+
			`", which hides a task, cannot be set. Other metadata can be changed. Repeat the update without it`)
	case u.Subject != nil && !state.SameText(*u.Subject, c.Subject) && !state.SameText(*u.Subject, c.ShownSubject()):
		return refuse("subject", ", so its subject must not change. Leave that out; put notes into its metadata or into a task of your own")
	case u.Description != nil && !state.SameText(*u.Description, c.Description):
		return refuse("description", ", so its description must not change. Leave that out; put notes into its "+
			"metadata or into a task of your own")
	case slices.ContainsFunc(u.AddBlockedBy, func(id string) bool { return !waitsFor(c, id) }):
		return refuse("addBlockedBy", ", so what it waits for must not change. Leave addBlockedBy out; a task of your own can wait for a step")
	}
	isNew := func(id string) bool { b := s.Find(id); return b != nil && !waitsFor(b, message.Itoa(c.ID)) }
	if i := slices.IndexFunc(u.AddBlocks, isNew); i >= 0 {
		return refuse("addBlocks", ", and so is "+s.Find(u.AddBlocks[i]).Name()+": what a step waits for must not change. Leave addBlocks out")
	}
	return Verdict{}
}

// waitsFor reports whether the step is blocked by the task with that number.
func waitsFor(c *state.Current, id string) bool {
	return slices.ContainsFunc(slices.Concat(c.BlockedBy, c.Circular), func(b int64) bool { return message.Itoa(b) == id })
}

// changesTag reports whether a change of the metadata removes the tag or gives it
// another value.
func changesTag(metadata jsontext.Value, command string) bool {
	tag := jsonx.Member(metadata, state.Tag)
	if tag == nil {
		return false
	}
	var text string
	return json.Unmarshal(tag, &text, jsonx.Tolerant) != nil || text != command
}

// edit denies writing a file of the list or of its state directory: only the task
// tools of its agent and this program change tasks. path and dirs are absolute, with symbolic links resolved.
func edit(path string, dirs ...string) Verdict {
	for _, dir := range dirs {
		for at := path; ; at = filepath.Dir(at) {
			// as on a file system that ignores case, and as on Windows, where a directory has more names: of a share, a short one
			if strings.EqualFold(at, dir) || filepath.VolumeName(dir) != "" && safefile.Same(at, dir) {
				return Verdict{Decision: state.Deny, Why: "edit of a task file",
					Reason: "do not edit the tasks of a workflow as files: " + message.Line(path) +
						" belongs to the task list. Use your tools for the task list, the tools of the workflow, or fsmtx start and fsmtx complete"}
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return Verdict{}
}
