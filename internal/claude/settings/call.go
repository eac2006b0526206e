package settings

import "strings"

// call is what an entry of the settings makes the client run.
type call struct {
	program string
	args    []string
	shell   bool // the client runs it through a shell
}

// shellCall reads a command line that does nothing but call one program. A line
// with an operator, an expansion in an argument, or any other trick is somebody's
// own work, and ok is false.
func shellCall(line string) (c call, ok bool) {
	if strings.ContainsAny(line, ";&|<>()`\\*?[]#!\n") {
		return call{}, false
	}
	words, ok := split(line)
	if !ok || len(words) == 0 {
		return call{}, false
	}
	for _, arg := range words[1:] {
		if strings.Contains(arg, "$") {
			return call{}, false
		}
	}
	return call{program: words[0], args: words[1:], shell: true}, true
}

// split cuts a line into words at blanks outside quotes and drops the quotes.
// ok is false if a quote is left open.
func split(line string) (words []string, ok bool) {
	var word strings.Builder
	var quote rune
	inWord := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, quote == 0
}
