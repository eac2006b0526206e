package steps

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/visible"
)

// Limits of what agents and people read, in characters.
const (
	maxSubject     = 200
	maxNamed       = 10   // steps or files in one sentence
	maxDescription = 3000 // the client cuts what a hook adds after about 10,000 (fact 22, client 2.1.197)
	maxReason      = 2000
)

// quote returns text of a workflow in quotation marks, on one line.
func quote(text string) string {
	return `"` + strings.ReplaceAll(clip(visible.Words(text), maxSubject), `"`, `'`) + `"`
}

// clip cuts text after so many characters.
func clip(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// names returns steps as a list in a sentence.
func names(all []*Current) string {
	var list []string
	for _, c := range all {
		list = append(list, c.Name())
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

func areOrIs(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// described returns the step with its description.
func described(c *Current) string {
	text := visible.Block(c.Description)
	if text == "" {
		return c.Name()
	}
	return c.Name() + ": " + clip(text, maxDescription)
}

// ways says how to go past the step in a terminal.
func ways(id int64, list string) string {
	return fmt.Sprintf(`fsmtx step skip %d --because "..." --session %s (or: fsmtx step done ...)`, id, list)
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
