package visible

import (
	"fmt"
	"io"
	"reflect"
)

// Lines is an operand of Sprintf that may have several lines: a text of this program's
// own, or one that is indented so that none of its lines can be taken for such a text.
// It is also an error with such a message.
type Lines string

// Error returns the text as it is; the function Error makes it visible.
func (l Lines) Error() string { return string(l) }

// Sprintf formats as fmt.Sprintf does. The format is the program's own, the operands are
// not: those that are printed as text are made visible, each on one line. Of an error the
// line feeds of Error stay, of Lines all.
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

// operand is a text that is printed.
type operand struct{ text, shown string }

// Format prints a quoted text as the quoting makes it visible.
func (o operand) Format(f fmt.State, verb rune) {
	switch verb {
	case 'q', 'x', 'X':
		fmt.Fprintf(f, fmt.FormatString(f, verb), o.text)
	default:
		fmt.Fprintf(f, fmt.FormatString(f, 's'), o.shown)
	}
}
