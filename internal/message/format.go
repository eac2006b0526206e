package message

import (
	"fmt"
	"io"
	"reflect"
)

// Lines is an operand of Sprintf that may have several lines: a text of this program, or a
// text that is indented so that none of its lines looks like one. It is also an error with
// that message.
type Lines string

// Error returns the text without escaping it; the function Error escapes it.
func (l Lines) Error() string { return string(l) }

// Sprintf is like fmt.Sprintf but escapes each operand that is printed as text, as Line does.
// The format must be a text of this program; it is not escaped. In an error it keeps the
// line feeds that Error keeps, in Lines all of them.
func Sprintf(format string, operands ...any) string {
	shown := make([]any, len(operands))
	for i, o := range operands {
		shown[i] = shownOperand(o)
	}
	return fmt.Sprintf(format, shown...)
}

// Fprintf writes what Sprintf returns.
func Fprintf(w io.Writer, format string, operands ...any) (int, error) {
	return io.WriteString(w, Sprintf(format, operands...))
}

// shownOperand returns an operand that fmt.Sprintf prints with escapes.
func shownOperand(o any) any {
	switch o := o.(type) {
	case nil, fmt.Formatter:
		return o
	case Lines:
		return operand{string(o), Text(string(o))}
	case error:
		return operand{o.Error(), Error(o)}
	case fmt.Stringer:
		return operand{o.String(), Line(o.String())}
	}
	switch v := reflect.ValueOf(o); v.Kind() {
	case reflect.String:
		return operand{v.String(), Line(v.String())}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return operand{string(v.Bytes()), Line(string(v.Bytes()))}
		}
		all := make([]any, v.Len())
		for i := range all {
			all[i] = shownOperand(v.Index(i).Interface())
		}
		return all
	}
	return o
}

// operand is an operand that is printed as text, without and with escapes.
type operand struct{ text, shown string }

// Format prints the unescaped text for verbs that escape it themselves.
func (o operand) Format(f fmt.State, verb rune) {
	switch verb {
	case 'q', 'x', 'X':
		fmt.Fprintf(f, fmt.FormatString(f, verb), o.text)
	default:
		fmt.Fprintf(f, fmt.FormatString(f, 's'), o.shown)
	}
}
