package diagnostic

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// Excerpt returns the line of the file that a problem is about, with its number, and
// below it carets under the token at that place: two lines of at most width columns,
// each ended by a line feed. It is empty if the place is not in the file.
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
	before, token, after := shown(data[begin:at]), shown(data[at:at+tokenLength(data[at:end])]), ""
	after = shown(data[at+tokenLength(data[at:end]) : end])
	// A long line is cut on both sides so that the token stays in view.
	before = terminal.CutLeft(before, room/2)
	token = terminal.Cut(token, max(1, room-terminal.Width(before)))
	after = terminal.Cut(after, max(0, room-terminal.Width(before)-terminal.Width(token)))
	pad := strings.Repeat(" ", len(gutter)-2) + "| " + strings.Repeat(" ", terminal.Width(before))
	return gutter + strings.TrimRight(before+token+after, " ") + "\n" + pad + strings.Repeat("^", max(1, terminal.Width(token))) + "\n"
}

// shown returns text on one line, as a terminal can show it.
func shown(text []byte) string {
	return visible.Text(strings.ReplaceAll(strings.TrimSuffix(string(text), "\r"), "\t", " "))
}

// tokenLength returns the length in bytes of the JSON token that line begins with, as
// far as it is on the line. It is the length of a character if that begins no token.
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
