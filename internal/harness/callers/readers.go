package callers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// orders are sentences for an agent, which no person is to read.
var orders = regexp.MustCompile(`(?i)\b(tell|ask) (the person|them)\b`)

// misread is the exit code of a program that has given such a sentence to a person.
const misread = 97

// Read runs the program, and fails if it says to a person what is for their agent: in the message of a hook or in its question,
// and at a person's terminal.
func Read(s terminal.Streams, run func(terminal.Streams) int) int {
	var out, errs bytes.Buffer
	to := s.Err
	s.Out, s.Err = io.MultiWriter(s.Out, &out), io.MultiWriter(s.Err, &errs)
	code := run(s)
	texts := []string{out.String(), errs.String()}
	if len(os.Args) > 1 && slices.Contains([]string{"hook", "hydrate", "guard"}, os.Args[1]) {
		var said struct {
			SystemMessage string `json:"systemMessage"`
			Specific      struct {
				Decision string `json:"permissionDecision"`
				Reason   string `json:"permissionDecisionReason"`
			} `json:"hookSpecificOutput"`
		}
		_ = json.Unmarshal(out.Bytes(), &said)
		if texts = []string{said.SystemMessage}; said.Specific.Decision == "ask" {
			texts = append(texts, said.Specific.Reason)
		}
	} else if s.Who().Kind != caller.Person {
		return code
	}
	for _, text := range texts {
		if m := orders.FindString(text); m != "" {
			fmt.Fprintf(to, "for an agent, but a person reads it: %q in %s\n", m, text)
			return misread
		}
	}
	return code
}
