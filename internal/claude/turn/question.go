package turn

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
	message = strings.TrimSpace(message)
	if strings.Count(message, "```")%2 == 1 || strings.HasSuffix(message, "```") {
		return "" // it ends with code
	}
	all := strings.Split(message, "\n")
	words := 0
	for i := len(all) - 1; i >= 0; i-- {
		line := strings.TrimSpace(all[i])
		if strings.HasPrefix(line, "```") {
			return ""
		}
		if question, rest, ok := cutQuestion(line); ok && words+len(WordsOf(rest)) <= maxAfterQuestion {
			return question
		}
		if line == "" || isItem(line) {
			continue // an answer to choose from
		}
		if words += len(WordsOf(line)); words > maxAfterQuestion {
			return ""
		}
	}
	return ""
}

// cutQuestion returns the line up to its last question mark, and what follows it.
func cutQuestion(line string) (question, rest string, found bool) {
	for at := len(line); at > 0; {
		r, size := utf8.DecodeLastRuneInString(line[:at])
		if at -= size; !isQuestionMark(r) && !endsJapaneseQuestion(line, at, r) || !splits(line, at, at+size, r) {
			continue
		}
		if strings.Count(line[:at], "`")%2 == 1 {
			continue // inside code
		}
		return strings.TrimLeft(line[:at+size], "#>*-_ \t"), line[at+size:], true
	}
	return "", "", false
}

// endsJapaneseQuestion reports whether the full stop at line[at:] ends a question, which
// Japanese marks by a particle.
func endsJapaneseQuestion(line string, at int, r rune) bool {
	return r == '。' && (strings.HasSuffix(line[:at], "ますか") || strings.HasSuffix(line[:at], "ですか") || strings.HasSuffix(line[:at], "でしょうか"))
}

// isItem reports whether a line is an item of a list or in parentheses.
func isItem(line string) bool {
	if strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")") {
		return true
	}
	line = strings.TrimLeft(line, "*_> \t")
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– ", "| "} {
		if strings.HasPrefix(line+" ", bullet) {
			return true
		}
	}
	mark := strings.IndexAny(line, ".):")
	return mark > 0 && mark <= 2 && strings.IndexFunc(line[:mark], func(r rune) bool { return !isWordRune(r) }) < 0
}
