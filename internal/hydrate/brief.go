package hydrate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Limits on the text for the agent about a failure. The client does not shorten it: the
// agent gets the whole standard error (fact 45, client 2.1.329).
const (
	maxProblems = 20   // problems listed for one file
	maxHint     = 2000 // UTF-16 code units
)

// Brief returns the error for the agent: first what to do, then at most maxProblems
// problems, with equal ones folded into one. Error returns all problems.
func (e *SpecError) Brief() string {
	invalid, ok := errors.AsType[*fsmspec.InvalidError](e.Err)
	if !ok {
		return message.Error(e)
	}
	path := message.Line(e.Path)
	head := e.headline(invalid) + ". Correct the file, then invoke the skill again:"
	more := " more: fsmtx validate " + shell.Join(path)
	room := maxText - client.Length("fsmtx: \n\n… and 10000") - client.Length(head) - client.Length(more)
	unlisted := len(invalid.Problems)
	var lines strings.Builder
	for i, f := range Fold(invalid.Problems) {
		line := "\n" + path + ":" + f.String()
		if room -= client.Length(line); i == maxProblems || room < 0 {
			break
		}
		lines.WriteString(line)
		unlisted -= f.Listed()
	}
	if unlisted == 0 {
		return head + lines.String()
	}
	return fmt.Sprintf("%s%s\n… and %d%s", head, lines.String(), unlisted, more)
}
