package steps

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// tag is the key in a task's metadata that marks it as a step and names its workflow.
const tag = "fsm"

// keep denies the deletion of a step, and a change of its tag. Without the tag a hydration
// does not recognise the step as one of its own.
func keep(c *Current, u Update) Verdict {
	const allowed = "Its status can become in_progress, completed or pending again"
	if u.Status == deleted {
		return deny(c, "deletion", c.Name()+" is a step of the workflow "+quote(c.Workflow.Command)+" and stays in the list. "+allowed)
	}
	if changesTag(u.Metadata, c.Workflow.Command) {
		return deny(c, "metadata.fsm", c.Name()+" is a step of the workflow "+quote(c.Workflow.Command)+`, so its metadata "`+tag+`" must not change. Other metadata can be changed. `+allowed)
	}
	return Verdict{}
}

// changesTag reports whether a change of the metadata removes the tag or gives it
// another value.
func changesTag(metadata jsontext.Value, command string) bool {
	tag := jsonx.Member(metadata, tag)
	if tag == nil {
		return false
	}
	var text string
	return json.Unmarshal(tag, &text, jsonx.Tolerant) != nil || tag.Kind() != '"' || text != command
}
