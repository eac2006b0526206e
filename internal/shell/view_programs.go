package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// programs returns the commands of a line that is one plain command, as they are written, and
// those in its substitutions. ok is false if the name of a program is not sure.
func programs(s Script) (commands []string, ok bool) {
	p := programReader{line: s.line}
	ok = p.one(s.file.Stmts)
	return p.commands, ok
}

type programReader struct {
	line     string
	commands []string
}

// one reads statements that must be one plain command.
func (p *programReader) one(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 || stmts[0].Negated || len(stmts[0].Redirs) > 0 {
		return false
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return false
	}
	name, ok := onlyPart(call.Args[0]).(*syntax.Lit)
	if !ok || !programName.in(name.Value) || isWrapper(name.Value) {
		return false
	}
	at := len(p.commands)
	p.commands = append(p.commands, "")
	var words []string
	for _, arg := range call.Args {
		text, ok := p.word(arg)
		if !ok {
			return false
		}
		words = append(words, text)
	}
	p.commands[at] = strings.Join(words, " ")
	return true
}

var programName = expression{text: `^[\w./+-]+$`}

func (p *programReader) word(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		text, ok := p.part(part, len(w.Parts) == 1)
		if !ok {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

func (p *programReader) part(part syntax.WordPart, alone bool) (string, bool) {
	text := p.line[part.Pos().Offset():part.End().Offset()]
	switch part := part.(type) {
	case *syntax.Lit:
		return text, !strings.Contains(text, `\`)
	case *syntax.ParamExp:
		return text, part.Short && alone
	case *syntax.CmdSubst:
		return text, p.one(part.Stmts)
	case *syntax.ProcSubst:
		return text, p.one(part.Stmts)
	case *syntax.DblQuoted:
		return p.quoted(part)
	}
	return "", false
}

func (p *programReader) quoted(q *syntax.DblQuoted) (string, bool) {
	if q.Dollar {
		return "", false
	}
	var b strings.Builder
	for _, part := range q.Parts {
		text := p.line[part.Pos().Offset():part.End().Offset()]
		switch part := part.(type) {
		case *syntax.Lit:
		case *syntax.CmdSubst:
			if !p.one(part.Stmts) {
				return "", false
			}
		default:
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// isWrapper reports whether a program runs others that its arguments name.
func isWrapper(name string) bool {
	base := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	return slices.Contains(wrappers(), base) || slices.Contains(wrappers(), strings.TrimRight(base, "0123456789."))
}

func wrappers() []string {
	return strings.Fields(`watch ionice chrt setsid taskset strace ltrace script flock unshare nsenter sandbox-exec
		eval source . exec nocorrect fc coproc trap enable mapfile readarray hash bind complete compgen alias let
		test [ [[ printf read unset wait declare typeset local export readonly print getopts set zparseopts zformat zstyle
		strftime pcre_match zstat zselect zgetattr zlistattr ztie zuntie syserror zsystem zftp zcurses autoload shift exit return break
		continue bye logout vared private getln zregexparse float integer zmodload emulate sysopen sysread syswrite sysseek zpty ztcp
		zsocket zf_rm zf_mv zf_ln zf_chmod zf_chown zf_mkdir zf_rmdir zf_chgrp repeat foreach zcompile setopt unsetopt disable shopt
		functions find jobs setpriv setarch linux32 linux64 arch xargs parallel
		bash sh zsh dash ksh mksh ash hush rbash busybox toybox wsl su runuser fish csh tcsh rsh cmd powershell pwsh
		time command builtin noglob env nice nohup sudo doas stdbuf timeout pkexec chroot
		python python2 python3 perl ruby node nodejs deno bun php lua awk gawk mawk nawk valgrind unbuffer rlwrap fakeroot fakechroot
		proot firejail caffeinate taskpolicy systemd-run expect socat screen tmux`)
}
