package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// View is what a permission rule of Claude Code, such as Bash(git push *), sees of a command
// line. It was measured with Claude Code 2.1.329 (facts 140 and 141), which does not look into every
// construct of the shell. Where Sight is less than SeesWords, a rule that cannot be tested has
// to be taken for a match, as the client takes it.
type View struct {
	// Commands are the simple commands of the line, also those in lists, pipelines, subshells,
	// loops, conditions and substitutions. Each is the words of one command without quotes,
	// joined by spaces, without assignments before it, redirections and comments. Unknown stands
	// for text that is known only when the command runs.
	Commands []string
	Sight    Sight
}

// Unknown stands in a command of a View for text that is known only when the command runs.
const Unknown = "\uFFFC"

// Sight is how much of a command line a permission rule can be tested on.
type Sight int

const (
	// SeesNothing: the line has something that is not looked into.
	SeesNothing Sight = iota
	// SeesPrograms: the names of all programs are known, but not all arguments. Only a rule
	// that consists of the name of a program and * can be tested.
	SeesPrograms
	// SeesWords: any rule can be tested.
	SeesWords
)

// maxView is the length in bytes of the longest line that the client looks into.
const maxView = 10000

// Look returns what a permission rule sees of a command line. home is the value of HOME.
func Look(line, home string) View {
	view, _ := look(line, home)
	return view
}

// look returns also the words of the commands, if it sees them.
func look(line, home string) (view View, words [][]string) {
	if strings.TrimSpace(line) == "" {
		return View{Sight: SeesWords}, nil
	}
	if len(line) > maxView || hasHiddenText(line) {
		return View{}, nil
	}
	s, err := parse(line, syntax.LangBash)
	if err != nil {
		line += "'" // close a quote that is open
		if s, err = parse(line, syntax.LangBash); err != nil {
			return View{}, nil
		}
	}
	if hasGluedComment(s) {
		return View{}, nil
	}
	v := &viewer{line: line, home: home}
	switch v.whole(s.file.Stmts) {
	case seen:
		return View{v.commands, SeesWords}, v.words
	case unsure:
		if commands, ok := programs(s); ok {
			return View{commands, SeesPrograms}, nil
		}
	}
	return View{}, nil
}

// outcome is the result of looking at a part of a line.
type outcome int

const (
	seen   outcome = iota // the part is known, apart from Unknown
	unsure                // a variable or a substitution stands where its value would matter
	hidden                // the part is not looked into
)

// scope holds the variables that the line has set, with their values. The value of a variable
// may be Unknown.
type scope map[string]string

// merge makes unknown what a part of the line, which may not run or may run in another process,
// has changed.
func (s scope) merge(part scope) {
	for name, value := range s {
		if part[name] != value {
			s[name] = Unknown
		}
	}
}

func (s scope) forget() {
	for name := range s {
		s[name] = Unknown
	}
}

// viewer looks at a line, from its beginning to its end.
type viewer struct {
	line, home string
	commands   []string
	words      [][]string // of each command
	prefix     []string   // words before the next command: time, coproc
}

func (v *viewer) add(words ...string) {
	v.commands, v.words = append(v.commands, strings.Join(words, " ")), append(v.words, words)
}

// whole looks at all statements of the line. Only here a statement may end with &.
func (v *viewer) whole(stmts []*syntax.Stmt) outcome {
	vars := scope{}
	for _, stmt := range stmts {
		if hasLostDocument(stmt) {
			return hidden
		}
		if out := v.stmt(stmt, vars); out != seen {
			return out
		}
		if stmt.Background {
			vars = scope{}
		}
	}
	return seen
}

// hasLostDocument reports whether a statement is a list whose last command has a here-document
// behind another redirection: the client loses its place there.
func hasLostDocument(stmt *syntax.Stmt) bool {
	binary, ok := stmt.Cmd.(*syntax.BinaryCmd)
	for ; ok; binary, ok = stmt.Cmd.(*syntax.BinaryCmd) {
		stmt = binary.Y
		n := len(stmt.Redirs)
		if n > 1 && stmt.Redirs[n-1].Hdoc != nil {
			return true
		}
	}
	return false
}

// block looks at the statements of a construct.
func (v *viewer) block(stmts []*syntax.Stmt, vars scope) outcome {
	for _, stmt := range stmts {
		if stmt.Background {
			return hidden
		}
		if out := v.stmt(stmt, vars); out != seen {
			return out
		}
	}
	return seen
}

// group looks at the statements in parentheses. There the client knows no semicolon.
func (v *viewer) group(stmts []*syntax.Stmt, vars scope) outcome {
	for _, stmt := range stmts {
		if stmt.Semicolon.IsValid() {
			return hidden
		}
	}
	return v.block(stmts, cloneOf(vars))
}

// part looks at statements that may not run: what they set is unknown afterwards.
func (v *viewer) part(stmts []*syntax.Stmt, vars scope) outcome {
	inner := cloneOf(vars)
	out := v.block(stmts, inner)
	vars.merge(inner)
	return out
}

// stmt looks at one statement.
func (v *viewer) stmt(stmt *syntax.Stmt, vars scope) outcome {
	if stmt.Coprocess || stmt.Disown {
		return hidden
	}
	switch cmd := stmt.Cmd.(type) {
	case nil:
		return v.redirections(stmt, nil, vars)
	case *syntax.CallExpr:
		return v.call(stmt, cmd, vars)
	case *syntax.DeclClause:
		return v.declaration(stmt, cmd, vars)
	case *syntax.TimeClause:
		return v.prefixed(stmt, cmd.Stmt, cmd, vars)
	case *syntax.CoprocClause:
		return v.prefixed(stmt, cmd.Stmt, cmd, vars)
	}
	if len(stmt.Redirs) > 0 {
		return hidden
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return v.binary(cmd, vars)
	case *syntax.Subshell:
		return v.group(cmd.Stmts, vars)
	case *syntax.IfClause:
		return v.ifClause(cmd, vars)
	case *syntax.WhileClause:
		return v.while(cmd, vars)
	case *syntax.ForClause:
		return v.forClause(cmd, vars)
	case *syntax.TestClause:
		return v.test(cmd, vars)
	case *syntax.LetClause:
		text := v.text(cmd)
		if strings.ContainsAny(text, "$`\\") {
			return hidden
		}
		return v.done(strings.NewReplacer("'", "", `"`, "").Replace(text))
	}
	return hidden
}

// binary looks at a pipeline, or at two commands joined by && or ||.
func (v *viewer) binary(cmd *syntax.BinaryCmd, vars scope) outcome {
	left, right := vars, vars
	switch cmd.Op {
	case syntax.Pipe, syntax.PipeAll:
		left, right = cloneOf(vars), cloneOf(vars)
	case syntax.OrStmt:
		right = cloneOf(vars)
	}
	if out := v.stmt(cmd.X, left); out != seen {
		return out
	}
	out := v.operand(cmd.Y, right)
	switch cmd.Op {
	case syntax.Pipe, syntax.PipeAll:
		vars.merge(left)
		vars.merge(right)
	case syntax.OrStmt:
		vars.forget()
	}
	return out
}

// operand looks at the right side of a pipeline or a list. There a test may have redirections.
func (v *viewer) operand(stmt *syntax.Stmt, vars scope) outcome {
	if len(stmt.Redirs) == 0 || !isTest(stmt.Cmd) {
		return v.stmt(stmt, vars)
	}
	if out := v.redirections(stmt, stmt.Cmd, vars); out != seen {
		return out
	}
	bare := *stmt
	bare.Redirs = nil
	return v.stmt(&bare, vars)
}

// isTest reports whether a command is [[ ]] or [ ].
func isTest(cmd syntax.Command) bool {
	call, isCall := cmd.(*syntax.CallExpr)
	if isCall {
		return len(call.Args) > 0 && call.Args[0].Lit() == "["
	}
	_, isTest := cmd.(*syntax.TestClause)
	return isTest
}

func (v *viewer) ifClause(cmd *syntax.IfClause, vars scope) outcome {
	if v.isGlued(cmd.Position, "if") || v.isGlued(cmd.Position, "elif") || v.isGlued(cmd.Position, "else") {
		return hidden
	}
	if out := v.block(cmd.Cond, vars); out != seen {
		return out
	}
	if out := v.part(cmd.Then, vars); out != seen {
		return out
	}
	if cmd.Else == nil {
		return seen
	}
	branch := cloneOf(vars)
	out := v.ifClause(cmd.Else, branch)
	vars.merge(branch)
	return out
}

func (v *viewer) while(cmd *syntax.WhileClause, vars scope) outcome {
	if v.isGlued(cmd.WhilePos, "while") || v.isGlued(cmd.WhilePos, "until") {
		return hidden
	}
	inner := v.enterLoop(cmd, vars)
	if out := v.block(cmd.Cond, inner); out != seen {
		return out
	}
	out := v.block(cmd.Do, inner)
	vars.merge(inner)
	return out
}

func (v *viewer) forClause(cmd *syntax.ForClause, vars scope) outcome {
	each, isList := cmd.Loop.(*syntax.WordIter)
	if !isList || cmd.Select || cmd.Braces || isSpecial(each.Name.Value) {
		return hidden
	}
	for _, item := range each.Items {
		if sub, ok := onlyPart(item).(*syntax.CmdSubst); ok {
			if out := v.substitution(sub, vars); out != seen {
				return out
			}
			continue
		}
		if _, out := v.word(item, vars); out != seen {
			return out
		}
	}
	inner := v.enterLoop(cmd, vars)
	delete(inner, each.Name.Value)
	out := v.block(cmd.Do, inner)
	delete(vars, each.Name.Value)
	vars.merge(inner)
	return out
}

// isGlued reports whether a keyword is directly followed by a parenthesis.
func (v *viewer) isGlued(at syntax.Pos, keyword string) bool {
	return strings.HasPrefix(v.line[at.Offset():], keyword+"(")
}

// enterLoop returns the variables inside a loop. What the loop sets is unknown from its start,
// because it may run again.
func (v *viewer) enterLoop(loop syntax.Node, vars scope) scope {
	inner := cloneOf(vars)
	syntax.Walk(loop, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil {
			if _, set := inner[a.Name.Value]; set {
				inner[a.Name.Value] = Unknown
			}
		}
		return true
	})
	return inner
}

// test looks at [[ ]].
func (v *viewer) test(cmd *syntax.TestClause, vars scope) outcome {
	words := []string{"[["}
	out := v.testExpr(cmd.X, vars, &words)
	if out != seen {
		return hidden
	}
	v.add(words...)
	return seen
}

func (v *viewer) testExpr(expr syntax.TestExpr, vars scope, words *[]string) outcome {
	switch expr := expr.(type) {
	case *syntax.Word:
		text, out := v.word(expr, vars)
		*words = append(*words, text)
		if strings.Contains(text, "]]") || strings.ContainsAny(v.text(expr), "&") {
			return hidden
		}
		return out
	case *syntax.UnaryTest:
		*words = append(*words, expr.Op.String())
		return v.testExpr(expr.X, vars, words)
	case *syntax.BinaryTest:
		if out := v.testExpr(expr.X, vars, words); out != seen {
			return out
		}
		*words = append(*words, expr.Op.String())
		return v.testExpr(expr.Y, vars, words)
	case *syntax.ParenTest:
		*words = append(*words, "(")
		out := v.testExpr(expr.X, vars, words)
		*words = append(*words, ")")
		return out
	}
	return hidden
}

// prefixed looks at a command behind time or coproc, which are ordinary words to a rule.
func (v *viewer) prefixed(stmt, inner *syntax.Stmt, clause syntax.Command, vars scope) outcome {
	if out := v.redirections(stmt, clause, vars); out != seen {
		return out
	}
	if inner == nil {
		return v.done(v.text(clause))
	}
	first := inner
	for {
		binary, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		first = binary.X
	}
	call, ok := first.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return hidden
	}
	v.prefix = strings.Fields(v.line[clause.Pos().Offset():call.Args[0].Pos().Offset()])
	return v.stmt(inner, vars)
}

// text returns a part of the line as it is written.
func (v *viewer) text(n syntax.Node) string { return v.line[n.Pos().Offset():n.End().Offset()] }
