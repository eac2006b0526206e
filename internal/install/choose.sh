#!/bin/sh
# Starts the fsmtx for this platform, which is in a directory beside this file.
# "fsmtx plugin" wrote this file, and replaces it.
case $0 in
*/*) here=${0%/*} ;;
*) here=. ;;
esac
system=$(uname -sm) program=fsmtx
case $system in
'Linux x86_64') platform=linux-amd64 ;;
'Linux aarch64' | 'Linux arm64') platform=linux-arm64 ;;
'Darwin x86_64') platform=darwin-amd64 ;;
'Darwin arm64') platform=darwin-arm64 ;;
MINGW* | MSYS* | CYGWIN*) platform=. program=fsmtx.exe ;; # a shell of Git for Windows
*) platform=none ;;
esac
program=$here/$platform/$program
absent() {
	case "$1 $2" in
	'hook '* | 'hydrate '* | 'guard H'* | 'guard skill-files')
		# As a hook: some agents refuse every call whose hook fails.
		if [ ! -t 0 ]; then
			# In a session with a workflow the call of a step is refused, as where this file is missing.
			case $(cat) in
			*'"hook_event_name":"SessionStart"'*)
				@report@
				;;
			*'"hook_event_name":"Stop"'*)
				@tell@
				;;
			*'"hook_event_name":"PreToolUse"'*'"tool_name":"TaskUpdate"'* | *'"hook_event_name":"PreToolUse"'*'__step_'*)
				@refuse@
				;;
			esac
			exit 0
		fi
		;;
	esac
	echo "fsmtx: there is no program for $system in $here" >&2
	echo "hint: the author of the plugin can add it with fsmtx plugin --force --platforms all" >&2
	exit 1
}
trap 'absent "$@"' 0 # also if exec fails
shopt -s execfail 2>/dev/null
test ! -x "$program" -o ! -s "$program" || exec "$program" "$@"
