package main

import (
	"fmt"
	"strings"
)

// mutations has the operators that each type of mutation replaces, and by what. The types
// are those that the mutation tester gremlins applies by default.
// Longer tokens come first: "<=" begins with "<".
var mutations = map[string][][2]string{
	"ARITHMETIC_BASE":       {{"+", "-"}, {"-", "+"}, {"*", "/"}, {"/", "*"}, {"%", "*"}},
	"CONDITIONALS_BOUNDARY": {{"<=", "<"}, {">=", ">"}, {"<", "<="}, {">", ">="}},
	"CONDITIONALS_NEGATION": {{"==", "!="}, {"!=", "=="}, {"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="}},
	"INCREMENT_DECREMENT":   {{"++", "--"}, {"--", "++"}},
	"INVERT_NEGATIVES":      {{"-", "+"}},
}

// apply returns source with the mutation.
func (m mutant) apply(source string) (string, error) {
	at := 0
	for range m.Line - 1 {
		at += strings.Index(source[at:], "\n") + 1
	}
	at += m.Column - 1
	if at > len(source) {
		return "", fmt.Errorf("%s has no column %d in line %d", m.file, m.Column, m.Line)
	}
	for _, change := range mutations[m.Type] {
		if rest, ok := strings.CutPrefix(source[at:], change[0]); ok {
			return source[:at] + change[1] + rest, nil
		}
	}
	return "", fmt.Errorf("%s:%d:%d: cannot apply %s to %q", m.file, m.Line, m.Column, m.Type, m.text)
}
