package message

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of texts in messages about steps.
const (
	MaxSubject = 200 // characters of a subject, a command or a name
	MaxNamed   = 10  // steps or files in one sentence
)

// Alternatives joins words with commas and "or".
func Alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Join joins two texts, each of which may be empty, by a line feed.
func Join[T ~string](a, b T) T {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// IsOrAre returns the verb for so many things.
func IsOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Itoa returns the number of a step or a task as text.
func Itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Quote returns a text of a workflow on one line in quotation marks.
func Quote(text string) string {
	return `"` + strings.ReplaceAll(Clip(Words(text), MaxSubject), `"`, `'`) + `"`
}

// Sentence joins words with commas and "and".
func Sentence(words []string) string {
	if more := len(words) - MaxNamed; more > 0 {
		words = append(words[:MaxNamed:MaxNamed], fmt.Sprintf("%d more", more))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// Nth returns an ordinal number.
func Nth(n int) string {
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
	return Itoa(int64(n)) + suffix
}

// Times returns "once", "2 times" and so on.
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
