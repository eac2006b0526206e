package message

import "strings"

// Error returns the message of an error with harmful characters escaped. It keeps only the
// line feeds of this program: those between joined errors, and those in Lines. So a name in
// the message, such as the path of an *fs.PathError, cannot begin a line.
func Error(err error) string {
	text := err.Error()
	switch e := err.(type) {
	case Lines:
		return Text(text)
	case interface{ Unwrap() []error }:
		return parts(text, e.Unwrap(), between)
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return parts(text, []error{inner}, Line)
		}
	}
	return Line(text)
}

// parts returns the text with each inner error's message escaped by Error, and the rest
// escaped by outside. An inner error whose message the text does not contain is skipped.
func parts(text string, inner []error, outside func(string) string) string {
	var b strings.Builder
	for _, err := range inner {
		if err == nil {
			continue
		}
		message := err.Error()
		before, after, found := strings.Cut(text, message)
		if !found {
			continue
		}
		b.WriteString(outside(before) + Error(err))
		text = after
	}
	return b.String() + outside(text)
}

// between escapes the text between two inner errors. The line feed between two joined errors
// is kept.
func between(text string) string {
	if text == "\n" {
		return text
	}
	return Line(text)
}
