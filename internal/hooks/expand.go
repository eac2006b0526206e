package hooks

import "strings"

// Variable is one that a hook finds in its environment and may name in its
// command.
type Variable struct{ Name, Value string }

func (v Variable) String() string { return v.Name + "=" + v.Value }

// expand makes $NAME and ${NAME} safe in a shell command, whatever the value
// holds. Unquoted, the shell would split the value and expand it again, and in
// single quotes it would not see the variable at all; both get the quoted value.
// In double quotes it is left to the shell, which has it in its environment.
// Behind a here-document nothing is touched: quotes mean nothing there.
func expand(command string, vars []Variable) string {
	e := expander{rest: command, vars: vars, quotes: []quoting{plain}}
	for e.rest != "" && !e.verbatim {
		e.step()
	}
	return e.out.String() + e.rest
}

// quoting is how the shell reads what comes next.
type quoting byte

const (
	plain  quoting = 0
	single quoting = '\''
	double quoting = '"'
	tick   quoting = '`'
)

type expander struct {
	out      strings.Builder
	rest     string
	vars     []Variable
	quotes   []quoting // innermost last; $( opens a plain one of its own
	verbatim bool
	inWord   bool // a # here begins no comment
}

func (e *expander) inside() quoting { return e.quotes[len(e.quotes)-1] }

func (e *expander) step() {
	inside := e.inside()
	switch c := e.rest[0]; {
	case inside == single && c != '\'' && c != '$':
		e.take(1)
	case c == '\\' && inside != single:
		e.take(2)
	case c == '$':
		e.dollar()
	case c == '#' && inside == plain && !e.inWord:
		e.comment()
	case inside == plain && strings.HasPrefix(e.rest, "<<<"):
		e.take(3)
	case inside == plain && strings.HasPrefix(e.rest, "<<"):
		e.verbatim = true
	default:
		e.quote(quoting(c))
		e.take(1)
	}
}

// take copies n bytes.
func (e *expander) take(n int) {
	n = min(n, len(e.rest))
	last := e.rest[n-1]
	e.inWord = !strings.ContainsRune(" \t\n;&|()", rune(last))
	e.out.WriteString(e.rest[:n])
	e.rest = e.rest[n:]
}

func (e *expander) comment() {
	end := strings.IndexByte(e.rest, '\n')
	if end < 0 {
		end = len(e.rest)
	}
	e.take(end)
}

// dollar handles a variable, a substitution or a lone dollar sign.
func (e *expander) dollar() {
	for _, v := range e.vars {
		if n := reference(e.rest, v.Name); n > 0 && e.inside() != double {
			e.out.WriteString(e.quoted(v.Value))
			e.rest, e.inWord = e.rest[n:], true
			return
		}
	}
	if e.inside() != single && strings.HasPrefix(e.rest, "$(") {
		e.take(2)
		e.quotes = append(e.quotes, plain)
		return
	}
	e.take(1)
}

// quoted returns value for the place: a word of its own, or the inside of single
// quotes.
func (e *expander) quoted(value string) string {
	escaped := strings.ReplaceAll(value, "'", `'\''`)
	if e.inside() == single {
		return escaped
	}
	return "'" + escaped + "'"
}

// quote follows an opening or closing quote or parenthesis.
func (e *expander) quote(c quoting) {
	inside, nested := e.inside(), len(e.quotes) > 1
	switch {
	case c == ')' && inside == plain && nested, c == inside && nested:
		e.quotes = e.quotes[:len(e.quotes)-1]
	case c == '(' && inside == plain:
		e.quotes = append(e.quotes, plain)
	case c == single && inside != double, c == double, c == tick:
		e.quotes = append(e.quotes, c)
	}
}

// reference returns the length of $name or ${name} at the beginning of s, 0 if
// it is something else.
func reference(s, name string) int {
	if braced := "${" + name + "}"; strings.HasPrefix(s, braced) {
		return len(braced)
	}
	bare := "$" + name
	if !strings.HasPrefix(s, bare) || len(s) > len(bare) && isWordByte(s[len(bare)]) {
		return 0
	}
	return len(bare)
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// substitute puts the values of ${NAME} into an argument that no shell will see.
func substitute(arg string, vars []Variable) string {
	for _, v := range vars {
		arg = strings.ReplaceAll(arg, "${"+v.Name+"}", v.Value)
	}
	return arg
}
