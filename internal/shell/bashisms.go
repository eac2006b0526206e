package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bashisms returns the constructs of a line on which dash fails, the /bin/sh of Debian and
// Ubuntu, although bash runs them: each once, in the order of the line, as a person writes it. A
// test compares them with dash.
func Bashisms(line string) []string {
	s, err := parse(line, syntax.LangBash)
	if err != nil {
		return nil
	}
	var b bashisms
	syntax.Walk(s.file, func(n syntax.Node) bool {
		b.visit(n)
		return true
	})
	return b.found
}

type bashisms struct {
	found  []string
	silent syntax.Command // of a statement that hides its errors, whose author knows that it may fail
}

func (b *bashisms) add(when bool, what string) {
	if when && !slices.Contains(b.found, what) {
		b.found = append(b.found, what)
	}
}

func (b *bashisms) visit(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Stmt:
		if slices.ContainsFunc(n.Redirs, hidesErrors) {
			b.silent = n.Cmd
		}
	case *syntax.TestClause:
		b.add(true, "[[ ]]")
	case *syntax.ArithmCmd:
		b.add(true, "(( ))")
	case *syntax.LetClause:
		b.add(true, "let")
	case *syntax.DeclClause:
		b.add(n.Variant.Value == "declare" || n.Variant.Value == "typeset", n.Variant.Value)
		b.add(n.Variant.Value == "export" && len(n.Args) > 0 && n.Args[0].Naked && n.Args[0].Value != nil &&
			n.Args[0].Value.Lit() == "-f", "export -f")
	case *syntax.ArrayExpr:
		b.add(true, "an array")
	case *syntax.Assign:
		b.add(n.Index != nil, "an array")
		b.add(n.Append && n.Array == nil && n.Index == nil, "+=")
	case *syntax.ProcSubst:
		b.add(true, n.Op.String()+" )")
	case *syntax.SglQuoted:
		b.add(n.Dollar, "$' '")
	case *syntax.DblQuoted:
		b.add(n.Dollar, `$" "`)
	case *syntax.ParamExp:
		b.expansion(n)
	case *syntax.FuncDecl:
		b.add(n.RsrvWord, "function")
	case *syntax.BinaryCmd:
		b.add(n.Op == syntax.PipeAll, "|&")
	case *syntax.ForClause:
		_, isList := n.Loop.(*syntax.WordIter)
		b.add(n.Select, "select")
		b.add(!isList, "for (( ))")
	case *syntax.CaseItem:
		b.add(n.Op == syntax.Fallthrough || n.Op == syntax.Resume, n.Op.String())
	case *syntax.ExtGlob:
		b.add(true, n.Op.String()+" )")
	case *syntax.CoprocClause:
		b.add(true, "coproc")
	case *syntax.Redirect:
		b.redirection(n)
	case *syntax.CallExpr:
		b.call(n)
	}
}

func (b *bashisms) expansion(p *syntax.ParamExp) {
	switch {
	case p.Index != nil:
		b.add(true, "an array")
	case p.Repl != nil:
		b.add(true, "${x/a/b}")
	case p.Slice != nil:
		b.add(true, "${x:0:1}")
	case p.Excl:
		b.add(true, "${!x}")
	case p.Exp != nil:
		b.add(slices.Contains([]syntax.ParExpOperator{syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll,
			syntax.OtherParamOps}, p.Exp.Op), "${x"+p.Exp.Op.String()+"}")
	}
}

// hidesErrors reports whether a redirection is 2>/dev/null.
func hidesErrors(r *syntax.Redirect) bool {
	return r.Op == syntax.RdrOut && r.N != nil && r.N.Value == "2" && r.Word.Lit() == "/dev/null"
}

// descriptor matches the target of >& that is not a file.
var descriptor = expression{text: `^(?:[0-9]|-)$`}

func (b *bashisms) redirection(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrAll, syntax.AppAll, syntax.WordHdoc:
		b.add(true, r.Op.String())
	case syntax.DplOut:
		target, known := Word{r.Word}.Literal()
		b.add(known && !descriptor.in(target), ">& file")
	}
	b.add(r.N != nil && strings.HasPrefix(r.N.Value, "{"), "{x}>")
}

func (b *bashisms) call(call *syntax.CallExpr) {
	var words []string
	for _, word := range wordsOf(call.Args) {
		text, known := word.Literal()
		if !known {
			text = word.word.Lit() // [ is a pattern too
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		return
	}
	first := ""
	if len(words) > 1 {
		first = words[1]
	}
	switch name := words[0]; name {
	case "shopt": // alone it only sets an option
		b.add(b.silent != syntax.Command(call), name)
	case "source", "pushd", "popd", "mapfile", "readarray":
		b.add(true, name)
	case "[", "test":
		b.add(slices.Contains(words, "=="), "== in "+name)
	case "echo":
		b.add(regexp.MustCompile(`^-n?e`).MatchString(first), "echo "+first)
	case "read":
		b.options(words, "aNndtsu")
	case "printf":
		b.add(first == "-v", "printf -v")
	case "set":
		b.add(slices.Contains(words, "pipefail"), "pipefail")
	case "trap":
		b.add(slices.Contains(words, "ERR") || slices.Contains(words, "DEBUG") || slices.Contains(words, "RETURN"), "trap … "+words[len(words)-1])
	case "wait":
		b.options(words, "n")
	}
}

// options adds the options of a command that are among the letters.
func (b *bashisms) options(words []string, letters string) {
	for _, word := range words[1:] {
		if len(word) < 2 || word[0] != '-' {
			return
		}
		if at := strings.IndexAny(word[1:], letters); at >= 0 {
			b.add(true, words[0]+" -"+word[at+1:at+2])
		}
	}
}
