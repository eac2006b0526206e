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
	r := &runner{variables: map[string][]string{"HOME": {home}}, functions: map[string][]string{}}
	r.line(line, nil, 0)
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
	functions map[string][]string // the bodies of the functions that the lines define
	args      []string            // $0, $1 and so on of the line that is looked at now; empty if they are not known
}

// input is where a statement reads from: what another one prints, or else its redirections, or else a text. Where these do not
// tell it, as of a cat in a group, it is outer.
type input struct {
	from   *syntax.Stmt
	redirs []*syntax.Redirect
	text   string
	outer  *input
}

// nodes returns what the text depends on.
func (in *input) nodes() (all []syntax.Node) {
	for ; in != nil; in = in.outer {
		if in.from != nil {
			all = append(all, in.from)
		}
		for _, redir := range in.redirs {
			all = append(all, redir)
		}
	}
	return all
}

// read returns the text of an input, empty if it is not known.
func (r *runner) read(in *input) string {
	for ; in != nil; in = in.outer {
		if in.from != nil {
			text, _ := r.printed(in.from, in.outer)
			return text
		}
		for _, redir := range slices.Backward(in.redirs) { // the last one holds
			if text, ok := r.fed(redir); ok {
				return text
			}
		}
		if in.text != "" {
			return in.text
		}
	}
	return ""
}

// spend adds to the work, and reports whether it is too much: the line is then refused like one that cannot be parsed.
func (r *runner) spend(work int) (over bool) {
	if r.work += work; r.work > maxWork {
		r.err = cmp.Or(r.err, errSyntax)
		return true
	}
	return false
}

// line adds the commands of a line that reads in. depth is how often it was handed on.
func (r *runner) line(line string, in *input, depth int) {
	if line == "" {
		return
	}
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
	type place struct{ reads, prints *input } // prints is what >(…) reads
	piped := map[*syntax.Stmt]*input{}
	places := []place{{reads: in}} // of each node that is being walked
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if n == nil {
			places = places[:len(places)-1]
			return true
		}
		at := places[len(places)-1]
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				piped[n.Y] = &input{from: n.X, outer: at.reads}
			}
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdOut {
				at.reads = at.prints
			}
		case *syntax.Stmt:
			at.reads = cmp.Or(piped[n], at.reads)
			if len(n.Redirs) > 0 {
				at.reads = &input{redirs: n.Redirs, outer: at.reads}
			}
			at.prints = &input{from: n, outer: at.reads}
			if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				r.call(call, at.reads, depth)
			}
		}
		places = append(places, at)
		return true
	})
}

// call adds a simple command, with each of the values that its variables may have.
func (r *runner) call(call *syntax.CallExpr, in *input, depth int) {
	defer func(outer map[string]string) { r.bound = outer }(r.bound)
	nodes, reads := []syntax.Node{call}, slices.ContainsFunc(call.Args, r.mayRunInput)
	if reads {
		nodes = append(nodes, in.nodes()...)
	}
	var before [][]string
	for _, r.bound = range r.bindings(r.bound, nodes...) {
		words, text := r.words(call.Args), ""
		if reads {
			text = r.read(in)
			r.spend(len(text) / 64)
			for _, arg := range call.Args[1:] {
				if script, ok := r.substituted(arg); ok {
					text += "\n" + script
				}
			}
		}
		if len(words) > 0 && isQuoted(call.Args[0]) && hasBlank(path.Base(words[0])) {
			continue // no program has such a name: it is a title, which a function shifts away
		}
		if all := append(slices.Clone(words), text); !slices.ContainsFunc(before, func(b []string) bool { return slices.Equal(b, all) }) {
			before = append(before, all)
			r.command(words, text, depth)
		}
	}
}

// isQuoted reports whether a word is in quotes, so that blanks do not split it.
func isQuoted(w *syntax.Word) bool {
	switch onlyPart(w).(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// words returns the words of a command. A file in the place of a script that <(…) prints is standard input.
func (r *runner) words(args []*syntax.Word) (words []string) {
	for _, arg := range args {
		if all, ok := r.arguments(arg); ok {
			words = append(words, all...)
			continue
		}
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

// mayRunInput reports whether a word of a command may be a program that runs what it reads, or a line with one.
func (r *runner) mayRunInput(w *syntax.Word) bool {
	text := r.shown(w)
	_, isFunction := r.functions[text]
	return isFunction || strings.Contains(text, "sh") || strings.Contains(text, Unknown) || runsScripts(text) || becomesShell(text) ||
		strings.HasSuffix(text, "xargs")
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

// printed returns the text that a statement prints that reads in: with echo or printf, or with cat or tee, which print
// what they read; roughly: for printf it is the arguments, a line each.
func (r *runner) printed(s *syntax.Stmt, in *input) (text string, ok bool) {
	if r.spend(1) {
		return "", false
	}
	if len(s.Redirs) > 0 {
		in = &input{redirs: s.Redirs, outer: in}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return r.printedBy(cmd, in)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			return r.printedByAll([]*syntax.Stmt{cmd.X, cmd.Y}, in)
		}
		return r.printed(cmd.Y, &input{from: cmd.X, outer: in})
	}
	return r.printedByAll(grouped(s.Cmd), in)
}

func (r *runner) printedByAll(all []*syntax.Stmt, in *input) (text string, ok bool) {
	var lines []string
	for _, s := range all {
		if line, ok := r.printed(s, in); ok && !r.spend(len(line)/4) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), len(lines) > 0
}

func (r *runner) printedBy(call *syntax.CallExpr, in *input) (text string, ok bool) {
	var words []string
	for _, word := range r.words(call.Args) {
		words = append(words, decoded(word))
	}
	for len(words) > 1 && (words[0] == "command" || words[0] == "builtin") {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", false
	}
	switch path.Base(words[0]) {
	case "echo":
		for words = words[1:]; len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == ""; {
			words = words[1:]
		}
		return strings.Join(words, " "), true
	case "printf":
		return formatted(words[1:]), true
	case "cat", "tee":
		text = r.read(in)
		return text, text != ""
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
	return r.printedByAll(from.Stmts, nil)
}

// runsScripts reports whether a program is a shell or runs a file in this one.
func runsScripts(program string) bool {
	return slices.Contains(strings.Fields("sh bash dash zsh ksh mksh ash rbash fish csh tcsh . source"), path.Base(program))
}

// becomesShell reports whether a program is a shell where it is given no command.
func becomesShell(program string) bool {
	return slices.Contains(strings.Fields("su sudo doas newgrp sg runuser chroot unshare nsenter setarch linux32 linux64 fakeroot script"),
		path.Base(program))
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
		if text, ok := r.printedByAll(part.Stmts, nil); ok && len(part.Stmts) == 1 {
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

// assigned matches A[0]=1 before a command, and what follows it there: only bash takes it for an assignment.
var assigned = expression{text: `^[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=`}

// command adds a command and what it runs. read is what it reads, as far as that is known.
func (r *runner) command(words []string, read string, depth int) {
	for len(words) > 0 && (words[0] == "" || words[0] == "--" || // a variable without a value; the end of time's options
		strings.Contains(words[0], "=") && assigned.in(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || r.spend(1+len(words)/8) {
		return
	}
	r.found = append(r.found, words)
	if words[0] == Unknown { // it may be nothing, as $SUDO often is
		r.command(words[1:], read, depth)
		return
	}
	in := &input{text: read}
	if bodies := r.functions[words[0]]; bodies != nil && depth < maxHanded {
		delete(r.functions, words[0]) // it may call itself
		for _, body := range bodies {
			if len(words) > 1 && strings.Contains(body, "$") || read != "" {
				r.withArguments(words, body, in, depth+1)
			}
		}
		r.functions[words[0]] = bodies
	}
	name := path.Base(words[0])
	w, ok := runners()[name]
	if !ok { // the GNU programs on macOS, as gtimeout
		w, ok = runners()[strings.TrimPrefix(name, "g")]
	}
	if ok {
		rest, line := w.behind(words[1:])
		for _, word := range words[1 : len(words)-len(rest)] {
			if name, value, ok := strings.Cut(word, "="); ok && w.assigns && syntax.ValidName(name) {
				r.add(name, value)
			}
		}
		if line != "" && name == "env" { // it splits the line into words, and the others follow them
			rest, line = nil, line+" "+Join(rest...)
		}
		if line != "" {
			r.line(line, in, depth+1)
		}
		if strings.HasSuffix(name, "xargs") && len(rest) > 0 {
			rest = r.fedTo(rest, words[1:len(words)-len(rest)], read, depth)
		}
		if name == "setarch" && len(rest) > 1 { // the architecture may be left out
			behind, _ := w.behind(rest[1:])
			r.command(behind, read, depth)
		}
		if len(rest) > 0 {
			r.command(rest, read, depth)
		} else if line == "" && becomesShell(name) {
			r.line(read, nil, depth+1)
		}
		return
	}
	switch name {
	case ".", "source":
		if len(words) > 1 && isStdin(words[1]) {
			r.line(read, nil, depth+1)
		}
	case "eval", "watch":
		r.line(strings.Join(withoutOptions(words[1:], name), " "), in, depth+1)
	case "su", "runuser", "script", "sg", "newgrp":
		r.switched(words, read, depth)
	case "trap":
		if words = behindDashes(words); len(words) > 2 && words[1] != "-" {
			r.line(words[1], in, depth+1)
		}
	case "find":
		r.executed(words, read, depth)
	default:
		if runsScripts(name) {
			r.shell(words[1:], read, depth)
		}
	}
}

// fedTo adds what xargs runs with what it reads, and returns it with all of that behind it.
func (r *runner) fedTo(command, options []string, read string, depth int) []string {
	if read == "" || r.spend(len(read)/16) {
		return command
	}
	all := replaced(options, command, read)
	for _, words := range all {
		r.command(words, "", depth)
	}
	if all != nil {
		return command
	}
	if lines := strings.FieldsFunc(read, func(c rune) bool { return c == '\n' || c == 0 }); slices.ContainsFunc(lines, hasBlank) {
		r.command(slices.Concat(command, lines), "", depth) // as with -0 and -d
	}
	return append(slices.Clip(command), strings.Fields(read)...)
}

func hasBlank(text string) bool { return strings.Contains(text, " ") }

// isStdin reports whether a file is standard input.
func isStdin(name string) bool {
	return slices.Contains([]string{stdin, "/dev/fd/0", "/proc/self/fd/0"}, name)
}

// switched adds what su, runuser, sg and script run: the line behind -c or, of sg, behind the group; of runuser, the
// command behind --; else what the shell reads.
func (r *runner) switched(words []string, read string, depth int) {
	in, found := &input{text: read}, false
	for i, word := range words {
		line, joined := strings.CutPrefix(word, "--command=")
		if !joined {
			line, joined = strings.CutPrefix(word, "-c")
			joined = joined && line != ""
		}
		switch {
		case joined:
			r.line(line, in, depth+1)
		case i+1 == len(words):
			continue
		case word == "-u" && words[0] == "runuser" && i+2 < len(words) && words[i+2] != "--":
			r.command(words[i+2:], read, depth)
		case word == "--command", len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, "c"):
			r.line(words[i+1], in, depth+1)
		case word == "--":
			r.command(words[i+1:], read, depth)
		default:
			continue
		}
		found = true
	}
	switch {
	case found:
	case len(words) > 2 && path.Base(words[0]) == "sg":
		r.line(words[2], in, depth+1)
	default:
		r.line(read, nil, depth+1)
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
func (r *runner) executed(words []string, read string, depth int) {
	for i, word := range words {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, word) {
			continue
		}
		rest := words[i+1:]
		if end := slices.IndexFunc(rest, func(w string) bool { return w == ";" || w == "+" }); end >= 0 {
			rest = rest[:end]
		}
		if len(rest) > 0 {
			r.command(rest, read, depth)
		}
	}
}

// shell adds the commands that a shell is given: the line behind -c, or else, unless it runs a
// file, what it reads.
func (r *runner) shell(args []string, read string, depth int) {
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
		r.withArguments(args[1:], args[0], &input{text: read}, depth+1)
	case !hasLine && reads:
		r.withArguments(append([]string{""}, args...), read, nil, depth+1)
	case !hasLine && (len(args) == 0 || args[0] == "-" || isStdin(args[0])):
		r.line(read, nil, depth+1)
	}
}

// withArguments adds the commands of a line with its arguments, $0 first; also with fewer of them if it shifts them away.
func (r *runner) withArguments(args []string, line string, in *input, depth int) {
	defer func(outer []string) { r.args = outer }(r.args)
	r.args = args
	r.line(line, in, depth)
	for len(r.args) > 2 && strings.Contains(line, "shift") {
		r.args = slices.Delete(slices.Clone(r.args), 1, 2)
		r.line(line, in, depth)
	}
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
		"unshare": {values: "SGRw", long: "--setuid --setgid --root --wd"}, "setarch": {}, "linux32": {}, "linux64": {}, "i386": {}, "x86_64": {},
		"prlimit": {}, "nsenter": {values: "tSG", long: "--target --setuid --setgid"}, "choom": {values: "n", long: "--adjust"},
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
