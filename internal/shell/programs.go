package shell

import "strings"

// These lists are functions because package variables would be filled at each start of a hook.

// shells are the programs that run a line, or what they read.
func shells() []string { return strings.Fields("sh bash dash zsh ksh mksh ash fish csh tcsh") }

// interpreters are the programs that run a file, or a text in a language.
func interpreters() []string {
	return append(shells(), strings.Fields("source . python python3 node perl ruby php lua")...)
}

// builtins are words that a shell runs itself.
func builtins() []string {
	return strings.Fields(`. : [ alias bg break builtin cd command continue declare dirs echo enable eval exec exit export false fc fg getopts
		hash jobs kill let local mapfile popd printf pushd pwd read readonly return set shift shopt source test times trap true type typeset
		ulimit umask unalias unset wait`)
}

// runners are programs whose first words may be another command.
func runners() []string {
	return strings.Fields("env command builtin exec sudo doas nohup nice stdbuf time timeout setsid xargs")
}

// writers are the programs that write texts which they are given, so that others may run these.
func writers() []string {
	return strings.Fields("echo printf print cat tac yes rev base64 tr sed awk xxd od tee which type")
}

// readers are further programs that run none of their words.
func readers() []string {
	return strings.Fields(`: [ true false test ls cd pwd pushd popd head tail wc sort uniq cut grep egrep fgrep rg diff cmp comm mkdir rmdir
		rm touch chmod chown stat file du df date sleep jq yq curl basename dirname realpath readlink sha256sum md5sum paste nl seq fsmtx`)
}

// harmlessIn are the commands of git and gh that run none of their words.
func harmlessIn(program string) []string {
	if program == "gh" {
		return strings.Fields("pr issue release run repo search")
	}
	return strings.Fields(`add blame branch checkout cherry-pick clean clone commit describe diff fetch grep init log ls-files merge mv notes
		pull reflog remote reset restore rev-list rev-parse revert rm shortlog show stash status switch tag worktree`)
}
