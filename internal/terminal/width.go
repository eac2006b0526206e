package terminal

import (
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// defaultColumns is the width of the output if it is not a terminal.
const defaultColumns = 80

// Columns returns the width of w: that of the terminal, or else the value of COLUMNS, or
// else 80.
func (s Streams) Columns(w io.Writer) int {
	if f, ok := File(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	if columns, err := strconv.Atoi(s.Env("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return defaultColumns
}

// Limit returns the number of columns to which lines for w are cut: all if it is not a terminal and COLUMNS is not set.
func (s Streams) Limit(w io.Writer) int {
	if !IsTerminal(w) && s.Env("COLUMNS") == "" {
		return math.MaxInt
	}
	return s.Columns(w)
}

// Width returns the number of columns that text takes in a terminal.
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

// Cut shortens text to at most columns columns. "…" marks the place where the end was cut
// off.
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

// CutLeft is like Cut, but cuts off the beginning.
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

// Wrap breaks text between words into lines of at most columns columns. A longer word is
// put on a line of its own.
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
