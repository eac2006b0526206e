package shell

import (
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// context is the context of a node of a script.
type context struct {
	quoted     bool // in double quotes or a here-document
	arithmetic bool
	backquotes int // number of pairs of backquotes around the node
}

// walk calls visit for each node with its context.
func (s Script) walk(visit func(n syntax.Node, in context)) {
	if s.file == nil {
		return
	}
	contexts := []context{{}}
	hereDocuments := map[*syntax.Word]bool{}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if n == nil { // the end of a node's children
			contexts = contexts[:len(contexts)-1]
			return true
		}
		in := contexts[len(contexts)-1]
		visit(n, in)
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
			hereDocuments[r.Hdoc] = true
		}
		contexts = append(contexts, inside(n, in, hereDocuments))
		return true
	})
}

// inside returns the context of the children of n, which is itself in the given context.
func inside(n syntax.Node, in context, hereDocuments map[*syntax.Word]bool) context {
	switch n := n.(type) {
	case *syntax.CmdSubst:
		depth := in.backquotes
		if n.Backquotes {
			depth++
		}
		return context{backquotes: depth}
	case *syntax.ProcSubst, *syntax.Stmt:
		return context{backquotes: in.backquotes}
	case *syntax.DblQuoted:
		in.quoted = true
	case *syntax.Word:
		in.quoted = in.quoted || hereDocuments[n]
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		in.arithmetic = true
	}
	return in
}

// Needs returns the variables that a script takes from its environment: those that it neither sets nor tests, and for which it
// has no other text. It returns none for a script that may get them from elsewhere.
func (s Script) Needs() (names []string) {
	l := &looker{Reading: &Reading{}, script: s, sets: map[string]bool{}}
	if s.file != nil {
		l.learn()
	}
	tested := func(n syntax.Node, _ context) {
		switch n := n.(type) {
		case *syntax.TestClause:
			l.give(n)
		case *syntax.CallExpr:
			if len(n.Args) > 0 && slices.Contains([]string{"[", "test", "eval", ".", "source"}, n.Args[0].Lit()) {
				l.give(n)
				l.sets["*"] = l.sets["*"] || n.Args[0].Lit() != "[" && n.Args[0].Lit() != "test"
			}
		case *syntax.ParamExp:
			if n.Param != nil && !isPlainParam(n) {
				l.sets[n.Param.Value] = true
			}
		}
	}
	s.walk(tested)
	s.walk(func(n syntax.Node, _ context) {
		p, ok := n.(*syntax.ParamExp)
		if !ok || l.sets["*"] || !isPlainParam(p) || strings.Trim(nameAt(p.Param.Value), "0123456789") == "" {
			return
		}
		if name := p.Param.Value; !l.sets[name] && !slices.Contains(names, name) && !slices.Contains(ofShells(), name) {
			names = append(names, name)
		}
	})
	return names
}

// give takes the variables in a node for given.
func (l *looker) give(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
			l.sets[p.Param.Value] = true
		}
		return true
	})
}

// ofShells returns the variables that shells set themselves.
func ofShells() []string {
	return strings.Fields("PWD OLDPWD PPID IFS RANDOM SECONDS LINENO UID EUID BASHPID OPTARG OPTIND REPLY HOSTNAME OSTYPE SHLVL")
}

// Expand replaces variables by their values where the shell would not insert the value
// from its environment unchanged: outside quotes, where it would split and expand the
// value, and in single quotes, where it expands no variables. The inserted value is
// quoted. Other variables are left to the shell, and so is a line that does not parse.
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

// expansion is the state of Expand.
type expansion struct {
	line   string
	lookup func(string) (string, bool)
	out    strings.Builder
	done   int // how many bytes of line are processed
}

func (e *expansion) visit(n syntax.Node, in context) {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		if !n.Dollar {
			e.singleQuoted(int(n.Left.Offset())+1, int(n.Right.Offset()), in)
		}
	case *syntax.ParamExp:
		if in.quoted || in.arithmetic || n.Param == nil {
			return
		}
		from, to := int(n.Pos().Offset()), int(n.End().Offset())
		value, known := e.lookup(n.Param.Value)
		if length := reference(e.line[from:], n.Param.Value); known && length == to-from {
			e.replace(from, to, "'"+escapeQuotes(value)+"'", in)
		}
	}
}

// singleQuoted replaces the variables in line[from:to], the text in single quotes.
func (e *expansion) singleQuoted(from, to int, in context) {
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
		e.replace(i, i+length, escapeQuotes(value), in)
		i += length - 1
	}
}

// replace writes text for line[from:to]. Between backquotes the shell removes one
// level of backslashes before it parses.
func (e *expansion) replace(from, to int, text string, in context) {
	if from < e.done {
		return
	}
	for range in.backquotes {
		text = strings.NewReplacer(`\`, `\\`, "`", "\\`", `$`, `\$`).Replace(text)
	}
	e.out.WriteString(e.line[e.done:from])
	e.out.WriteString(text)
	e.done = to
}

// Quote quotes a text as one word for a shell.
func Quote(text string) string {
	if runtime.GOOS == "windows" && strings.Contains(text, "'") && !strings.ContainsAny(text, "\"$`!\n") &&
		!strings.Contains(text, `\\`) && !strings.HasSuffix(text, `\`) {
		return `"` + text + `"` // which PowerShell reads as sh does
	}
	return "'" + escapeQuotes(text) + "'"
}

// escapeQuotes escapes a value for use between single quotes.
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
