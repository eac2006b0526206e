package visible

import "strings"

// Error returns the message of an error, in which only those line feeds are left that
// the program put there: between the errors that an error joins, and in Lines. A name in a message, such
// as the path of an *fs.PathError, cannot begin a line.
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

// parts returns the text, in which each of the errors has its own message, and the rest
// is made visible by outside. An error whose message is not there is part of the rest.
func parts(text string, inner []error, outside func(string) string) string {
	var b strings.Builder
	for _, err := range inner {
		if err == nil {
			continue
		}
		own := err.Error()
		before, after, found := strings.Cut(text, own)
		if !found || own == "" {
			continue
		}
		b.WriteString(outside(before) + Error(err))
		text = after
	}
	return b.String() + outside(text)
}

// between keeps a line feed that is all there is between two joined errors.
func between(text string) string {
	if text == "\n" {
		return text
	}
	return Line(text)
}
