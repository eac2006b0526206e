package terminal

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// defaultColumns is the width of the output if it is not a terminal.
const defaultColumns = 80

// Columns returns the width of w: that of the terminal, else the variable COLUMNS, else
// 80.
func (s Streams) Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	if columns, err := strconv.Atoi(s.Env("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return defaultColumns
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool { return isTerminal(w) }

// Width returns how many columns a terminal shows text in.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut returns text in at most columns columns, with "…" in place of what is cut off at
// its end.
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	n := 0
	for i, r := range text {
		if n += runeWidth(r); n > columns-1 {
			return strings.TrimRight(text[:i], " ") + strings.Repeat("…", min(1, columns))
		}
	}
	return text
}

// CutLeft is Cut at the beginning of text.
func CutLeft(text string, columns int) string {
	excess := Width(text) - columns
	if excess <= 0 {
		return text
	}
	for i, r := range text {
		if excess < 0 {
			return strings.Repeat("…", min(1, columns)) + text[i:]
		}
		excess -= runeWidth(r)
	}
	return strings.Repeat("…", min(1, columns))
}

// Wrap breaks text between words into lines of at most columns columns. A longer word
// has a line of its own.
func Wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
