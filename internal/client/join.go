package client

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Join returns the one answer of a hook that had two things to do at an event. The first has
// put something right and tells what; the second decides. A refusal has what was told before it,
// because the model reads nothing else of it (fact 22, client 2.1.197).
func Join(name string, first, second Answer) Answer {
	switch {
	case second.isSilent() && first != Answer{}:
		return first
	case first.isSilent():
		return second
	}
	told, r := first.Reply(), second.Reply()
	context := told.context()
	r.SystemMessage = lines(told.SystemMessage, r.SystemMessage)
	if second.Exit == ExitBlock {
		if r.Specific != nil {
			r.Specific.PermissionDecisionReason = lines(context, r.Specific.PermissionDecisionReason)
		}
		return r.answer(ExitBlock, lines(context, second.ErrorText))
	}
	if context = lines(context, r.context()); context != "" {
		if r.Specific == nil {
			r.Specific = withContext(name, context)
		}
		r.Specific.AdditionalContext = context
	}
	return r.answer(max(first.Exit, second.Exit), first.ErrorText+second.ErrorText)
}

// isSilent reports whether an answer says nothing to anybody and decides nothing.
func (a Answer) isSilent() bool {
	return (a.Output == "" || a.Output == bareContinue) && a.ErrorText == "" && a.Exit == ExitOK
}

// Reply returns the object on standard output, which a function of this package has written.
func (a Answer) Reply() (r Reply) {
	_ = json.Unmarshal([]byte(a.Output), &r, jsonx.Tolerant) // no object is an empty reply
	return r
}

func (r Reply) context() string {
	if r.Specific == nil {
		return ""
	}
	return r.Specific.AdditionalContext
}

// lines joins the texts that are not empty.
func lines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimRight(a, "\n") + "\n" + b
}
