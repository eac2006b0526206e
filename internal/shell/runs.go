package shell

import (
	"cmp"
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
	r := &runner{variables: map[string][]string{"HOME": {home}}, functions: map[string]string{},
		feeds: map[*syntax.Stmt]feed{}}
	r.line(line, 0)
	return r.found, r.err
}

// maxHanded is how often a line may be handed on to another shell.
const maxHanded = 5

// maxNested is how deep substitutions and groups may be nested: what each prints is looked at in all around it.
const maxNested = 20

// maxWork is how much is looked at: words, and commands with each value that their variables may have.
const maxWork = 100_000

type runner struct {
	found [][]string
	err   error
	work  int

	variables map[string][]string // the values that the lines give to them
	bound     map[string]string   // those of the variables that are looked at now
	functions map[string]string   // the bodies of the functions that the lines define
	feeds     map[*syntax.Stmt]feed
}

// feed is what a statement prints, if that is known; with variables of which the lines set one or more.
type feed struct {
	text    string
	known   bool
	varying bool
}

// spend adds to the work, and reports whether it is too much: the line is then refused like one that cannot be parsed.
func (r *runner) spend(work int) (over bool) {
	if r.work += work; r.work > maxWork {
		r.err = cmp.Or(r.err, errSyntax)
		return true
	}
	return false
}

// line adds the commands of a line. depth is how often it was handed on.
func (r *runner) line(line string, depth int) {
	if depth > maxHanded {
		r.err = cmp.Or(r.err, errSyntax)
		return
	}
	if r.spend(len(line) / 4) {
		return
	}
	s, err := parseAny(line)
	if err == nil && nesting(s.file) > maxNested {
		err = errSyntax
	}
	if err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	r.learn(s)
	piped := map[*syntax.Stmt]*syntax.Stmt{}
	froms := []*syntax.Stmt{nil} // for each node that is being walked, the statement that it reads from
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if n == nil {
			froms = froms[:len(froms)-1]
			return true
		}
		from := froms[len(froms)-1]
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				piped[n.Y] = n.X
			}
		case *syntax.Stmt:
			from = cmp.Or(piped[n], from)
			if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				r.call(call, n.Redirs, from, depth)
			}
		}
		froms = append(froms, from)
		return true
	})
}

// call adds a simple command, with each of the values that its variables may have. from is the statement whose output
// it reads, or nil.
func (r *runner) call(call *syntax.CallExpr, redirs []*syntax.Redirect, from *syntax.Stmt, depth int) {
	defer func(outer map[string]string) { r.bound = outer }(r.bound)
	if from != nil && (!slices.ContainsFunc(call.Args, r.mayRunInput) || !r.feed(from).known) {
		from = nil
	}
	nodes := []syntax.Node{&syntax.Stmt{Cmd: call, Redirs: redirs}}
	if from != nil && r.feed(from).varying {
		nodes = append(nodes, from)
	}
	var before [][]string
	for _, r.bound = range r.bindings(r.bound, nodes...) {
		words, fed := r.words(call.Args), slices.Clip(redirs)
		for i, arg := range call.Args {
			if script, ok := r.substituted(arg); ok && i > 0 {
				fed = append(fed, hereString(script))
			}
		}
		if from != nil {
			text := r.feed(from).text
			if len(nodes) > 1 {
				text, _ = r.printed(from)
			}
			fed = append(fed, hereString(text))
		}
		if from != nil || !slices.ContainsFunc(before, func(b []string) bool { return slices.Equal(b, words) }) {
			before = append(before, slices.Clone(words))
			r.command(words, fed, depth)
		}
	}
}

// words returns the words of a command. A file in the place of a script that <(…) prints is standard input.
func (r *runner) words(args []*syntax.Word) (words []string) {
	for _, arg := range args {
		text := r.shown(arg)
		if _, ok := r.substituted(arg); ok && slices.ContainsFunc(words, runsScripts) {
			text = stdin
		}
		switch onlyPart(arg).(type) {
		case *syntax.CmdSubst, *syntax.ParamExp:
			words = append(words, strings.Fields(text)...)
		default:
			words = append(words, text)
		}
	}
	return words
}

// mayRunInput reports whether a word of a command may be a program that runs what it reads.
func (r *runner) mayRunInput(w *syntax.Word) bool {
	text := r.shown(w)
	return runsScripts(text) || strings.HasSuffix(text, "xargs") || strings.Contains(text, Unknown)
}

// feed returns what a statement prints.
func (r *runner) feed(from *syntax.Stmt) feed {
	if known, ok := r.feeds[from]; ok {
		return known
	}
	var f feed
	if f.text, f.known = r.printed(from); f.known {
		f.varying = len(r.bindings(nil, from)) > 1
	}
	r.feeds[from] = f
	return f
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
func (r *runner) printed(s *syntax.Stmt) (text string, ok bool) {
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return r.printedBy(cmd, s.Redirs)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			return r.printedByAll([]*syntax.Stmt{cmd.X, cmd.Y})
		}
		if by, isCall := cmd.Y.Cmd.(*syntax.CallExpr); isCall && len(by.Args) > 0 {
			if name := path.Base(r.shown(by.Args[0])); name == "tee" || name == "cat" && len(by.Args) == 1 {
				return r.printed(cmd.X)
			}
		}
	}
	return r.printedByAll(grouped(s.Cmd))
}

func (r *runner) printedByAll(all []*syntax.Stmt) (text string, ok bool) {
	var lines []string
	for _, s := range all {
		if line, ok := r.printed(s); ok {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), len(lines) > 0
}

func (r *runner) printedBy(call *syntax.CallExpr, redirs []*syntax.Redirect) (text string, ok bool) {
	if len(call.Args) == 0 {
		return "", false
	}
	var words []string
	for _, arg := range call.Args {
		words = append(words, decoded(r.shown(arg)))
	}
	for len(words) > 1 && (words[0] == "command" || words[0] == "builtin") {
		words = words[1:]
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
			if text, ok := r.fed(redir); ok {
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
func (r *runner) substituted(w *syntax.Word) (text string, ok bool) {
	from, ok := onlyPart(w).(*syntax.ProcSubst)
	if !ok || from.Op != syntax.CmdIn {
		return "", false
	}
	return r.printedByAll(from.Stmts)
}

// runsScripts reports whether a program is a shell or runs a file in this one.
func runsScripts(program string) bool {
	return slices.Contains(strings.Fields("sh bash dash zsh ksh mksh ash rbash fish csh tcsh . source"), path.Base(program))
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
func (r *runner) shown(w *syntax.Word) string {
	if r.spend(1) {
		return Unknown
	}
	var b strings.Builder
	for _, part := range w.Parts {
		r.showPart(&b, part)
	}
	return b.String()
}

func (r *runner) showPart(b *strings.Builder, part syntax.WordPart) {
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
			r.showPart(b, inner)
		}
	case *syntax.CmdSubst:
		if text, ok := r.printedByAll(part.Stmts); ok && len(part.Stmts) == 1 {
			b.WriteString(strings.TrimRight(text, "\n"))
			return
		}
		b.WriteString(Unknown)
	case *syntax.ParamExp:
		b.WriteString(r.value(part))
	default:
		b.WriteString(Unknown)
	}
}

// decoded returns a text with its escapes, as in $'…', in their meaning. Of others it drops the backslash.
func decoded(text string) string {
	var b strings.Builder
	for text != "" {
		c, wide, rest, err := strconv.UnquoteChar(text, 0)
		switch {
		case strings.HasPrefix(text, `\0`) && err != nil:
			b.WriteByte(0)
			rest = text[2:]
		case err != nil && len(text) > 1 && text[0] == '\\':
			b.WriteByte(text[1])
			rest = text[2:]
		case err != nil:
			b.WriteByte(text[0])
			rest = text[1:]
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
	if len(words) == 0 || r.spend(1) {
		return
	}
	r.found = append(r.found, words)
	if words[0] == Unknown { // it may be nothing, as $SUDO often is
		r.command(slices.Clone(words[1:]), redirs, depth)
		return
	}
	if body, ok := r.functions[words[0]]; ok && len(words) > 1 && strings.Contains(body, "$") && depth < maxHanded {
		delete(r.functions, words[0]) // it may call itself
		r.line(positioned(body, words), depth+1)
		r.functions[words[0]] = body
	}
	name := path.Base(words[0])
	w, ok := runners()[name]
	if !ok { // the GNU programs on macOS, as gtimeout
		w, ok = runners()[strings.TrimPrefix(name, "g")]
	}
	if ok {
		rest, line := w.behind(words[1:])
		if line != "" && name == "env" { // it splits the line into words, and the others follow them
			rest, line = nil, line+" "+Join(rest...)
		}
		if line != "" {
			r.line(line, depth+1)
		}
		if strings.HasSuffix(name, "xargs") && len(rest) > 0 {
			rest = r.fedTo(rest, words[1:len(words)-len(rest)], redirs, depth)
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

// fedTo adds what xargs runs with what it reads, and returns it with all of that behind it.
func (r *runner) fedTo(command, options []string, redirs []*syntax.Redirect, depth int) []string {
	for _, redir := range redirs {
		text, _ := r.fed(redir)
		all := replaced(options, command, text)
		for _, words := range all {
			r.command(words, nil, depth)
		}
		if all == nil {
			if lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == 0 }); slices.ContainsFunc(lines, hasBlank) {
				r.command(slices.Concat(command, lines), nil, depth) // as with -0 and -d
			}
			command = append(slices.Clip(command), strings.Fields(text)...)
		}
	}
	return command
}

func hasBlank(text string) bool { return strings.Contains(text, " ") }

// isStdin reports whether a file is standard input.
func isStdin(name string) bool {
	return slices.Contains([]string{stdin, "/dev/fd/0", "/proc/self/fd/0"}, name)
}

// switched adds what su, runuser and script run: the line behind -c, or, of runuser, the command
// behind --.
func (r *runner) switched(words []string, depth int) {
	for i, word := range words {
		line, joined := strings.CutPrefix(word, "--command=")
		if !joined {
			line, joined = strings.CutPrefix(word, "-c")
			joined = joined && line != ""
		}
		switch {
		case joined:
			r.line(line, depth+1)
		case i+1 == len(words):
		case word == "-u" && words[0] == "runuser" && i+2 < len(words) && words[i+2] != "--":
			r.command(slices.Clone(words[i+2:]), nil, depth)
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
	rest, _ := wrapper{values: "nq", long: "--interval --equexit"}.behind(words)
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
			if text, ok := r.fed(redir); ok {
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
func (r *runner) fed(from *syntax.Redirect) (text string, ok bool) {
	switch {
	case from.Op == syntax.WordHdoc && from.Word != nil:
		return r.shown(from.Word), true
	case from.Op == syntax.RdrIn:
		return r.substituted(from.Word)
	case from.Hdoc == nil:
		return "", false
	}
	if _, literal := onlyPart(from.Hdoc).(*syntax.Lit); literal {
		return from.Hdoc.Lit(), true
	}
	return r.shown(from.Hdoc), true
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
		"timeout": {values: "sk", long: "--signal --kill-after", skip: 1},
		"time":    {values: "fo", long: "--format --output", assigns: true},
		"coproc":  {},
		"sudo": {values: "ughpCDRrtTU",
			long: "--user --group --host --prompt --close-from --chdir --chroot --role --type --command-timeout --other-user", assigns: true,
			tells: "elv"},
		"doas":   {values: "uC"},
		"xargs":  {values: "adEILnPs", long: "--arg-file --delimiter --max-lines --max-args --max-procs --max-chars --replace"},
		"stdbuf": {values: "ioe", long: "--input --output --error"},
		"ionice": {values: "cn", long: "--class --classdata"}, "chrt": {values: "TPD", skip: 1}, "taskset": {skip: 1}, "unbuffer": {},
		"caffeinate": {values: "tw"},
		"chroot":     {skip: 1}, "flock": {values: "wE", long: "--timeout --conflict-exit-code", line: "-c --command", skip: 1},
		"unshare": {values: "SGRw", long: "--setuid --setgid --root --wd"}, "setarch": {skip: 1}, "linux32": {}, "linux64": {}, "prlimit": {},
		"fakeroot": {values: "lsib"}, "chronic": {}, "pkexec": {long: "--user"},
		"systemd-run":      {values: "pEMu", long: "--property --setenv --machine --unit --slice --uid --gid --description --working-directory"},
		"dbus-run-session": {}, "ssh-agent": {values: "atEP"}, "xvfb-run": {values: "efnsp"},
		"setpriv":  {long: "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits"},
		"parallel": {values: "jnNa", long: "--jobs --arg-file"},
		"strace":   {values: "eopsPIEuaSOX", long: "--output --trace --env --user"}, "ltrace": {values: "eopsI"},
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
