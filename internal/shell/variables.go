package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// place is how the shell reads a piece of a script.
type place struct {
	quoted     bool // in double quotes or a here-document
	single     bool // in a word that is not split: an assignment, case or [[ ]]
	arithmetic bool
	backquotes int // how many pairs of backquotes surround it
}

// walk calls visit for each node with its place.
func (s Script) walk(visit func(n syntax.Node, at place)) {
	if s.file == nil {
		return
	}
	places := []place{{}}
	hereDocuments := map[*syntax.Word]bool{}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if n == nil {
			places = places[:len(places)-1]
			return true
		}
		at := places[len(places)-1]
		visit(n, at)
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
			hereDocuments[r.Hdoc] = true
		}
		places = append(places, inside(n, at, hereDocuments))
		return true
	})
}

// inside returns the place of the children of a node.
func inside(n syntax.Node, at place, hereDocuments map[*syntax.Word]bool) place {
	switch n := n.(type) {
	case *syntax.CmdSubst:
		depth := at.backquotes
		if n.Backquotes {
			depth++
		}
		return place{backquotes: depth}
	case *syntax.ProcSubst, *syntax.Stmt:
		return place{backquotes: at.backquotes}
	case *syntax.DblQuoted:
		at.quoted = true
	case *syntax.Word:
		at.quoted = at.quoted || hereDocuments[n]
	case *syntax.Assign, *syntax.CaseClause, *syntax.TestClause:
		at.single = true
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		at.arithmetic = true
	}
	return at
}

// Unquoted returns the names of the variables whose values the shell would split
// into words, each once, in the order of the line.
func (s Script) Unquoted() []string {
	var names []string
	s.walk(func(n syntax.Node, at place) {
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil || p.Length || at.quoted || at.single || at.arithmetic {
			return
		}
		if !slices.Contains(names, p.Param.Value) {
			names = append(names, p.Param.Value)
		}
	})
	return names
}

// Expand puts the values of variables into a command line where the shell would
// not take them from its environment as they are: unquoted, where it would split
// the value and expand it again, and in single quotes, where it sees no variable.
// Both get the value quoted. Everywhere else, and in a line that does not parse, a
// variable is left to the shell.
func Expand(line string, lookup func(name string) (value string, known bool)) string {
	if !strings.Contains(line, "$") {
		return line
	}
	s, err := Parse(line)
	if err != nil {
		return line
	}
	e := expansion{line: line, lookup: lookup}
	s.walk(e.visit)
	return e.out.String() + line[e.done:]
}

// expansion is the work of Expand.
type expansion struct {
	line   string
	lookup func(string) (string, bool)
	out    strings.Builder
	done   int // the bytes of line that are written to out or replaced
}

func (e *expansion) visit(n syntax.Node, at place) {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		if !n.Dollar {
			e.singleQuoted(int(n.Left.Offset())+1, int(n.Right.Offset()), at)
		}
	case *syntax.ParamExp:
		if at.quoted || at.arithmetic || n.Param == nil {
			return
		}
		from, to := int(n.Pos().Offset()), int(n.End().Offset())
		value, known := e.lookup(n.Param.Value)
		if length := reference(e.line[from:], n.Param.Value); known && length == to-from {
			e.replace(from, to, "'"+escapeQuotes(value)+"'", at)
		}
	}
}

// singleQuoted replaces the references in the text of single quotes.
func (e *expansion) singleQuoted(from, to int, at place) {
	for i := from; i < to; i++ {
		if e.line[i] != '$' {
			continue
		}
		name := nameAt(e.line[i+1 : to])
		value, known := e.lookup(name)
		length := reference(e.line[i:to], name)
		if !known || length == 0 {
			continue
		}
		e.replace(i, i+length, escapeQuotes(value), at)
		i += length - 1
	}
}

// replace writes text for line[from:to]. Between backquotes the shell removes one
// level of backslashes before it parses.
func (e *expansion) replace(from, to int, text string, at place) {
	if from < e.done {
		return
	}
	for range at.backquotes {
		text = strings.NewReplacer(`\`, `\\`, "`", "\\`", `$`, `\$`).Replace(text)
	}
	e.out.WriteString(e.line[e.done:from])
	e.out.WriteString(text)
	e.done = to
}

// Quote returns a text as one word of a shell.
func Quote(text string) string { return "'" + escapeQuotes(text) + "'" }

// escapeQuotes makes a value fit between single quotes.
func escapeQuotes(value string) string { return strings.ReplaceAll(value, "'", `'\''`) }

// nameAt returns the name of a variable at the beginning of s, in braces or not.
func nameAt(s string) string {
	s = strings.TrimPrefix(s, "{")
	end := strings.IndexFunc(s, func(c rune) bool { return !isNameRune(c) })
	if end < 0 {
		end = len(s)
	}
	return s[:end]
}

// reference returns the length of $name or ${name} at the beginning of s, 0 if s
// begins with something else.
func reference(s, name string) int {
	if name == "" {
		return 0
	}
	if braced := "${" + name + "}"; strings.HasPrefix(s, braced) {
		return len(braced)
	}
	if bare := "$" + name; strings.HasPrefix(s, bare) && nameAt(s[1:]) == name {
		return len(bare)
	}
	return 0
}

func isNameRune(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
