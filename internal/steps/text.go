package steps

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Limits of the texts for agents and people, in characters.
const (
	maxSubject     = 200
	maxNamed       = 10   // steps or files in one sentence
	maxDescription = 3000 // the client truncates what a hook adds after about 10,000 (fact 22, client 2.1.197)
	maxReason      = 2000
)

// quote returns a text of a workflow on one line in quotation marks.
func quote(text string) string {
	return `"` + strings.ReplaceAll(message.Clip(message.Words(text), maxSubject), `"`, `'`) + `"`
}

// Names returns steps as a list in a sentence.
func Names(all []*Current) string {
	var list []string
	for _, c := range all {
		list = append(list, c.Name())
	}
	return sentence(list)
}

// Placed is Names with what each step is a part of, or which line it is for.
func (s *State) Placed(all []*Current) string {
	var list []string
	for _, c := range all {
		list = append(list, c.Name()+s.belongs(c))
	}
	return sentence(list)
}

// sentence joins words with commas and "and".
func sentence(words []string) string {
	if more := len(words) - maxNamed; more > 0 {
		words = append(words[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// withDescription returns the name of the step, where it belongs, and its description.
func withDescription(c *Current, place, description string) string {
	text := message.Block(description)
	if text == "" {
		return c.Name() + place
	}
	return c.Name() + place + ": " + message.Clip(text, maxDescription)
}

// overrideCommands returns the commands with which a person goes past the step.
func overrideCommands(id int64, list string) string {
	return fmt.Sprintf(`fsmtx step skip %d --because "..." %s (or: fsmtx step done ...)`, id, list)
}

// nth returns an ordinal number.
func nth(n int) string {
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return itoa(int64(n)) + suffix
}

// sameText compares texts as the client and this program may have written them: invalid
// UTF-8 becomes U+FFFD.
func sameText(a, b string) bool {
	return strings.ToValidUTF8(a, "\uFFFD") == strings.ToValidUTF8(b, "\uFFFD")
}

// approveCommand returns the command with which a person approves the step, in the outcome if they
// have to say it.
func approveCommand(id int64, outcome, list string) string {
	return fmt.Sprintf(`fsmtx step done %d%s --because "..." %s`, id, OutcomeFlag(outcome), list)
}

// OutcomeFlag returns the flag with which a person says an outcome, unless that is empty.
func OutcomeFlag(outcome string) string {
	if outcome == "" {
		return ""
	}
	return " --outcome " + outcome
}
