package client

import (
	"strings"
	"unicode/utf8"
)

// maxAfterQuestion is how many words may follow a question at the end of a message: "Shall I
// go on? I can also wait."
const maxAfterQuestion = 15

// Question returns the question to the person with which the agent's message ends, "" if it
// ends with none. After the question there may be the answers to choose from, as a list or
// in parentheses, and a short remark.
func Question(message string) string {
	parts := strings.Split(strings.TrimSpace(message), "```")
	if len(parts)%2 == 0 {
		return "" // it ends within code
	}
	all := strings.Split(strings.TrimSpace(parts[len(parts)-1]), "\n")
	words := 0
	for i := len(all) - 1; i >= 0 && words <= maxAfterQuestion; i-- {
		line := strings.TrimSpace(all[i])
		question, rest := cutQuestion(line)
		if !isItem(line) || question != "" {
			words += len(WordsOf(rest))
		}
		if question != "" && words <= maxAfterQuestion {
			return question
		}
	}
	return ""
}

// cutQuestion returns the line up to its last question mark outside code, and what follows it.
func cutQuestion(line string) (question, rest string) {
	for at := len(line); at > 0; {
		r, size := utf8.DecodeLastRuneInString(line[:at])
		at -= size
		if strings.ContainsRune("?？؟", r) && ends(line, at, r) && strings.Count(line[:at], "`")%2 == 0 {
			return strings.TrimLeft(line[:at+size], "#>*-_ \t"), line[at+size:]
		}
	}
	return "", line
}

// isItem reports whether a line is an item of a list or in parentheses.
func isItem(line string) bool {
	mark, _, _ := strings.Cut(strings.TrimLeft(line, "*_> \t"), " ")
	return strings.HasPrefix(line, "(") || len(mark) <= 3 && strings.ContainsAny(mark+" ", "-*+•–|.):")
}
