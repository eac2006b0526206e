package state

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Answerer is a hook in the client's settings that may answer a question for the person.
type Answerer struct {
	Name string // of what and where it is
	Sum  string
}

// NewAnswerer returns the name of the first of the hooks that is not on record of a workflow in the list: it came after that was begun,
// so its agent may have written it, and an answer is not known to be the person's. It is empty if there is none.
func (s *State) NewAnswerer(all []Answerer) string {
	for _, a := range all {
		if slices.ContainsFunc(s.Workflows(), func(w *workflow.Workflow) bool { return !slices.Contains(s.Root(w).Answerers, a.Sum) }) {
			return a.Name
		}
	}
	return ""
}

// NotByPerson says why an answer does not count, and how the person can give it.
func NotByPerson(hook, command string) string {
	return message.Sprintf("%s has come since the workflow was begun and may have answered for the person, so the answer does not count. "+
		"They can give it in a terminal outside the client: %s", hook, command)
}
