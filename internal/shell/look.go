package shell

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Reading is what the text of a command line tells about what it runs.
type Reading struct {
	// Commands are the simple commands of the line, wherever they stand, each as its words without quotes. Unknown stands for
	// text that is known only when the command runs.
	Commands [][]string
	// Plain is whether the line is a list of commands with words of which everything is known, and with simple redirections.
	Plain bool

	calls    []call
	texts    []string // words and texts of the line that something in it may run
	values   []string // what the line gives to its variables
	uses     bool     // something that may run it uses them
	computed bool     // the line runs a text that it computes
	err      error
}

// call is a simple command. Behind its own words are the values that it is given in its environment. It is harmless if its program
// runs none of them.
type call struct {
	words    []string
	own      int
	harmless bool
}

const (
	// Unknown stands for text that is known only when a command runs.
	Unknown = "\uFFFC"
	// made stands for such a text that the line itself makes, while Look reads it.
	made = "\uFFFB"
)

// maxHanded is how often a line may be handed on to another shell.
const maxHanded = 5

// maxNested is how deep substitutions and groups may be nested: the time grows with the cube of that.
const maxNested = 20

// Look reads a line. It knows a few programs that run none of their words; what any other one runs it does not try to find out,
// so that MayRun is the last word on it. An error wraps errSyntax: a part of the line cannot be parsed.
func Look(line string) (Reading, error) {
	r := Reading{Plain: true}
	r.line(line, 0)
	for _, c := range r.calls {
		var words []string
		for _, word := range c.words[:c.own] {
			words = append(words, strings.ReplaceAll(word, made, Unknown))
			r.Plain = r.Plain && literal(word) == word
		}
		r.Commands = append(r.Commands, words)
	}
	_, err := parse(line, syntax.LangBash)
	r.Plain = r.Plain && err == nil && len(line) < 10_000 && !strings.ContainsFunc(line, isHidden) && !strings.Contains(line, "\\\n")
	return r, r.err
}

// line adds a line. depth is how often it was handed on.
func (r *Reading) line(line string, depth int) {
	s, err := parseAny(line)
	if err == nil && (depth > maxHanded || nesting(s.file) > maxNested) {
		err = errSyntax
	}
	if err != nil {
		r.err = errors.Join(r.err, err)
		r.texts = append(r.texts, line)
		return
	}
	l := &looker{Reading: r, script: s, depth: depth, sets: map[string]bool{}}
	l.learn()
	l.walk()
}

// nesting returns how deep substitutions and groups are nested.
func nesting(file *syntax.File) (deepest int) {
	depth := 0
	var closes []int // for each node that is being walked, how much its end takes off depth
	syntax.Walk(file, func(n syntax.Node) bool {
		opens := 0
		switch n.(type) {
		case nil:
			depth -= closes[len(closes)-1]
			closes = closes[:len(closes)-1]
			return true
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.Block, *syntax.Subshell:
			opens = 1
		}
		closes = append(closes, opens)
		depth += opens
		deepest = max(deepest, depth)
		return true
	})
	return deepest
}

// parseAny parses a line as any of the shells that the client may use.
func parseAny(line string) (Script, error) {
	s, err := Parse(line)
	if err != nil && len(line) <= maxLine {
		if zsh, other := parse(line, syntax.LangZsh); other == nil {
			return zsh, nil
		}
	}
	return s, err
}

// looker reads one line.
type looker struct {
	*Reading
	script Script
	depth  int
	sets   map[string]bool // the variables that the line sets; * for the arguments
	risky  bool            // a command of the line may run a text: then every text of the line may be that
	reads  bool            // one runs what it reads
}

// learn finds whether the line may run a text, and which variables it makes.
func (l *looker) learn() {
	l.sets["*"] = l.depth > 0
	syntax.Walk(l.script.file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			l.sets["*"] = true
			l.sets[funcName(n)+"()"] = true
		case *syntax.Assign:
			if n.Name != nil {
				l.sets[n.Name.Value] = true
			}
		case *syntax.WordIter:
			l.sets[n.Name.Value] = true
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				l.sets[n.Param.Value] = true
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				l.learnCall(l.words(n.Args))
			}
		}
		return true
	})
}

func (l *looker) learnCall(words []string) {
	switch path.Base(words[0]) {
	case "read", "printf", "mapfile", "readarray", "getopts", "declare":
		for _, word := range words[1:] {
			l.sets[word] = true
		}
	case "set":
		l.sets["*"] = true
	case "alias":
		l.sets["an alias"] = true
	}
	l.risky = l.risky || !l.isHarmless(words)
	at := slices.IndexFunc(words, isShell)
	if slices.Contains([]string{"source", "."}, path.Base(words[0])) {
		at = 0
	}
	if at >= 0 {
		code, file := codeOf(words[at:])
		l.reads = l.reads || code == "" && !file
	}
}

func funcName(f *syntax.FuncDecl) string {
	if f.Name == nil {
		return ""
	}
	return f.Name.Value
}

func isShell(word string) bool { return slices.Contains(shells(), path.Base(word)) }

func (l *looker) isHarmless(words []string) bool {
	name := words[0]
	if l.sets["an alias"] || l.sets[name+"()"] || slices.ContainsFunc(words, namesProgram) {
		return false
	}
	if name == "git" || name == "gh" {
		at := subcommand(words)
		return at < len(words) && slices.Contains(harmlessIn(name), words[at]) && !slices.ContainsFunc(words[:at], hasBlank)
	}
	switch name {
	case "sed": // it can run a command, but not to print lines by their numbers
		return slices.ContainsFunc(words[1:], func(word string) bool { return numbers.Regexp().MatchString(word) })
	case "awk":
		return false
	}
	return slices.Contains(writers(), name) || slices.Contains(readers(), name)
}

// numbers matches a command of sed that prints or deletes lines by their numbers.
var numbers = pattern.New(`^[0-9,$]+[pd]$`)

// namesProgram reports whether a word is an option of rg, git grep or git whose value is a program.
func namesProgram(word string) bool {
	return strings.HasPrefix(word, "--pre") || strings.HasPrefix(word, "-O") || strings.HasPrefix(word, "--open-files") ||
		strings.HasPrefix(word, "alias.")
}

func hasBlank(word string) bool { return strings.Contains(word, " ") }

// subcommand returns the index of the word behind the options of git.
func subcommand(words []string) int {
	at := 1
	for ; at < len(words) && strings.HasPrefix(words[at], "-"); at++ {
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"}, words[at]) {
			at++ // its value
		}
	}
	return at
}

// codeOf returns the line in the words of a shell, and whether it runs a file instead.
func codeOf(words []string) (code string, file bool) {
	hasCode, values := false, 0
	for _, word := range words[1:] {
		switch {
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			isShort := word[1] != '-'
			hasCode = hasCode || isShort && strings.Contains(word, "c")
			if isShort && strings.ContainsAny(word, "oO") {
				values = 1
			}
		case values > 0:
			values--
		case hasCode:
			return word, false
		default:
			return "", !strings.HasPrefix(word, "/dev/") && !strings.HasPrefix(word, Unknown)
		}
	}
	return "", false
}

// walk adds the commands of the line, and the texts that may be run.
func (l *looker) walk() {
	syntax.Walk(l.script.file, func(n syntax.Node) bool {
		if n == nil {
			return true
		}
		l.Plain = l.Plain && isPlainNode(n)
		switch n := n.(type) {
		case *syntax.Redirect:
			l.redirection(n)
		case *syntax.DeclClause:
			for _, a := range n.Args {
				if a.Value != nil && n.Variant.Value == "export" {
					l.texts = append(l.texts, l.shown(a.Value))
				}
			}
		case *syntax.Assign:
			if n.Value != nil {
				l.values = append(l.values, l.shown(n.Value))
			}
		case *syntax.WordIter:
			l.values = append(l.values, l.words(n.Items)...)
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				l.call(n)
			}
		}
		return true
	})
}

// redirection adds the text that a command reads.
func (l *looker) redirection(r *syntax.Redirect) {
	text := ""
	switch {
	case r.Hdoc != nil:
		text = l.shown(r.Hdoc)
		if lit, ok := onlyPart(r.Hdoc).(*syntax.Lit); ok {
			text = lit.Value
		}
	case r.Op == syntax.WordHdoc && r.Word != nil:
		text = l.shown(r.Word)
	}
	switch {
	case text == "":
	case l.reads:
		l.Reading.line(text, l.depth+1)
	case l.risky:
		l.texts = append(l.texts, text)
	}
}

// call adds a simple command.
func (l *looker) call(c *syntax.CallExpr) {
	words := l.words(c.Args)
	name := path.Base(words[0])
	harmless := l.isHarmless(words)
	if name == "git" && strings.Contains(strings.Join(words[1:min(subcommand(words), len(words))], " "), "-c alias.") {
		l.computed = true
	}
	l.calls = append(l.calls, call{words, len(words), harmless})
	for _, a := range c.Assigns {
		if a.Value != nil {
			l.texts = append(l.texts, l.shown(a.Value))
			words = append(words, l.shown(a.Value))
		}
	}
	switch {
	case !harmless:
		l.calls[len(l.calls)-1].words = words
		l.mayRun(c, words)
	case slices.Contains(writers(), name):
		l.computed = l.computed || l.reads
		if l.risky {
			l.add(words[1:])
		}
	}
}

// mayRun adds a command that may run its words.
func (l *looker) mayRun(c *syntax.CallExpr, words []string) {
	program := words[0]
	if strings.Contains(program, made) {
		l.computed = true
	}
	if strings.Contains(program, Unknown) || strings.Trim(program, "=") != program {
		l.texts = append(l.texts, program, l.script.line[c.Args[0].Pos().Offset():c.Args[0].End().Offset()])
	}
	l.add(words[1:])
	name := path.Base(program)
	switch {
	case name == "eval":
		l.Reading.line(strings.TrimPrefix(strings.Join(words[1:], " "), "-- "), l.depth+1)
	case slices.Contains(runners(), name):
		at := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") })
		l.computed = l.computed || at >= 0 && words[at+1] == made
	case slices.Contains(interpreters(), name): // what is put together there
		joints := strings.NewReplacer("'+'", "", `"+"`, "", "' + '", "", `" + "`, "", "'.'", "", `"."`, "")
		l.texts = append(l.texts, joints.Replace(strings.Join(words, " ")))
	}
	if i := slices.IndexFunc(words, isShell); i >= 0 {
		if code, _ := codeOf(words[i:]); code != "" {
			l.Reading.line(code, l.depth+1)
		}
	}
}

// add adds words that may be run.
func (l *looker) add(words []string) {
	for _, word := range words {
		l.uses = l.uses || strings.Contains(word, made)
		l.texts = append(l.texts, word)
		if len(word) > 2 && word[0] == '-' {
			l.texts = append(l.texts, word[2:]) // the value of an option, as in -c'a b'
		}
	}
}

// words returns the words of a command.
func (l *looker) words(args []*syntax.Word) (words []string) {
	for _, arg := range args {
		words = append(words, l.shown(arg))
	}
	return words
}

// shown returns the text of a word, with Unknown or made for what is not known.
func (l *looker) shown(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		l.showPart(&b, part)
	}
	return b.String()
}

func (l *looker) showPart(b *strings.Builder, part syntax.WordPart) {
	switch part := part.(type) {
	case *syntax.Lit:
		b.WriteString(withoutPatterns(part.Value))
	case *syntax.SglQuoted:
		if part.Dollar {
			b.WriteString(made)
			return
		}
		b.WriteString(part.Value)
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				continue
			}
			l.showPart(b, inner)
		}
	case *syntax.CmdSubst:
		b.WriteString(l.printed(part))
	case *syntax.ParamExp:
		b.WriteString(l.value(part))
	default:
		b.WriteString(Unknown)
	}
}

// withoutPatterns returns a literal outside quotes, with Unknown for what a shell may replace by the names of files, or for a list
// in braces.
func withoutPatterns(lit string) string {
	if open, end := strings.Index(lit, "{"), strings.LastIndex(lit, "}"); open >= 0 && end > open && strings.ContainsAny(lit[open:end], ",.") {
		lit = lit[:open] + Unknown + lit[end+1:]
	}
	var b strings.Builder
	escaped := false
	for _, c := range lit {
		if !escaped && strings.ContainsRune("*?[]", c) && lit != "[" && lit != "]" {
			b.WriteString(Unknown)
			continue
		}
		escaped = c == '\\' && !escaped
		b.WriteRune(c)
	}
	return unescaped(b.String(), "")
}

// printed returns made for a substitution with a program that writes texts which it is given, else Unknown.
func (l *looker) printed(s *syntax.CmdSubst) string {
	text := Unknown
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && slices.Contains(writers(), path.Base(c.Args[0].Lit())) {
			text = made
		}
		return true
	})
	return text
}

// value returns the default of a variable that the line does not set, else made or Unknown.
func (l *looker) value(p *syntax.ParamExp) string {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	isArgument := name == "@" || name == "*" || name != "" && strings.Trim(name, "0123456789") == ""
	switch {
	case l.sets[name] || isArgument && l.sets["*"]:
		return made
	case isPlainParam(p):
		return Unknown
	case p.Exp != nil && p.Exp.Word != nil && (p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull):
		return l.shown(p.Exp.Word)
	}
	return made
}

// onlyPart returns the part of a word that has only one, nil for other words.
func onlyPart(w *syntax.Word) syntax.WordPart {
	if w == nil || len(w.Parts) != 1 {
		return nil
	}
	return w.Parts[0]
}
