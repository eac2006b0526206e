package shell

import (
	"runtime"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Then returns what stands between two commands that are advised: Windows PowerShell 5 does not know &&.
func Then() string {
	if runtime.GOOS == "windows" {
		return "; "
	}
	return " && "
}

// Join returns a command line of these words. It quotes the words in which a shell treats
// a character specially: "=" in the first word makes it an assignment.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.IndexFunc(word, needsQuotes) >= 0 || i == 0 && strings.Contains(word, "=") {
			quoted[i] = Quote(word)
		}
	}
	return strings.Join(quoted, " ")
}

// JoinInPowerShell is Join for PowerShell, to which a line that begins with a quoted path is a text, and nothing runs: & calls it.
// What it does not quote cmd reads likewise.
func JoinInPowerShell(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.IndexFunc(word, func(c rune) bool { return !isNameRune(c) && !strings.ContainsRune(`-./:=\`, c) }) >= 0 {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", "''") + "'"
		}
	}
	if len(words) > 0 && quoted[0] != words[0] {
		quoted[0] = "& " + quoted[0]
	}
	return strings.Join(quoted, " ")
}

// Bare returns a command line without quotes, backslashes and white space: what stays of it however a program quotes it again.
func Bare(line string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || strings.ContainsRune("'\"\\", c) {
			return -1
		}
		return c
	}, line)
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
// that is a link is one of the others.
const (
	Nothing Fallback = ""
	Refuse  Fallback = inList + `{ ` + missed + `echo "fsmtx cannot be run, so no step is let through. Tell the person: install fsmtx ` +
		`again, or take its hooks out of the settings." >&2; exit 2; }; `
	Tell Fallback = inList + `{ ` + missed + `echo "{\"systemMessage\": \"fsmtx cannot be run, so the steps of the workflow are not ` +
		`enforced. Install it again, or take its hooks out of the settings.\"}"; }; `
)

// inList spells the name of the list as the client does (tasks.CleanID): a "-" for each UTF-16 code unit that it replaces. In UTF-8 that
// is one for a character, and two for one whose first byte is \360 or above.
const inList = `n="${CLAUDE_CODE_TASK_LIST_ID:-$CLAUDE_CODE_SESSION_ID}"; ` +
	`LC_ALL=C; c=$(printf "[\200-\277]"); f=$(printf "[\360-\367]"); ` +
	`while :; do case $n in *$c*) n=${n%%$c*}${n#*$c};; *$f*) n=${n%%$f*}--${n#*$f};; ` +
	`*[!A-Za-z0-9_-]*) n=${n%%[!A-Za-z0-9_-]*}-${n#*[!A-Za-z0-9_-]};; *) break;; esac; done; ` +
	`d="${CLAUDE_CONFIG_DIR:-$HOME/.claude}/tasks/.$n.fsmtx"; test ! -d "$d" || `

// missed puts the time on record, which is told once the program can be run again (state.Missed).
const missed = `{ date +%s >>"$d/missed"; } 2>/dev/null; `

// InList returns a line that runs another one only in a session whose list has a state directory. In any other session of
// Claude Code it ends well, without a process. A list that is a link, one with a name of its own and one of a team count as
// if they had one: the program finds out. An agent without this variable runs the line, too.
func InList(line string) string { return mayHaveState + line }

const mayHaveState = `test "$CLAUDE_CODE_TASK_LIST_ID$CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS" || test -z "$CLAUDE_CODE_SESSION_ID" || ` +
	`test -L "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/tasks/$CLAUDE_CODE_SESSION_ID" || ` +
	`test -d "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/tasks/.$CLAUDE_CODE_SESSION_ID.fsmtx" || exit 0; `

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

// GuardWell is Guard for an agent that refuses every call, sends no prompt or never ends a turn if the program of a hook
// fails: the line ends well, however the program ends.
func GuardWell(program string, args []string) string {
	return lost(program) + " || " + program + " " + Join(args...) + well
}

const well = " || exit 0"

// GuardWellReporting is GuardWell with a text that is printed if the program is missing.
func GuardWellReporting(program string, args []string, text string) string {
	return "{ " + lost(program) + ` && printf "%s\n" ` + Quote(text) + "; } || " + program + " " + Join(args...) + well
}

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

// Guarded returns the words of the one call in a line that does nothing beside it but look whether its program is there, and end
// well without it: one of Guard, GuardOr, GuardWell, GuardWellReporting or GuardReporting, or one that a person has written. ok is
// false for any other line.
func Guarded(line string) (words []string, ok bool) {
	s, err := Parse(line)
	if err != nil {
		return nil, false
	}
	ok = true
	syntax.Walk(s.file, func(n syntax.Node) bool {
		call, isCall := n.(*syntax.CallExpr)
		if !isCall || slices.Contains(strings.Fields("test [ trap shopt exit true : command printf"), call.Args[0].Lit()) {
			return true
		}
		found, known := literals(call)
		ok, words = ok && known && words == nil, found
		return true
	})
	if len(words) > 1 && words[0] == "exec" {
		words = words[1:]
	}
	return words, ok && len(words) > 0
}

// literals returns the words of a simple command without assignments. They must be literal,
// except that variables in the program's name are kept as $NAME.
func literals(call *syntax.CallExpr) (words []string, ok bool) {
	if len(call.Assigns) > 0 {
		return nil, false
	}
	for _, word := range wordsOf(call.Args) {
		lookup := none
		if len(words) == 0 || len(words) == 1 && words[0] == "exec" {
			lookup = itself
		}
		text, known := word.Text(lookup)
		if !known {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}
