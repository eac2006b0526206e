package hydrate

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Excerpt returns the line of the file at which a problem is, with its number, and below it
// carets under the token there. These are two lines of at most width columns, each with a
// line feed. Excerpt returns "" if the problem's place is not in the file.
func Excerpt(data []byte, p fsmspec.Problem, width int) string {
	at := int(p.Offset)
	if at < 0 || at > len(data) || p.Line < 1 {
		return ""
	}
	begin := bytes.LastIndexByte(data[:at], '\n') + 1
	end := len(data)
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		end = at + i
	}
	gutter := fmt.Sprintf("%5d | ", p.Line)
	room := max(20, width-len(gutter)-1)
	tokenEnd := at + tokenLength(data[at:end])
	before, token, after := shown(data[begin:at]), shown(data[at:tokenEnd]), shown(data[tokenEnd:end])
	// A long line is cut on both sides so that the token stays in view.
	before = terminal.CutLeft(before, room/2)
	token = terminal.Cut(token, max(1, room-terminal.Width(before)))
	after = terminal.Cut(after, max(0, room-terminal.Width(before)-terminal.Width(token)))
	pad := strings.Repeat(" ", len(gutter)-2) + "| " + strings.Repeat(" ", terminal.Width(before))
	return gutter + strings.TrimRight(before+token+after, " ") + "\n" + pad + strings.Repeat("^", max(1, terminal.Width(token))) + "\n"
}

// shown returns a line of the file with tabs as spaces and with escapes.
func shown(text []byte) string {
	return message.Text(strings.ReplaceAll(strings.TrimSuffix(string(text), "\r"), "\t", " "))
}

// tokenLength returns the length in bytes of the JSON token at the beginning of line, up to
// the end of the line. If there is no token, it returns the length of the first character.
func tokenLength(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	if line[0] == '"' {
		for i := 1; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(line)
	}
	if n := bytes.IndexAny(line, " \t\r,:[]{}\""); n > 0 {
		return n
	} else if n < 0 {
		return len(line)
	}
	_, size := utf8.DecodeRune(line)
	return size
}
