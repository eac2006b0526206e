package steps

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// tag is the key of the metadata by which a step is known.
const tag = "fsm"

// keep denies what would make a step something else than the workflow made it: its
// deletion, and a change of the tag by which it is known.
func keep(c *Current, u Update) Verdict {
	const allowed = "Its status can become in_progress, completed or pending again"
	if u.Status == deleted {
		return deny(c, "deletion", c.Name()+" is a step of the workflow "+quote(c.Workflow.Command)+" and stays in the list. "+allowed)
	}
	if changesTag(u.Metadata, c.Workflow.Command) {
		return deny(c, "metadata.fsm", c.Name()+" is a step of the workflow "+quote(c.Workflow.Command)+`, so its metadata "`+tag+`" stays as it is. Other metadata can be changed. `+allowed)
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
