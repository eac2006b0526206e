package shell

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// hiddenText matches text that shells read differently, so that the client does not look into a
// line that has it.
var hiddenText = expression{text: `[\x00-\x08\x0B-\x1F\x7F]` + // control characters
	`|[\x{00A0}\x{1680}\x{2000}-\x{200B}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]` + // white space that is none to a shell
	`|\\[ \t]` + // white space behind a backslash
	`|(?:^|[^ \t\\])(?:\\\\)*\\\n|[ \t](?:\\\\)+\\\n` + // a line that continues within a word
	`|(?:^|[^\\])(?:\\\\)*\\$` + // a line that continues nowhere
	`|~\[|(?:^|[\s;&|])=[a-zA-Z_]|<\d*-\d*>`, // zsh
}

// quoteInBraces matches a quote behind a brace.
var quoteInBraces = expression{text: `\{[^}]*['"]`}

func hasHiddenText(line string) bool {
	return !utf8.ValidString(line) || hiddenText.in(line) || quoteInBraces.in(withoutQuotedBraces(line))
}

// withoutQuotedBraces replaces braces in quotes by spaces.
func withoutQuotedBraces(line string) string {
	if !strings.Contains(line, "{") {
		return line
	}
	masked := []byte(line)
	quote, comment, start := byte(0), false, true
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case comment:
			comment = c != '\n'
		case quote == 0 && c == '\\', quote == '"' && c == '\\' && i+1 < len(line) && strings.IndexByte("\"\\`", line[i+1]) >= 0:
			i++
			start = false
			continue
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '{' {
				masked[i] = ' '
			}
		case c == '#' && start:
			comment = true
		case c == '\'' || c == '"' || c == '`':
			quote = c
		}
		start = strings.IndexByte(" \t\n;|&()<>", c) >= 0
	}
	return string(masked)
}

// hasGluedComment reports whether a comment begins directly behind a parenthesis.
func hasGluedComment(s Script) bool {
	glued := false
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			at := c.Pos().Offset()
			glued = glued || at > 0 && strings.IndexByte("()", s.line[at-1]) >= 0
		}
		return true
	})
	return glued
}
