package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// onlyPart returns the part of a word that has only one, nil for other words.
func onlyPart(w *syntax.Word) syntax.WordPart {
	if w == nil || len(w.Parts) != 1 {
		return nil
	}
	return w.Parts[0]
}

// word returns the text of a word without quotes.
func (v *viewer) word(w *syntax.Word, vars scope) (string, outcome) {
	if isBraces(v.text(w)) {
		return "", hidden
	}
	if _, ok := onlyPart(w).(*syntax.CmdSubst); ok {
		return "", unsure
	}
	var b strings.Builder
	for _, part := range w.Parts {
		text, out := v.bare(part, vars)
		if out != seen {
			return "", out
		}
		b.WriteString(text)
	}
	text := b.String()
	for i, part := range w.Parts {
		if _, ok := part.(*syntax.ParamExp); ok && i+1 < len(w.Parts) && isModifier(w.Parts[i+1]) {
			return "", hidden
		}
	}
	if len(w.Parts) > 1 && (hasOpenBrace(w) && (strings.Contains(text, ",") || strings.Contains(text, "..")) ||
		strings.Contains(text, "~[") || equals.in(text)) {
		return "", hidden
	}
	return text, seen
}

// hasOpenBrace reports whether a word has a brace outside quotes.
func hasOpenBrace(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	})
}

// braces match a brace in a word that a shell may expand, or that another shell reads otherwise.
var (
	escapedBrace = expression{text: `\{[^{]*\\\}|\{[^}]*\\\{`}
	equals       = expression{text: `(?:^|[\s;&|])=[a-zA-Z_]`}
)

// isBraces reports whether a word is a list in braces.
func isBraces(text string) bool {
	if strings.HasPrefix(text, "'") || strings.HasPrefix(text, `"`) {
		return false
	}
	for field := range strings.FieldsSeq(text) {
		open, end := strings.Index(field, "{"), strings.LastIndex(field, "}")
		if open >= 0 && end > open && (strings.Contains(field[open:end], ",") || strings.Contains(field[open:end], "..")) {
			return true
		}
	}
	return escapedBrace.in(text)
}

// bare returns the text of a part of a word outside double quotes.
func (v *viewer) bare(part syntax.WordPart, vars scope) (string, outcome) {
	switch part := part.(type) {
	case *syntax.Lit:
		return unescaped(part.Value, ""), seen
	case *syntax.SglQuoted:
		if part.Dollar {
			return "", hidden
		}
		return part.Value, seen
	case *syntax.DblQuoted:
		return v.quoted(part, vars)
	case *syntax.ParamExp:
		return v.variable(part, vars, false)
	case *syntax.ArithmExp:
		return Unknown, v.arithmetic(part)
	case *syntax.CmdSubst:
		return "", unsure
	}
	return "", hidden
}

// quoted returns the text in double quotes.
func (v *viewer) quoted(q *syntax.DblQuoted, vars scope) (string, outcome) {
	if q.Dollar {
		return "", hidden
	}
	var b strings.Builder
	unknown := false // the value of a variable or of a command is
	for i, part := range q.Parts {
		text, out := v.quotedPart(part, vars)
		if out != seen {
			return "", out
		}
		if _, ok := part.(*syntax.ParamExp); ok && i+1 < len(q.Parts) && isModifier(q.Parts[i+1]) {
			return "", hidden
		}
		unknown = unknown || text == Unknown
		b.WriteString(text)
	}
	text := b.String()
	if unknown && len([]rune(strings.ReplaceAll(text, Unknown, ""))) <= 1 {
		return "", unsure
	}
	return text, seen
}

// modifier matches what other shells read as a part of the variable before it.
var modifier = expression{text: `^(?:\[|:[a-zA-Z&])`}

func isModifier(part syntax.WordPart) bool {
	lit, ok := part.(*syntax.Lit)
	return ok && modifier.in(lit.Value)
}

func (v *viewer) quotedPart(part syntax.WordPart, vars scope) (string, outcome) {
	switch part := part.(type) {
	case *syntax.Lit:
		return unescaped(part.Value, "$`\"\\\n"), seen
	case *syntax.ParamExp:
		return v.variable(part, vars, true)
	case *syntax.ArithmExp:
		return Unknown, v.arithmetic(part)
	case *syntax.CmdSubst:
		if body, ok := v.document(part); ok {
			return body, seen
		}
		return Unknown, v.substitution(part, vars)
	}
	return "", hidden
}

// mayBeAwk matches text with which a program of awk runs other programs, or that reads the
// environment of a process.
var mayBeAwk = expression{text: `(?:^|[^A-Za-z_])(?:system|extension)[\s\\]*\(` +
	`|(?:^|[^|])\|&?(?:[^/|%";#{}]*"|[\s\\]*getline\b)` +
	`|@[\s\\]*(?:(?:load|include)\b|\w+(?:::\w+)?(?:\[[^\]]*\])*[\s\\]*\()` +
	`|"/inet[46]?/|/proc/.*/environ`}

// document returns the text of $(cat <<'E' …), with which people write long arguments: it is
// read as text. ok is false for any other substitution, and for a text that may be a program of
// awk.
func (v *viewer) document(sub *syntax.CmdSubst) (text string, ok bool) {
	if len(sub.Stmts) != 1 || len(sub.Stmts[0].Redirs) != 1 || sub.Backquotes {
		return "", false
	}
	r := sub.Stmts[0].Redirs[0]
	call, isCall := sub.Stmts[0].Cmd.(*syntax.CallExpr)
	if !isCall || len(call.Args) != 1 || len(call.Assigns) > 0 || v.text(call) != "cat" || r.Op != syntax.Hdoc || v.hereDocument(r) != seen {
		return "", false
	}
	if text = strings.TrimRight(bodyOf(r), "\n"); mayBeAwk.in(text) {
		return "", false
	}
	if strings.Contains(text, "\n") {
		return "\n" + Unknown, true
	}
	return text, true
}

// substitution looks at the commands in $( ).
func (v *viewer) substitution(sub *syntax.CmdSubst, vars scope) outcome {
	text := v.text(sub)
	switch {
	case sub.TempFile, sub.ReplyVar, sub.Backquotes && (strings.Contains(text, `\`) || len(sub.Stmts) == 0),
		len(sub.Stmts) > 0 && sub.Stmts[0].Cmd == nil: // $(< file)
		return hidden
	}
	return v.group(sub.Stmts, vars)
}

func cloneOf(vars scope) scope {
	inner := make(scope, len(vars))
	for name, value := range vars {
		inner[name] = value
	}
	return inner
}

// arithmetic looks at $(( )), which may only have numbers and operators.
func (v *viewer) arithmetic(expr *syntax.ArithmExp) outcome {
	if expr.Bracket {
		return hidden
	}
	out := seen
	syntax.Walk(expr, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			if !isArithmeticNumber(n.Value) {
				out = hidden
			}
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.SglQuoted, *syntax.DblQuoted:
			out = hidden
		}
		return true
	})
	return out
}

var arithmeticNumber = expression{text: `^(?:[0-9]+|0[xX][0-9a-fA-F]+|[0-9]+#[0-9a-zA-Z]+)$`}

func isArithmeticNumber(text string) bool { return arithmeticNumber.in(text) }

// variable returns the value of a variable.
func (v *viewer) variable(p *syntax.ParamExp, vars scope, quoted bool) (string, outcome) {
	if !p.Short || p.Param == nil || !isPlainParam(p) {
		return "", hidden
	}
	name := p.Param.Value
	value, set := vars[name]
	switch {
	case set && strings.Contains(value, Unknown) && quoted:
		return Unknown, seen
	case set && (quoted || value != "" && !strings.Contains(value, Unknown) && !splits(value)):
		return value, seen
	case set:
		return "", unsure
	case name == "HOME" && (quoted || v.home != "" && !splits(v.home)):
		return v.home, seen
	case quoted && (isEnvironment(name) || isStatus(name)):
		return Unknown, seen
	}
	return "", unsure
}

// splits reports whether the shell would split a value into words, or match it with files.
func splits(value string) bool { return strings.ContainsAny(value, " \t\n*?[") }

// isEnvironment reports whether every shell has the variable.
func isEnvironment(name string) bool {
	return slices.Contains([]string{
		"HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "PATH", "HOSTNAME", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO",
		"TMPDIR", "BASH_VERSION", "BASHPID", "SHLVL", "HISTFILE", "IFS",
	}, name)
}

// isStatus reports whether a name is that of a parameter such as $?.
func isStatus(name string) bool {
	return slices.Contains([]string{"?", "$", "!", "#", "-"}, name)
}

// isSpecial reports whether a variable changes how the shell runs commands, or changes itself.
func isSpecial(name string) bool {
	return decidesLookup(name) || isInteger(name) || isPrompt(name) || name == "IFS"
}

func isPrompt(name string) bool { return name == "PS4" || name == "PROMPT4" }

// decidesLookup reports whether a variable decides which programs commands are.
func decidesLookup(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "ld_") || strings.HasPrefix(lower, "dyld_") || strings.HasPrefix(lower, "bash_func_") ||
		slices.Contains([]string{
			"path", "home", "dirstack", "tmpprefix", "bash_env", "env", "cdpath", "globignore", "shell", "fpath", "bash_loadables_path",
			"module_path", "manpath", "mailpath", "readnullcmd", "nullcmd", "histfile", "zdotdir", "functions", "commands", "aliases",
			"galiases", "saliases", "bash_cmds", "bash_aliases", "execignore", "bash_source_path", "lang", "language", "lc_all", "lc_ctype",
			"lc_collate", "lc_messages", "lc_numeric", "lc_time", "histchars", "textdomain", "textdomaindir",
		}, lower)
}

// isInteger reports whether a variable is a number to the shell, which computes what it is set
// to.
func isInteger(name string) bool {
	return slices.Contains([]string{
		"RANDOM", "SECONDS", "LINENO", "OPTIND", "MAILCHECK", "HISTCMD", "SRANDOM", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID",
		"BASH_MONOSECONDS", "BASH_TRAPSIG", "COLUMNS", "LINES", "SHLVL", "ERRNO", "TMOUT", "HISTSIZE", "SAVEHIST", "TRY_BLOCK_ERROR",
		"TRY_BLOCK_INTERRUPT", "KEYTIMEOUT", "LISTMAX", "LOGCHECK", "PERIOD", "FUNCNEST", "UID", "EUID", "GID", "EGID", "REPORTTIME",
		"REPORTMEMORY", "DIRSTACKSIZE", "BAUD", "ZLE_RPROMPT_INDENT", "MBEGIN", "MEND", "PPID", "ARGC", "ZSH_SUBSHELL", "TTYIDLE", "status",
	}, name)
}

var plainNumber = expression{text: `^(?:0|[1-9][0-9]{0,17})$`}

func isPlainNumber(value string) bool { return plainNumber.in(value) }
