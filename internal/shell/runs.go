package shell

import (
	"errors"
	"path"
	"slices"
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
		if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			words := make([]string, len(call.Args))
			for i, arg := range call.Args {
				words[i] = shown(arg)
				computed = computed || strings.Contains(words[i], Unknown)
			}
			redirs := stmt.Redirs
			if fed := piped[stmt]; fed != nil {
				redirs = append(redirs[:len(redirs):len(redirs)], fed)
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

// printed returns the text that echo, printf or cat with a here-document prints, roughly: for
// printf it is the arguments, a line each.
func printed(s *syntax.Stmt) (text string, ok bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
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
		return strings.Join(words[1:], "\n"), true
	case "cat":
		for _, redir := range s.Redirs {
			if text, ok := fed(redir); ok {
				return text, true
			}
		}
	}
	return "", false
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
		if part.Dollar && strings.Contains(part.Value, `\`) {
			b.WriteString(Unknown)
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
	default:
		b.WriteString(Unknown)
	}
}

// command adds a command and what it runs. redirs are the redirections of its statement.
func (r *runner) command(words []string, redirs []*syntax.Redirect, depth int) {
	for len(words) > 0 && words[0] == "" { // a variable without a value
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
		if len(rest) > 0 {
			r.command(rest, redirs, depth)
		}
		return
	}
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish":
		r.shell(words[1:], redirs, depth)
	case ".", "source":
		if len(words) > 1 && words[1] == "/dev/stdin" {
			r.shell(nil, redirs, depth)
		}
	case "eval", "watch":
		r.line(strings.Join(withoutOptions(words[1:], name), " "), depth+1)
	case "su", "runuser", "script":
		r.switched(words, depth)
	case "trap":
		if len(words) > 2 && words[1] != "-" {
			r.line(words[1], depth+1)
		}
	case "find":
		r.executed(words, depth)
	}
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

// withoutOptions returns the words that watch joins to a line; eval has no options.
func withoutOptions(words []string, name string) []string {
	if name == "eval" {
		return words
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
		r.line(args[0], depth+1)
	case !hasLine && (reads || len(args) == 0 || args[0] == "-" || args[0] == "/dev/stdin"):
		for _, redir := range redirs {
			if text, ok := fed(redir); ok {
				r.line(text, depth+1)
			}
		}
	}
}

// fed returns the text of a here-document or a here-string.
func fed(r *syntax.Redirect) (text string, ok bool) {
	switch {
	case r.Op == syntax.WordHdoc && r.Word != nil:
		return shown(r.Word), true
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
		"env":     {values: "uCS", long: "--unset --chdir --split-string", line: "-S --split-string", assigns: true},
		"command": {tells: "vV"}, "builtin": {}, "exec": {values: "a"}, "nohup": {}, "setsid": {}, "noglob": {}, "nocorrect": {}, "busybox": {},
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
