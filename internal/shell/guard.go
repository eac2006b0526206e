package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Join returns a command line of these words. It quotes the words in which a shell treats
// a character specially.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.IndexFunc(word, needsQuotes) >= 0 {
			quoted[i] = Quote(word)
		}
	}
	return strings.Join(quoted, " ")
}

// needsQuotes reports whether c may mean something else than itself to a shell.
func needsQuotes(c rune) bool { return !isNameRune(c) && !strings.ContainsRune("%+,-./:=@", c) }

// Guard returns a line that runs a program if it exists and does nothing otherwise, with
// exit code 0. The program replaces the shell. program is one word of a shell, quoted if
// necessary: a path, with a slash, or a name on PATH.
func Guard(program string, args []string) string { return guard(absent(program), program, args) }

func guard(absent, program string, args []string) string {
	return strings.TrimSpace(absent + " || exec " + program + " " + Join(args...))
}

// absent is the condition of Guard: no shell can run the program.
func absent(program string) string {
	if strings.Contains(program, "/") {
		return "test ! -x " + program
	}
	return "! command -v " + program + " >/dev/null"
}

// lost is the condition of GuardOr. A program that was cut to nothing is lost, too: dash takes it for a script that ends well.
func lost(program string) string {
	if strings.Contains(program, "/") {
		return "test ! -x " + program + " -o ! -s " + program
	}
	return `test ! -s "$(command -v ` + program + `)"`
}

// Fallback is what a line of GuardOr does if its program cannot be started, before it ends with exit code 0.
type Fallback string

// What a line does for a session whose list has a state directory. It exits with 0 for all others: for a colleague
// without the program, after it was uninstalled, and in a session without a workflow nobody notices anything. A list
// whose name has characters that the client replaces, or that is a link, is one of the others.
const (
	Nothing Fallback = ""
	Refuse  Fallback = inList + `{ echo "fsmtx cannot be run, so no step is let through. Tell the person: install fsmtx again, ` +
		`or take its hooks out of the settings." >&2; exit 2; }; `
	Tell Fallback = inList + `echo "{\"systemMessage\": \"fsmtx cannot be run, so the steps of the workflow are not enforced. ` +
		`Install it again, or take its hooks out of the settings.\"}"; `
)

const inList = `test ! -d "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/tasks/.${CLAUDE_CODE_TASK_LIST_ID:-$CLAUDE_CODE_SESSION_ID}.fsmtx" || `

// A shell whose exec fails ends with 126, which some agents take for a refusal. In dash and ash the trap is run
// then; bash runs it only if the failure does not end it at once, and the others do not know shopt. A program that
// is started has neither.
const (
	beforeFallback = "trap '"
	afterFallback  = "exit 0' 0; shopt -s execfail 2>/dev/null; "
)

// GuardOr is Guard for a program that may be missing or one for another platform: the line then does what the
// fallback says.
func GuardOr(f Fallback, program string, args []string) string {
	return beforeFallback + string(f) + afterFallback + guard(lost(program), program, args)
}

// withoutFallback returns a line without what GuardOr adds.
func withoutFallback(line string) string {
	for _, f := range []Fallback{Nothing, Refuse, Tell} {
		if rest, ok := strings.CutPrefix(line, beforeFallback+string(f)+afterFallback); ok {
			return rest
		}
	}
	return line
}

// GuardWell is Guard for an agent that refuses every call, sends no prompt or never ends a turn if the program of a hook
// fails: the line ends well, however the program ends.
func GuardWell(program string, args []string) string {
	return lost(program) + " || " + program + " " + Join(args...) + well
}

const well = " || exit 0"

// reportName is the variable of the text that a line of GuardReporting prints if the program cannot be
// started. It is exported: what the line starts may be a script that finds no program.
const reportName = "FSMTX_REPORT"

// reports is what GuardReporting adds behind the text.
const reports = `; trap 'printf "%s\n" "$` + reportName + `"; exit 0' 0; shopt -s execfail 2>/dev/null; `

// GuardReporting is GuardOr with a text that is printed if the program is missing or is one for
// another platform.
func GuardReporting(program string, args []string, text string) string {
	return "export " + reportName + "=" + Quote(text) + reports + guard(lost(program), program, args)
}

// reported returns the text of a line of GuardReporting and the line without it, or an empty text and
// the line.
func reported(line string) (text, rest string) {
	quoted, rest, found := strings.Cut(strings.TrimPrefix(line, "export "+reportName+"="), reports)
	s, err := Parse(quoted)
	if !found || err != nil || len(s.file.Stmts) != 1 {
		return "", line
	}
	words, ok := literals(s.file.Stmts[0])
	if !ok || len(words) != 1 || Quote(words[0]) != quoted {
		return "", line
	}
	return words[0], rest
}

// Guarded returns the words of the program's call in a line of Guard, GuardOr, GuardWell or
// GuardReporting, in the form of Call. ok is false for any other line.
func Guarded(line string) (words []string, ok bool) {
	_, line = reported(line)
	line = withoutFallback(line)
	if rest, isWell := strings.CutSuffix(line, well); isWell {
		if condition, call, found := strings.Cut(rest, " || "); found {
			line = condition + " || exec " + call
		}
	}
	s, err := Parse(line)
	if err != nil || len(s.file.Stmts) != 1 || len(s.file.Last) > 0 || !isPlain(s.file.Stmts[0]) {
		return nil, false
	}
	or, isOr := s.file.Stmts[0].Cmd.(*syntax.BinaryCmd)
	if !isOr || or.Op != syntax.OrStmt || !isPlain(or.Y) {
		return nil, false
	}
	words, ok = literals(or.Y)
	if !ok || len(words) < 2 || words[0] != "exec" {
		return nil, false
	}
	word := or.Y.Cmd.(*syntax.CallExpr).Args[1]
	program, condition := line[word.Pos().Offset():word.End().Offset()], strings.TrimSpace(line[:or.OpPos.Offset()])
	if tests, isTest := literals(or.X); isTest && isPlain(or.X) { // the path may be quoted in another way
		program, condition = words[1], strings.Join(tests, " ")
	}
	return words[1:], condition == absent(program) || condition == lost(program)
}

// literals returns the words of a simple command without assignments. They must be literal,
// except that variables are kept as $NAME.
func literals(stmt *syntax.Stmt) (words []string, ok bool) {
	call, isCall := stmt.Cmd.(*syntax.CallExpr)
	if !isCall || len(call.Assigns) > 0 {
		return nil, false
	}
	for _, word := range wordsOf(call.Args) {
		text, known := word.Text(itself)
		if !known {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}
