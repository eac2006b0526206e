package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call looks at a simple command, or at an assignment without one.
func (v *viewer) call(stmt *syntax.Stmt, call *syntax.CallExpr, vars scope) outcome {
	words := v.prefix
	v.prefix = nil
	if len(call.Args) == 0 && len(stmt.Redirs) == 0 {
		return v.assignment(call, vars)
	}
	for _, a := range call.Assigns {
		value, out := v.value(a, vars)
		switch {
		case out != seen:
			return out
		case isInteger(a.Name.Value) && !isPlainNumber(value), v.readsEarlier(a, call.Assigns):
			return hidden
		}
	}
	for _, arg := range call.Args {
		text, out := v.word(arg, vars)
		switch {
		case out != seen:
			return out
		case isUnknownOption(text):
			return unlessString(arg)
		}
		words = append(words, text)
	}
	if out := v.redirections(stmt, call, vars); out != seen {
		return out
	}
	if len(words) == 0 {
		return v.done("")
	}
	if strings.HasPrefix(words[0], "[") && words[0] != "[" { // the client misses a space
		return hidden
	}
	if words[0] == "[" { // to the client a construct of its own
		joined := slices.Contains(words, "-a") || slices.Contains(words, "-o")
		if len(stmt.Redirs) > 0 || words[len(words)-1] != "]" || joined && len(words) > 5 {
			return hidden
		}
		return v.done(append([]string{"[["}, words[1:len(words)-1]...)...)
	}
	if words[0] == "unset" && v.text(call) != strings.Join(words, " ") {
		return hidden
	}
	if out := sets(words, vars, len(v.commands) > 0); out != seen {
		return out
	}
	return v.done(words...)
}

func (v *viewer) done(words ...string) outcome {
	v.add(words...)
	return seen
}

// unlessString returns unsure for a word in double quotes, and hidden for any other: an option
// whose text is not known.
func unlessString(arg *syntax.Word) outcome {
	if _, ok := onlyPart(arg).(*syntax.DblQuoted); ok {
		return unsure
	}
	return hidden
}

// isUnknownOption reports whether a word is an option whose text is not wholly known.
func isUnknownOption(text string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "-")
	return rest != text && strings.Contains(rest, Unknown) && (isNameRune(rune(rest[0])) || strings.HasPrefix(rest, Unknown))
}

// assignment looks at a statement that only sets a variable.
func (v *viewer) assignment(call *syntax.CallExpr, vars scope) outcome {
	if len(call.Assigns) != 1 {
		return hidden
	}
	a := call.Assigns[0]
	before := len(v.commands)
	value, out := v.value(a, vars)
	if out != seen {
		return out
	}
	if decidesLookup(a.Name.Value) || isInteger(a.Name.Value) && !isPlainNumber(value) {
		return hidden
	}
	vars.assign(a.Name.Value, value, a.Append, before > 0)
	return seen
}

// assign sets a variable. What is set behind another command is unknown, because that command may
// have ended the line; and so is a value that replaces another one.
func (s scope) assign(name, value string, isAppend, late bool) {
	old, known := s[name]
	switch {
	case isAppend && !known && !late:
		return
	case late, known && !isAppend && old != value && !strings.Contains(value, Unknown):
		value = Unknown
	case isAppend:
		value = old + value
	}
	s[name] = value
}

// value returns the value of an assignment.
func (v *viewer) value(a *syntax.Assign, vars scope) (string, outcome) {
	if a.Index != nil || a.Array != nil || a.Name == nil || a.Name.Value == "IFS" {
		return "", hidden
	}
	if a.Value == nil {
		return "", seen
	}
	var text string
	out := seen
	switch part := onlyPart(a.Value).(type) {
	case *syntax.CmdSubst:
		text, out = Unknown, v.substitution(part, vars)
	case *syntax.ParamExp: // not split in an assignment
		text, out = v.variable(part, vars, true)
	default:
		text, out = v.word(a.Value, vars)
	}
	if out == seen && strings.Contains(text, "~") {
		return "", hidden
	}
	return text, out
}

// readsEarlier reports whether the value of an assignment uses a variable that an earlier
// assignment of the same command sets.
func (v *viewer) readsEarlier(a *syntax.Assign, all []*syntax.Assign) bool {
	reads := false
	syntax.Walk(a, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
			for _, earlier := range all[:slices.Index(all, a)] {
				reads = reads || earlier.Name.Value == p.Param.Value
			}
		}
		return true
	})
	return reads
}

// declaration looks at export, readonly, declare, typeset and local.
func (v *viewer) declaration(stmt *syntax.Stmt, decl *syntax.DeclClause, vars scope) outcome {
	name := decl.Variant.Value
	words, late, named := []string{name}, len(v.commands) > 0, false
	for _, a := range decl.Args {
		switch {
		case a.Name == nil || a.Name.Value == "": // an option, or a name that is computed
			text, out := v.word(a.Value, vars)
			if key, value, isSet := strings.Cut(text, "="); out == seen && isSet && syntax.ValidName(key) && !strings.Contains(value, "~") {
				vars.assign(key, value, false, late)
				words, named = append(words, text), true
				continue
			}
			if out != seen || named || !isPlainOption(name, text) {
				return hidden
			}
			words = append(words, text)
			continue
		case a.Naked:
			words = append(words, a.Name.Value)
		default:
			value, out := v.value(a, vars)
			if out != seen {
				return out
			}
			vars.assign(a.Name.Value, value, a.Append, late)
			words = append(words, a.Name.Value+"="+value)
		}
		named = true
	}
	// the client knows that bash refuses local here, where anything follows
	if name == "local" && strings.Contains(strings.Join(words, " "), "=") && int(stmt.End().Offset()) < len(strings.TrimSpace(v.line)) ||
		name == "nameref" {
		return hidden
	}
	if out := v.redirections(stmt, decl, vars); out != seen {
		return out
	}
	return v.done(words...)
}

// isPlainOption reports whether a word is an option of a declaration that changes no value.
func isPlainOption(declaration, option string) bool {
	letters := map[string]string{"export": "fnp", "readonly": "fp"}[declaration]
	if letters == "" {
		letters = "rtxfgpU"
	}
	return len(option) > 1 && option[0] == '-' && strings.Trim(option[1:], letters) == ""
}

// sets applies what a builtin command does to variables.
func sets(words []string, vars scope, late bool) outcome {
	var names []string
	switch words[0] {
	case "read":
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") {
				names = append(names, word)
			}
		}
		if names == nil {
			names = []string{"REPLY"}
		}
	case "cd", "chdir", "pushd", "popd":
		names = []string{"PWD", "OLDPWD"}
	case "printf":
		if len(words) > 2 && words[1] == "-v" {
			names = words[2:3]
		}
	case "getopts":
		names = append([]string{"OPTARG", "OPTIND"}, words[min(2, len(words)):min(3, len(words))]...)
	case "mapfile", "readarray":
		names = append([]string{"MAPFILE"}, words[1:]...)
	case "unset":
		return unsets(words[1:], vars, late)
	}
	for _, name := range names {
		if isSpecial(name) && words[0] != "cd" && words[0] != "pushd" && words[0] != "popd" && words[0] != "getopts" {
			return hidden
		}
		if syntax.ValidName(name) {
			vars[name] = Unknown
		}
	}
	return seen
}

func unsets(words []string, vars scope, late bool) outcome {
	for i, word := range words {
		switch {
		case (word == "-f" || word == "-v") && i == 0:
		case !syntax.ValidName(word) || isSpecial(word):
			return hidden
		case late:
			vars[word] = Unknown
		default:
			vars[word] = ""
		}
	}
	return seen
}

// redirections looks at the redirections of a statement. cmd is its command, nil if it has none.
func (v *viewer) redirections(stmt *syntax.Stmt, cmd syntax.Command, vars scope) outcome {
	if cmd == nil && len(stmt.Redirs) > 0 {
		v.add("")
	}
	for _, r := range stmt.Redirs {
		if out := v.redirection(r, vars); out != seen {
			return out
		}
		if call, ok := cmd.(*syntax.CallExpr); ok && isBetween(r, call) {
			return hidden
		}
	}
	return seen
}

// isBetween reports whether a redirection stands between words of a command, or before an
// assignment.
func isBetween(r *syntax.Redirect, call *syntax.CallExpr) bool {
	at := r.Pos().Offset()
	if n := len(call.Args); n > 0 && at > call.Args[0].Pos().Offset() && at < call.Args[n-1].Pos().Offset() {
		return true
	}
	n := len(call.Assigns)
	return n > 0 && at < call.Assigns[n-1].Pos().Offset()
}

// duplicated matches a target of >& and <& that the client looks at.
var duplicated = expression{text: `^[A-Za-z0-9./_-]+$`}

func (v *viewer) redirection(r *syntax.Redirect, vars scope) outcome {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		return hidden
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return v.hereDocument(r)
	case syntax.RdrInOut:
		return hidden
	}
	text, out := v.word(r.Word, vars)
	if out != seen {
		return hidden // a program's name says nothing about the target
	}
	if r.Op == syntax.WordHdoc {
		if hashLine.in(text) {
			return hidden
		}
		return seen
	}
	quoted := onlyPart(r.Word)
	_, isString := quoted.(*syntax.DblQuoted)
	switch {
	case strings.Contains(text, Unknown), strings.Contains(text, "\n"), strings.HasPrefix(text, "!"), strings.HasPrefix(text, "="),
		(r.Op == syntax.DplOut || r.Op == syntax.DplIn) && strings.HasPrefix(text, "-"),
		r.Op == syntax.DplOut && !duplicated.in(text),
		!isString && hasVariable(r.Word):
		return hidden
	}
	return seen
}

// hashLine matches a line that begins with #.
var hashLine = expression{text: `\n\s*#`}

func hasVariable(w *syntax.Word) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
			found = true
		}
		return !found
	})
	return found
}

// hereDocument looks at a here-document. Its body is data only behind a quoted word, and nothing
// else may stand on the line behind that word.
func (v *viewer) hereDocument(r *syntax.Redirect) outcome {
	word := v.text(r.Word)
	quoted := strings.Trim(word, `'"`)
	switch {
	case word == "", !strings.ContainsRune(`'"\`, rune(word[0])), strings.Contains(strings.TrimPrefix(word, `\`), `\`):
		return hidden
	case word[0] == '\\':
		quoted = word[1:]
	}
	after, _, _ := strings.Cut(v.line[r.Word.End().Offset():], "\n")
	if strings.TrimSpace(after) != "" || r.Op == syntax.DashHdoc && strings.HasPrefix(quoted, "\t") {
		return hidden
	}
	for line := range strings.Lines(bodyOf(r)) {
		if r.Op == syntax.DashHdoc {
			line = strings.TrimLeft(line, "\t")
		}
		if rest, ok := strings.CutPrefix(line, quoted); ok && quoted != "" && strings.ContainsAny(rest, ")`}") {
			return hidden
		}
	}
	return seen
}

// bodyOf returns the text of a here-document behind a quoted word.
func bodyOf(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	return r.Hdoc.Lit()
}
