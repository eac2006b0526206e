package shell

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Runs returns the commands that a line runs, as far as its text shows: each as its words
// without quotes, in which [Unknown] stands for text that is known only when it runs. They are
// the simple commands of the line, wherever they stand; the commands that programs such as
// env, timeout and sudo run; and those of a literal line or here-document that a shell gets.
// What a script, an alias or a program in another language runs is not among them. home is the
// value of HOME.
//
// errSyntax is returned, with the commands that were found, if a part of the line cannot be
// parsed.
func Runs(line, home string) (commands [][]string, err error) {
	r := &runner{home: home}
	r.line(line, 0)
	return r.found, r.err
}

// maxHanded is how often a line may be handed on to another shell.
const maxHanded = 5

// maxNested is how deep substitutions and groups may be nested: what each prints is looked at in all around it.
const maxNested = 20

type runner struct {
	home  string
	found [][]string
	err   error
}

// line adds the commands of a line. depth is how often it was handed on.
func (r *runner) line(line string, depth int) {
	if depth > maxHanded {
		r.err = errors.Join(r.err, errSyntax)
		return
	}
	s, err := parseAny(line)
	if err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	if nesting(s.file) > maxNested {
		r.err = errors.Join(r.err, errSyntax)
		return
	}
	computed := false
	piped := map[*syntax.Stmt]*syntax.Redirect{}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if pipe, ok := n.(*syntax.BinaryCmd); ok && (pipe.Op == syntax.Pipe || pipe.Op == syntax.PipeAll) {
			if text, ok := printed(pipe.X); ok {
				piped[pipe.Y] = hereString(text)
			}
		}
		stmt, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		if fed := piped[stmt]; fed != nil {
			for _, inner := range grouped(stmt.Cmd) {
				piped[inner] = fed
			}
		}
		if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			var words []string
			redirs := slices.Clip(stmt.Redirs)
			for _, arg := range call.Args {
				text := shown(arg)
				if script, ok := substituted(arg); ok && len(words) > 0 && runsScripts(words[0]) {
					text, redirs = stdin, append(redirs, hereString(script))
				}
				computed = computed || strings.Contains(text, Unknown)
				if _, splits := onlyPart(arg).(*syntax.CmdSubst); splits {
					words = append(words, strings.Fields(text)...)
				} else {
					words = append(words, text)
				}
			}
			if fed := piped[stmt]; fed != nil {
				redirs = append(redirs, fed)
			}
			r.command(words, redirs, depth)
		}
		return true
	})
	if !computed {
		return
	}
	// The line may set the variables that it uses.
	_, all := look(line, r.home)
	for _, words := range all {
		if !slices.ContainsFunc(r.found, func(f []string) bool { return slices.Equal(f, words) }) {
			r.command(slices.Clone(words), nil, depth)
		}
	}
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

// grouped returns the statements in braces or parentheses.
func grouped(cmd syntax.Command) []*syntax.Stmt {
	switch cmd := cmd.(type) {
	case *syntax.Block:
		return cmd.Stmts
	case *syntax.Subshell:
		return cmd.Stmts
	}
	return nil
}

// printed returns the text that a statement prints with echo, printf or cat with a here-document,
// roughly: for printf it is the arguments, a line each.
func printed(s *syntax.Stmt) (text string, ok bool) {
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return printedBy(cmd, s.Redirs)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			return printedByAll([]*syntax.Stmt{cmd.X, cmd.Y})
		}
		if by, isCall := cmd.Y.Cmd.(*syntax.CallExpr); isCall && len(by.Args) > 0 && path.Base(shown(by.Args[0])) == "tee" {
			return printed(cmd.X)
		}
	}
	return printedByAll(grouped(s.Cmd))
}

func printedByAll(all []*syntax.Stmt) (text string, ok bool) {
	var lines []string
	for _, s := range all {
		if line, ok := printed(s); ok {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), len(lines) > 0
}

func printedBy(call *syntax.CallExpr, redirs []*syntax.Redirect) (text string, ok bool) {
	if len(call.Args) == 0 {
		return "", false
	}
	var words []string
	for _, arg := range call.Args {
		words = append(words, strings.ReplaceAll(shown(arg), `\n`, "\n"))
	}
	switch path.Base(words[0]) {
	case "echo":
		for words = words[1:]; len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == ""; {
			words = words[1:]
		}
		return strings.Join(words, " "), true
	case "printf":
		return formatted(words[1:]), true
	case "cat":
		for _, redir := range redirs {
			if text, ok := fed(redir); ok {
				return text, true
			}
		}
	}
	return "", false
}

// formatted returns what printf prints, if its format has no more than %s; else the arguments, a line
// each.
func formatted(words []string) string {
	if len(words) < 2 || !strings.Contains(words[0], "%s") {
		return strings.Join(words, "\n")
	}
	var b strings.Builder
	for rest := words[1:]; len(rest) > 0; {
		line := words[0]
		for ; len(rest) > 0 && strings.Contains(line, "%s"); rest = rest[1:] {
			line = strings.Replace(line, "%s", rest[0], 1)
		}
		b.WriteString(line)
	}
	return b.String()
}

// stdin names standard input as a file that a shell runs.
const stdin = "/dev/stdin"

// substituted returns what is printed in <(…).
func substituted(w *syntax.Word) (text string, ok bool) {
	from, ok := onlyPart(w).(*syntax.ProcSubst)
	if !ok || from.Op != syntax.CmdIn {
		return "", false
	}
	return printedByAll(from.Stmts)
}

// runsScripts reports whether a program is a shell or runs a file in this one.
func runsScripts(program string) bool {
	return slices.Contains(strings.Fields("sh bash dash zsh ksh mksh ash rbash fish . source"), path.Base(program))
}

// hereString returns the redirection that feeds a text to a command.
func hereString(text string) *syntax.Redirect {
	return &syntax.Redirect{Op: syntax.WordHdoc, Word: &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: text}}}}
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

// shown returns the text of a word, with Unknown for what is known only when the command
// runs. A pattern stays as it is written.
func shown(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		showPart(&b, part)
	}
	return b.String()
}

func showPart(b *strings.Builder, part syntax.WordPart) {
	switch part := part.(type) {
	case *syntax.Lit:
		b.WriteString(unescaped(part.Value, ""))
	case *syntax.SglQuoted:
		if part.Dollar {
			b.WriteString(decoded(part.Value))
			return
		}
		b.WriteString(part.Value)
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				continue
			}
			showPart(b, inner)
		}
	case *syntax.CmdSubst:
		if text, ok := printedByAll(part.Stmts); ok && len(part.Stmts) == 1 {
			b.WriteString(strings.TrimRight(text, "\n"))
			return
		}
		b.WriteString(Unknown)
	default:
		b.WriteString(Unknown)
	}
}

// decoded returns the text of $'…', or Unknown if it has an escape that Go does not have.
func decoded(text string) string {
	var b strings.Builder
	for text != "" {
		c, wide, rest, err := strconv.UnquoteChar(text, 0)
		switch {
		case err != nil:
			return Unknown
		case wide:
			b.WriteRune(c)
		default:
			b.WriteByte(byte(c))
		}
		text = rest
	}
	return b.String()
}

// command adds a command and what it runs. redirs are the redirections of its statement.
func (r *runner) command(words []string, redirs []*syntax.Redirect, depth int) {
	for len(words) > 0 && (words[0] == "" || words[0] == "--") { // a variable without a value; the end of time's options
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	r.found = append(r.found, words)
	name := path.Base(words[0])
	if w, ok := runners()[name]; ok {
		rest, line := w.behind(words[1:])
		if line != "" && name == "env" { // it splits the line into words, and the others follow them
			rest, line = nil, line+" "+Join(rest...)
		}
		if line != "" {
			r.line(line, depth+1)
		}
		if name == "xargs" && len(rest) > 0 && !strings.Contains(strings.Join(rest, " "), "{}") {
			for _, redir := range redirs {
				text, _ := fed(redir)
				rest = append(slices.Clip(rest), strings.Fields(text)...)
			}
		}
		if len(rest) > 0 {
			r.command(rest, redirs, depth)
		}
		return
	}
	switch name {
	case ".", "source":
		if len(words) > 1 && isStdin(words[1]) {
			r.shell(nil, redirs, depth)
		}
	case "eval", "watch":
		r.line(strings.Join(withoutOptions(words[1:], name), " "), depth+1)
	case "su", "runuser", "script":
		r.switched(words, depth)
	case "trap":
		if words = behindDashes(words); len(words) > 2 && words[1] != "-" {
			r.line(words[1], depth+1)
		}
	case "find":
		r.executed(words, depth)
	default:
		if runsScripts(name) {
			r.shell(words[1:], redirs, depth)
		}
	}
}

// isStdin reports whether a file is standard input.
func isStdin(name string) bool {
	return slices.Contains([]string{stdin, "/dev/fd/0", "/proc/self/fd/0"}, name)
}

// switched adds what su, runuser and script run: the line behind -c, or, of runuser, the command
// behind --.
func (r *runner) switched(words []string, depth int) {
	for i, word := range words {
		line, joined := strings.CutPrefix(word, "--command=")
		switch {
		case joined:
			r.line(line, depth+1)
		case i+1 == len(words):
		case word == "--command", len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, "c"):
			r.line(words[i+1], depth+1)
		case word == "--":
			r.command(slices.Clone(words[i+1:]), nil, depth)
		}
	}
}

// behindDashes returns a command without the -- behind its name.
func behindDashes(words []string) []string {
	if len(words) > 1 && words[1] == "--" {
		return append(words[:1:1], words[2:]...)
	}
	return words
}

// withoutOptions returns the words that watch joins to a line; eval has no options.
func withoutOptions(words []string, name string) []string {
	if name == "eval" {
		return behindDashes(append([]string{name}, words...))[1:]
	}
	rest, _ := wrapper{values: "nq"}.behind(words)
	return rest
}

// executed adds the commands that find runs.
func (r *runner) executed(words []string, depth int) {
	for i, word := range words {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, word) {
			continue
		}
		rest := words[i+1:]
		if end := slices.IndexFunc(rest, func(w string) bool { return w == ";" || w == "+" }); end >= 0 {
			rest = rest[:end]
		}
		if len(rest) > 0 {
			r.command(slices.Clone(rest), nil, depth)
		}
	}
}

// shell adds the commands that a shell is given: the line behind -c, or else, unless it runs a
// file, what it reads from a here-document.
func (r *runner) shell(args []string, redirs []*syntax.Redirect, depth int) {
	hasLine, reads := false, false
	for len(args) > 0 && len(args[0]) > 1 && strings.ContainsRune("-+", rune(args[0][0])) && args[0] != "--" {
		option := args[0]
		args = args[1:]
		takes := option == "--rcfile" || option == "--init-file"
		if !strings.HasPrefix(option, "--") {
			hasLine = hasLine || option[0] == '-' && strings.Contains(option, "c")
			reads = reads || option[0] == '-' && strings.Contains(option, "s")
			takes = strings.ContainsAny(option, "oO")
		}
		if takes && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	switch {
	case hasLine && len(args) > 0:
		r.line(positioned(args[0], args[1:]), depth+1)
	case !hasLine && (reads || len(args) == 0 || args[0] == "-" || isStdin(args[0])):
		for _, redir := range redirs {
			if text, ok := fed(redir); ok {
				r.line(text, depth+1)
			}
		}
	}
}

// positioned returns a line with the arguments of its shell, $0 first, in the place of $0 to $9, "$@"
// and $*, as a text: it is only looked at.
func positioned(line string, args []string) string {
	if len(args) == 0 || !strings.Contains(line, "$") {
		return line
	}
	all := Join(args[1:]...)
	pairs := []string{`"$@"`, all, `"$*"`, all, "$@", all, "$*", all}
	for i, arg := range args[:min(len(args), 10)] {
		name := "$" + string(rune('0'+i))
		pairs = append(pairs, `"`+name+`"`, Join(arg), name, Join(strings.Fields(arg)...))
	}
	return strings.NewReplacer(pairs...).Replace(line)
}

// fed returns the text of a here-document or a here-string.
func fed(r *syntax.Redirect) (text string, ok bool) {
	switch {
	case r.Op == syntax.WordHdoc && r.Word != nil:
		return shown(r.Word), true
	case r.Op == syntax.RdrIn:
		return substituted(r.Word)
	case r.Hdoc == nil:
		return "", false
	}
	if _, literal := onlyPart(r.Hdoc).(*syntax.Lit); literal {
		return r.Hdoc.Lit(), true
	}
	return shown(r.Hdoc), true
}

// wrapper describes how a program that runs another one is called.
type wrapper struct {
	values  string // its options of one letter whose value may be the next word
	long    string // the same, of several letters
	line    string // the option whose value is a line for a shell, or split like one
	skip    int    // its arguments before the command
	assigns bool   // NAME=VALUE may stand before the command
	tells   string // options with which it runs nothing
}

// runners has the programs that run the command in their arguments. It is a function because a
// package variable would be filled at each start of a hook.
func runners() map[string]wrapper {
	return map[string]wrapper{
		"env":     {values: "uCSa", long: "--unset --chdir --split-string --argv0", line: "-S --split-string", assigns: true},
		"command": {tells: "vV"}, "builtin": {}, "exec": {values: "a"}, "nohup": {}, "setsid": {}, "noglob": {}, "nocorrect": {}, "busybox": {},
		"toybox":  {},
		"nice":    {values: "n", long: "--adjustment"},
		"timeout": {values: "sk", long: "--signal --kill-after", skip: 1}, "gtimeout": {values: "sk", long: "--signal --kill-after", skip: 1},
		"time":   {values: "fo", long: "--format --output", assigns: true},
		"coproc": {},
		"sudo": {values: "ughpCDRrtTU",
			long: "--user --group --host --prompt --close-from --chdir --chroot --role --type --command-timeout --other-user", assigns: true,
			tells: "elv"},
		"doas":   {values: "uC"},
		"xargs":  {values: "adEILnPs", long: "--arg-file --delimiter --max-lines --max-args --max-procs --max-chars --replace"},
		"stdbuf": {values: "ioe", long: "--input --output --error"},
		"ionice": {values: "cn", long: "--class --classdata"}, "chrt": {skip: 1}, "taskset": {skip: 1}, "unbuffer": {},
		"caffeinate": {values: "tw"},
		"chroot":     {skip: 1}, "flock": {values: "wE", long: "--timeout --conflict-exit-code", line: "-c --command", skip: 1},
		"unshare": {values: "SGRw", long: "--setuid --setgid --root --wd"}, "setarch": {skip: 1}, "prlimit": {},
		"fakeroot": {values: "lsib"}, "chronic": {}, "pkexec": {long: "--user"},
		"systemd-run": {values: "pEMu", long: "--property --setenv --machine --unit --slice --uid --gid"},
		"parallel":    {values: "jnNa", long: "--jobs --arg-file"},
		"strace":      {values: "eopsPI"}, "ltrace": {values: "eopsI"},
	}
}

// behind returns the command in the arguments of the program, and the line that it gives to a
// shell.
func (w wrapper) behind(args []string) (command []string, line string) {
	skip, options := w.skip, true
	for len(args) > 0 {
		word := args[0]
		name, _, joined := strings.Cut(word, "=")
		switch {
		case options && word == "--":
			args, options = args[1:], false
		case options && word == "-": // of env, as -i
			args = args[1:]
		case options && len(word) > 1 && word[0] == '-':
			flags, option, value, takes := w.option(word)
			if strings.ContainsAny(flags, w.tells) {
				return nil, ""
			}
			args = args[1:]
			if takes && len(args) > 0 {
				value, args = args[0], args[1:]
			}
			if slices.Contains(strings.Fields(w.line), option) {
				line = value
			}
		case w.assigns && joined && syntax.ValidName(name):
			args = args[1:]
		case skip > 0:
			args, skip = args[1:], skip-1
		default:
			return args, line
		}
	}
	return nil, line
}

// option returns the letters of a word that are options without a value; its option with a value, as
// -S or --split-string, with that value if it is in the word; and whether the value is the next word.
func (w wrapper) option(word string) (flags, option, value string, takes bool) {
	if strings.HasPrefix(word, "--") {
		option, value, _ = strings.Cut(word, "=")
		return "", option, value, slices.Contains(strings.Fields(w.long+" "+w.line), word)
	}
	values := w.values
	if w.line != "" {
		values += w.line[1:2]
	}
	at := strings.IndexAny(word[1:], values) + 1
	if at == 0 {
		return word[1:], "", "", false
	}
	return word[1:at], "-" + word[at:at+1], word[at+1:], at == len(word)-1
}
